"""dvc.yaml follows `rl.stages`: any number of stages under any names, and an error where it does not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from compass.errors import WrongName
from compass.runs.dvc_files import Graph
from compass.settings import Settings, SettingsError, load_settings
from flows.run import RunRequest, check_request
from flows.run import run as run_pipeline
from flows.status import read_status
from stages._deps import fit_graph, graph, is_committed, main, write_deps
from stages._rl_entries import check_names, named_deps, rl_names, start_deps, write_entries
from tests.conftest import changed_profile, fitted_graph

ROOT = Path(__file__).resolve().parents[2]

TEXT = """\
# a comment
stages:
  grade:
    cmd: python -m stages.grade
    deps:
      - models/base
    outs: [data/grade]

  rl-1:
    cmd: python -m stages.rl rl-1
    deps:
      - models/base
    outs: [models/rl-1, data/rl-1]

  rl-2:
    cmd: python -m stages.rl rl-2
    deps:
      - models/rl-1
    outs: [models/rl-2, data/rl-2]

  evaluate:
    cmd: python -m stages.evaluate
    deps:
      - data/rl-10
      - models/base
      - models/rl-1
      - models/rl-2
    outs: [data/evaluate]
    metrics:
      - metrics/rl-1.json
      - metrics/rl-2.json

plots:
  - reward:
      y:
        data/rl-1/steps.csv: sampled/reward
        data/rl-2/steps.csv: sampled/reward
  - the same again:
      y:
        data/rl-1/steps.csv: sampled/reward
        data/rl-2/steps.csv: sampled/reward
"""


def starts(*names: str) -> dict[str, str]:
    """Stages that start from the base or an earlier stage."""
    return {name: f"models/${{rl.stages.{name}.init_from}}" for name in names}


def test_entries_and_plots_are_those_of_the_names_and_all_else_stays() -> None:
    written = yaml.safe_load(write_entries(TEXT, starts("warm", "mid", "hard")))
    before = yaml.safe_load(TEXT)
    assert list(written["stages"]) == ["grade", "warm", "mid", "hard", "evaluate"]
    assert written["stages"]["grade"] == before["stages"]["grade"]
    evaluate = written["stages"]["evaluate"]
    assert evaluate["deps"] == ["data/rl-10", "models/base", "models/warm", "models/mid", "models/hard"]
    assert evaluate["metrics"] == ["metrics/warm.json", "metrics/mid.json", "metrics/hard.json"]
    curves = {f"data/{name}/steps.csv": "sampled/reward" for name in ("warm", "mid", "hard")}
    assert written["plots"] == [{"reward": {"y": curves}}, {"the same again": {"y": curves}}]
    once = write_entries(TEXT, starts("warm"))
    assert once.startswith("# a comment\nstages:\n  grade:\n")
    assert write_entries(once, starts("warm")) == once
    assert rl_names(yaml.safe_load(once)["stages"]) == ["warm"]


def test_an_entry_reads_the_shared_recipe_and_its_own_section() -> None:
    groups = "data rollout reward advantage loss optimizer lora checkpoint resources guards record verl"
    assert yaml.safe_load(write_entries(TEXT, starts("warm")))["stages"]["warm"] == {
        "cmd": "python -m stages.rl warm",
        "deps": ["data/curriculum", "models/${rl.stages.warm.init_from}"],
        "params": ["seed", *(f"rl.{name}" for name in groups.split()), "rl.stages.warm"],
        "outs": ["models/warm", "data/warm", "metrics/warm.json"],
    }


def test_names_that_differ_are_told_with_what_to_run(tmp_path: Path) -> None:
    settings = load_settings(ROOT / "profiles/tiny.yaml")
    check_names(settings, tmp_path / "dvc.yaml")  # there is none
    check_names(settings, ROOT / "dvc.yaml")
    (tmp_path / "dvc.yaml").write_text(write_entries(TEXT, starts("rl-3", "rl-1", "rl-2")))
    check_names(settings, tmp_path / "dvc.yaml")  # the order is the parameters' affair
    (tmp_path / "dvc.yaml").write_text(TEXT)
    with pytest.raises(
        SettingsError,
        match=r"has the RL stages rl-1, rl-2, `rl\.stages` in params\.yaml has rl-1, rl-2, rl-3; run `make deps`",
    ):
        check_names(settings, tmp_path / "dvc.yaml")


@pytest.mark.parametrize(
    ("given", "dep"),
    [
        ({"init_from": "other/model"}, "${rl.stages.rl-1.init_from}"),
        ({"init_from": "/data/model.gguf"}, "${rl.stages.rl-1.init_from}"),
        ({"init_from": "owner/model", "revision": "0123abcd" * 5}, ""),
        ({"init_from": "$MODELS/one"}, ""),
        ({"init_from": "base"}, "models/${rl.stages.rl-1.init_from}"),
    ],
)
def test_a_model_from_elsewhere_is_a_dependency_where_its_content_can_be_followed(
    tmp_path: Path, given: dict[str, str], dep: str
) -> None:
    settings = Settings.model_validate(changed_profile("tiny", {"rl.stages.rl-1": {**given, "steps": 5}}))
    deps = start_deps(settings)
    assert deps == {**starts("rl-1", "rl-2", "rl-3"), "rl-1": dep}
    entry = yaml.safe_load(write_entries(TEXT, deps))["stages"]["rl-1"]
    assert entry["deps"] == ["data/curriculum", *([dep] if dep else [])]
    (tmp_path / "dvc.yaml").write_text(write_entries(TEXT, deps))
    check_names(settings, tmp_path / "dvc.yaml")
    other = {**deps, "rl-1": "" if dep else "models/${rl.stages.rl-1.init_from}"}
    (tmp_path / "dvc.yaml").write_text(write_entries(TEXT, other))
    with pytest.raises(SettingsError, match=r"rl-1 depends on .*`rl\.stages\.rl-1\.init_from` .* run `make deps`"):
        check_names(settings, tmp_path / "dvc.yaml")


OWN = {"name": "mine", "problem_field": "question", "answer_field": "answer"}
MODEL = {"base.pretrain": None}


@pytest.mark.parametrize(
    ("given", "stage", "named"),
    [
        ({"collect.sources.0": {**OWN, "path": "mine/a.csv"}}, "collect", {"${collect.sources.0.path}": "mine/a.csv"}),
        ({"collect.benchmarks.1.path": "/data/b"}, "collect", {"${collect.benchmarks.1.path}": "/data/b"}),
        ({"collect.sources.0": {**OWN, "path": "$COMPASS_DATA/a.csv"}}, "collect", {}),
        ({"collect.sources.0": {**OWN, "path": "s3://here/a.csv"}}, "collect", {}),
        ({"collect.sources.0": {**OWN, "path": "~/a.csv"}}, "collect", {}),
        ({"collect.skip_unreadable": True, "collect.sources.0": {**OWN, "path": "mine/gone.csv"}}, "collect", {}),
        ({"collect.sources.0": {**OWN, "hub": "owner/rows", "revision": "0123abc"}}, "collect", {}),
        ({"dedup.semantic.model": "models/mini"}, "dedup", {"${dedup.semantic.model}": "models/mini"}),
        ({**MODEL, "base.model": "/data/sft"}, "base", {"${base.model}": "/data/sft"}),
        ({**MODEL, "base.model": "owner/model", "base.revision": "0123abcd" * 5}, "base", {}),
        ({**MODEL, "base.model": "$COMPASS_MODEL"}, "base", {}),
        ({"grade.model": "/data/grader"}, "grade", {"${grade.model}": "/data/grader"}),
        ({"grade.model": "owner/model", "grade.revision": "0123abcd" * 5}, "grade", {}),
        ({"grade.model": "models/base"}, "grade", {}),
    ],
)
def test_a_local_file_that_a_parameter_names_is_a_dependency(
    tmp_path: Path, given: dict[str, object], stage: str, named: dict[str, str]
) -> None:
    shipped = Settings.model_validate(changed_profile("tiny", {}))
    ours = Settings.model_validate(changed_profile("tiny", given))
    assert named_deps(ours)[stage] == named
    (tmp_path / "stages").mkdir()
    (tmp_path / f"stages/{stage}.py").write_text("# a stage that imports nothing")
    deps = "    deps:\n      - mine/listed\n"
    alone = f"stages:\n  {stage}:\n    cmd: python -m stages.{stage}\n{deps}    params: [{stage}]\n"
    written = write_deps(alone, tmp_path, ours)
    assert yaml.safe_load(written)["stages"][stage]["deps"] == [*named, "mine/listed", f"stages/{stage}.py"]
    assert write_deps(written, tmp_path, shipped) == write_deps(alone, tmp_path, shipped)
    (tmp_path / "dvc.yaml").write_text(fitted_graph(ours, tmp_path))
    check_names(ours, tmp_path / "dvc.yaml")
    for key, path in named.items():
        key = key.strip("${}")
        with pytest.raises(
            SettingsError, match=rf"does not say that {stage} depends on {path}, which `{key}` names; run"
        ):
            check_names(ours, ROOT / "dvc.yaml")
        with pytest.raises(SettingsError, match=rf"{stage} depends on .*`{key}` in params\.yaml names no file .*; run"):
            check_names(shipped, tmp_path / "dvc.yaml")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of the code and the graph, with two stages of other names in params.yaml."""
    for name in ("compass", "stages"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    stages = {"warm": {"init_from": "base", "steps": 5}, "hard": {"init_from": "warm", "steps": 7}}
    mixes = {"warm": {"1": 1.0}, "hard": {"5": 1.0}}
    values = changed_profile("tiny", {"rl.stages": stages, "curriculum.mixes": mixes})
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(folder), "DVC_NO_ANALYTICS": "true", "COMPASS_TRACKING": "off"}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)


def test_a_stage_of_an_unfitted_graph_stops_and_says_so(repository: Path) -> None:
    ended = run(repository, "-m", "stages.verify")
    assert ended.returncode == 1
    assert ended.stderr == (
        "verify: dvc.yaml has the RL stages rl-1, rl-2, rl-3, `rl.stages` in params.yaml has warm, hard; "
        "run `make deps`, which writes dvc.yaml from params.yaml, as `compass run` and `compass profile use` do by themselves\n"
    )


def test_a_run_fits_the_graph_to_what_it_is_given(repository: Path) -> None:
    assert run(repository, "-m", "dvc", "init", "-q", "--no-scm").returncode == 0
    assert "`rl.stages` in params.yaml has warm, hard; run `make deps`" in read_status(repository).fault
    only = {"rl.stages": {"only": {"init_from": "base", "steps": 5}}, "curriculum.mixes": {"only": {"1": 1.0}}}
    lines: list[str] = []
    check_request(RunRequest(target="only", overrides=only), repository)  # a stage that dvc.yaml does not have yet
    # --dry: DVC reads the graph and runs nothing
    run_pipeline(RunRequest(target="collect", overrides=only, extra=("--dry",)), repository, log=lines.append)
    assert "dvc.yaml now says which RL stages and files these parameters name" in lines
    assert tuple(graph(repository)) == load_settings(repository / "params.yaml").stages
    assert [name for name in graph(repository) if name in ("warm", "hard", "only", "rl-1")] == ["only"]
    assert not fit_graph(repository)  # it fits
    with pytest.raises(WrongName, match=r"no stage 'rl-1'; .*only"):
        check_request(RunRequest(target="rl-1"), repository)


def test_a_function_that_is_no_longer_named_leaves_the_graph(repository: Path) -> None:
    main(repository)
    fitted = (repository / "dvc.yaml").read_text()
    (repository / "mine.py").write_text("MOST = 1\n")
    text = (repository / "params.yaml").read_text()
    named = yaml.safe_load(text)
    named["rl"]["reward"]["function"], named["denoise"]["filters"] = "mine:pay", ["mine:judge"]
    (repository / "params.yaml").write_text(yaml.safe_dump(named, sort_keys=False))
    assert fit_graph(repository)
    assert "mine.py" in graph(repository)["denoise"]["deps"]
    assert "mine.py" in graph(repository)["warm"]["deps"]
    (repository / "params.yaml").write_text(text)
    assert fit_graph(repository)
    assert (repository / "dvc.yaml").read_text() == fitted


def test_only_what_parameters_ask_for_may_differ_from_the_committed_graph(repository: Path) -> None:
    settings = load_settings(repository / "params.yaml")
    assert not is_committed(repository, settings), "nothing is committed"
    for words in (["init", "-q"], ["add", "dvc.yaml"], ["commit", "-qm", "the graph of other RL stages"]):
        subprocess.run(["git", *words], cwd=repository, check=True)
    assert fit_graph(repository)
    assert is_committed(repository, settings)
    path = repository / "dvc.yaml"
    path.write_text(path.read_text().replace("cmd: python -m stages.grade", "cmd: python -m stages.grade --fast"))
    assert not is_committed(repository, settings)
    path.write_text("stages:\n  train:\n    cmd: python train.py\n")
    assert not is_committed(repository, settings)
    subprocess.run(["git", "commit", "-qam", "a graph of the user's own"], cwd=repository, check=True)
    assert is_committed(repository, settings)
    path.write_text(path.read_text().replace("train.py", "train.py --fast"))
    assert not is_committed(repository, settings)


def test_a_graph_of_another_layout_stays_whole(repository: Path) -> None:
    other = yaml.safe_dump(yaml.safe_load((repository / "dvc.yaml").read_text()))
    (repository / "dvc.yaml").write_text(other)
    with pytest.raises(SettingsError, match="is not laid out as this pipeline writes it, and stays as it was"):
        fit_graph(repository)
    assert (repository / "dvc.yaml").read_text() == other


def test_the_user_s_own_graph_stays(tmp_path: Path) -> None:
    own = "stages:\n  train:\n    cmd: python train.py\n"
    (tmp_path / "dvc.yaml").write_text(own)
    (tmp_path / "params.yaml").write_text((ROOT / "profiles/tiny.yaml").read_text())
    assert not fit_graph(tmp_path)
    assert (tmp_path / "dvc.yaml").read_text() == own


def test_dvc_reads_the_graph_of_stages_under_other_names(repository: Path) -> None:
    main(repository)
    assert tuple(graph(repository)) == load_settings(repository / "params.yaml").stages
    assert Graph(repository).deps("hard")[-2:] == ["models/warm", "stages/rl.py"]
    assert Graph(repository).ancestors("hard")[-1] == "warm"
    assert run(repository, "-m", "dvc", "init", "-q", "--no-scm").returncode == 0
    listed = run(repository, "-m", "dvc", "stage", "list", "--name-only").stdout.split()
    assert [name for name in listed if name in ("warm", "hard") or name.startswith("rl")] == ["warm", "hard"]
    edges = run(repository, "-m", "dvc", "dag", "--dot").stdout
    for edge in ('"base" -> "warm"', '"warm" -> "hard"', '"hard" -> "evaluate"', '"warm" -> "report"'):
        assert edge in edges
    assert '"base" -> "hard"' not in edges
    text = (repository / "params.yaml").read_text()
    (repository / "params.yaml").write_text(text.replace("init_from: warm", "init_from: base"))
    assert '"base" -> "hard"' in run(repository, "-m", "dvc", "dag", "--dot").stdout
