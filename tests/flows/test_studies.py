"""A study's runs in a small repository: checked first, each once, what arms share from DVC's cache, resumed where it stopped."""

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from compass.cli import main
from compass.errors import UserError
from compass.locks import hold_turn
from compass.plan.forecast import Known, count_generated, forecast
from compass.plan.hardware import find_machine
from compass.report.page import write_pages
from compass.report.study import compare_runs, study_sections
from compass.studies.study import Study, read_study
from flows.run import RunRequest, list_experiments, run
from flows.studies import count_others, estimate_seconds_left, find_done, find_running, plan_runs, read_runs, run_study

ROOT = Path(__file__).resolve().parents[2]

GRAPH = """\
stages:
  base:
    cmd: python toy.py base
    params: [seed]
    outs: [models/toy-base]
  rl-1:
    cmd: python toy.py rl-1
    params: [seed, rl.loss]
    deps: [models/toy-base]
    outs: [data/rl-1, metrics/rl-1.json]
  evaluate:
    cmd: python toy.py evaluate
    params: [seed, rl.loss]
    deps: [data/rl-1]
    outs: [data/evaluate, metrics/evaluate.json]
  report:
    cmd: python toy.py report
    deps: [metrics/evaluate.json]
    metrics: [metrics/headline.json]
"""
TOY = """\
import json, pathlib, sys
import pyarrow as pa, pyarrow.parquet as pq
from compass.errors import UserError
from compass.runs.progress import stage_progress
from compass.settings import load_settings
name, settings = sys.argv[1], load_settings("params.yaml")
kl, seed = settings.rl.loss.kl_coef, settings.seed
def write(path, value):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
try:
    with stage_progress(name):
        with open("ran.log", "a") as log:
            print(name, seed, kl, file=log)
        if name == "rl-1" and pathlib.Path("fails").exists() and kl:
            raise UserError("a guard stopped it")
        if name == "base":
            write("models/toy-base/weights.json", seed)
        if name == "rl-1":
            write("metrics/rl-1.json", {"metrics": {"seconds_per_step": 2.0, "steps": 2}})
            pathlib.Path("data/rl-1").mkdir(parents=True, exist_ok=True)
            rows = {"step": [1, 1, 2], "reward": [1.0, -1.0, 1.0], "response_tokens": [5, 6, 7], "used": [True] * 3}
            pq.write_table(pa.table(rows), "data/rl-1/rewards.parquet")
            steps = "step,actor/pg_clipfrac,actor/kl_loss\\n1,0.0,\\n2,0.125,\\n" if kl else "step\\n1\\n2\\n"
            pathlib.Path("data/rl-1/steps.csv").write_text(steps)
        if name == "evaluate":
            score = 0.7 + 0.01 * seed - kl * (1 + 0.1 * seed)
            write("data/evaluate/done.json", [seed, kl])
            names = ("accuracy", "lenient", "pass@2", "pass@4", "maj@4", "greedy")
            scores = {"rl-1": {"average": dict.fromkeys(names, score) | {"length": 9}}, "base": {"average": {"accuracy": 0.2}}}
            for place, name in enumerate(("easy", "hard")):
                scores["rl-1"][name], scores["base"][name] = {"accuracy": score - place / 2}, {"accuracy": 0.2}
            write("metrics/evaluate.json", {"models": scores})
        if name == "report":
            scored = json.loads(pathlib.Path("metrics/evaluate.json").read_text())
            write("metrics/headline.json", {"accuracy": scored["models"]["rl-1"]["average"]["accuracy"]})
except UserError as error:
    sys.exit(f"{name}: {error}")
"""
STUDY = {
    "question": "Does KL cost accuracy?",
    "profile": "debug",
    "arms": {"plain": {}, "kl": {"rl.loss.kl_coef": 0.1}},
    "seeds": [0, 1],
    "model": "rl-1",
    "smallest_difference": 3.0,
}


@pytest.fixture
def repository(toy: Path) -> Path:
    (toy / "toy.py").write_text(TOY)
    (toy / "dvc.yaml").write_text(GRAPH)
    (toy / ".gitignore").write_text("/data/\n/models/\n/metrics/\n/.compass/\n/work/\n/ran.log\n__pycache__\n")
    write(toy)
    for words in (["add", "-A"], ["commit", "-qm", "a graph of four stages"]):
        subprocess.run(["git", *words], cwd=toy, check=True)
    return toy


def write(root: Path, **changed) -> None:
    (root / "studies").mkdir(exist_ok=True)
    (root / "studies/kl.yaml").write_text(yaml.safe_dump({**STUDY, **changed}, sort_keys=False))


class Starter:
    """Starts runs as `compass study run` does; `stop_after` runs it is interrupted instead, as by Ctrl-C."""

    def __init__(self, root: Path, stop_after: int = 99) -> None:
        self.root, self.left, self.started, self.took = root, stop_after, [], []

    def __call__(self, request: RunRequest):
        from flows.dvc_process import DvcError

        if not self.left:
            return 130, None
        self.left -= 1
        self.started.append(request.name)
        try:
            ended = run(request, self.root, log=lambda line: None)
            self.took.append(round(ended.seconds))
            return 0, ended
        except DvcError as error:
            return error.exit_status, None


def study(root: Path, start: Starter) -> int:
    return run_study("kl", read_study("kl", root), root, start=start, show=lambda line: None)


def ran(root: Path) -> Counter:
    return Counter(tuple(line.split()) for line in (root / "ran.log").read_text().splitlines())


def results(root: Path):
    """Every planned run with its result."""
    planned = plan_runs("kl", read_study("kl", root), root)
    return [(one.arm, one.seed, result) for one, result in find_done(planned, read_runs("kl", root))]


def write_results(root: Path) -> list[dict]:
    """Results of every run that the study asks for now."""
    planned = plan_runs("kl", read_study("kl", root), root)
    runs = [{"arm": one.arm, "seed": one.seed, "digest": one.digest, "failed": False} for one in planned]
    runs = [run | {"started": "", "seconds": 9, "scores": {"accuracy": 0.5}} for run in runs]
    (root / "studies/results").mkdir(exist_ok=True)
    (root / "studies/results/kl.json").write_text(json.dumps({"study": "kl", "runs": runs}))
    return runs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  title: Compass-Thinker pipeline, debug profile", "  title: Another title"),
        ("profile: debug", "profile: debug\nengines: {count: 3}"),
        ("  require_self_equal: true\n", ""),
        ('    rl-3: {"3": 0.2, "4": 0.4, "5": 0.4}', '    rl-3: {"3": 0.4, "4": 0.4, "5": 0.2}'),
    ],
)
def test_a_setting_that_changes_no_score_leaves_a_run_done(old: str, new: str, repository: Path) -> None:
    write_results(repository)
    path = repository / "profiles/debug.yaml"
    changed = path.read_text().replace(old, new, 1)
    assert changed != path.read_text()
    path.write_text(changed)
    planned = plan_runs("kl", read_study("kl", repository), repository)
    kept = read_runs("kl", repository)
    assert all(result for _, result in find_done(planned, kept))
    assert count_others(planned, kept) == 0


@pytest.mark.parametrize(
    "changed", [{"model": "rl-2"}, {"model": ""}, {"settings": {"grade.rollouts": 3}}, {"seeds": [2, 3]}]
)
def test_another_model_or_setting_makes_other_runs_and_loses_none(
    changed: dict, repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = write_results(repository)
    write(repository, **changed)
    assert [result for *_, result in results(repository)] == [None] * 4
    monkeypatch.chdir(repository)
    assert main(["study", "list"]) == 0
    assert "0 of 4   Does KL cost accuracy? (4 runs have other settings)" in capsys.readouterr().out
    assert main(["study", "show", "kl"]) == 0
    assert "4 kept runs have other settings, or a model, an arm or a seed" in " ".join(capsys.readouterr().out.split())
    said: list[str] = []
    run_study("kl", read_study("kl", repository), repository, start=lambda one: (3, None), show=said.append)
    assert "4 kept runs have other settings" in said[0]
    found = read_runs("kl", repository)
    assert found[:4] == kept, "a run that failed took no other's place"
    assert [run["failed"] for run in found[4:]] == [True] * 4
    write(repository)
    assert all(result for *_, result in results(repository)), "the same settings find them again"


def test_an_edited_reward_makes_other_runs_of_the_arms_that_name_it(repository: Path) -> None:
    (repository / "own").mkdir()
    (repository / "own/reward.py").write_text("MOST = 0.5\n")
    write(repository, arms={"plain": {}, "own": {"rl.reward.function": "own.reward:brief"}})
    write_results(repository)
    assert all(result for *_, result in results(repository))
    (repository / "own/reward.py").write_text("MOST = 0.9\n")
    assert [arm for arm, _, result in results(repository) if result] == ["plain", "plain"]


def test_the_run_under_way_is_the_one_whose_values_stand_in_the_parameter_file(repository: Path) -> None:
    study(
        repository, Starter(repository, stop_after=1)
    )  # `params.yaml` holds the values of the first run, which is done
    planned = plan_runs("kl", read_study("kl", repository), repository)
    (repository / "params.yaml").write_text(yaml.safe_dump(planned[2].values, sort_keys=False))
    done = find_done(planned, read_runs("kl", repository))
    assert find_running(done, repository) is None, "nobody works on the results"
    lock = hold_turn(repository, "compass study run kl")
    try:
        assert find_running(done, repository) is planned[2]
        (repository / "params.yaml").write_text(yaml.safe_dump(planned[0].values, sort_keys=False))
        assert find_running(done, repository) is None, "a run that is done, or another command's"
    finally:
        os.close(lock)


def test_a_stopped_study_goes_on_with_every_run_once(repository: Path, tmp_path: Path) -> None:
    before = (repository / "params.yaml").read_text()
    (repository / "fails").touch()
    assert study(repository, Starter(repository, stop_after=2)) == 130
    assert (repository / "params.yaml").read_text() == before
    assert [run and run["failed"] for *_, run in results(repository)] == [False, True, None, None]
    [difference] = compare_runs(read_study("kl", repository), results(repository))
    assert "no seed has a run of both arms" in difference.words
    assert results(repository)[1][2]["failure"] == "rl-1: a guard stopped it"
    answer = study_sections(read_study("kl", repository), results(repository))[0].parts
    said = "\n".join(getattr(part, "text", "") for part in answer)
    assert (
        "kl: too few seeds: no seed has a run of both arms, and an interval needs two, without the runs that failed (1 of kl)."
        in said
    )
    assert "left out of every figure: kl, seed 0 (rl-1: a guard stopped it)." in said

    (repository / "fails").unlink()
    second = Starter(repository)
    assert study(repository, second) == 0
    assert second.started == ["kl-kl-0", "kl-plain-1", "kl-kl-1"]  # the one that failed is tried again
    assert [run["seconds"] for *_, run in results(repository)][1:] == second.took, "without the wait for its turn"
    shown = json.loads((repository / "metrics/headline.json").read_text())
    assert shown["accuracy"] == results(repository)[-1][2]["scores"]["accuracy"], "an experiment keeps its own headline"
    counts = ran(repository)
    assert [counts["base", seed, kl] for seed in "01" for kl in ("0.0", "0.1")] == [1, 0, 1, 0]  # once per seed
    assert [counts["rl-1", seed, kl] for seed in "01" for kl in ("0.0", "0.1")] == [1, 2, 1, 1]
    assert (repository / "params.yaml").read_text() == before
    assert set(list_experiments(repository)) == {"kl-plain-0", "kl-kl-0", "kl-plain-1", "kl-kl-1"}

    check_kept(results(repository))
    sections = study_sections(read_study("kl", repository), results(repository))
    assert [row[2] for row in sections[1].parts[0].rows] == ["50.5 ± 0.7", "40.0 ± 0.0"]  # the gain over the base
    assert sections[1].parts[0].rows[0][-1] == "9.0 ± 0.0"  # tokens per response of the evaluation
    assert sections[1].parts[1].rows == [["plain", "50.5 ± 0.7", "0.50 ± 0.71"], ["kl", "40.0 ± 0.0", "-10.0 ± 0.0"]]
    assert sections[2].parts[2].lines == ["kl: +0"], "without an interval, as the seeds do not differ"
    training = sections[3].parts[0]  # means over all iterations; without what was always 0, or is measured in no run
    assert training.head[-2:] == ["response length, tokens", "clipped tokens, %"]
    assert [row[-2:] for row in training.rows] == [["6.2 ± 0.0", "–"], ["6.2 ± 0.0", "6.2 ± 0.0"]]
    said = [getattr(part, "text", "") for part in sections[0].parts]
    assert not any("did not gain" in text for text in said)
    longer = [
        (arm, seed, run | {"training": {"seconds": 4, "tokens": 1018 + seed if arm == "kl" else 18}})
        for arm, seed, run in results(repository)
    ]
    told = study_sections(read_study("kl", repository), longer)[2].parts[2].lines
    assert told == ["kl: +1,000 (+994 to +1,007)"]  # 1000.5 ± 12.706 × 0.7071 / √2
    better_base = [(arm, seed, run | {"base": {"accuracy": 0.65}}) for arm, seed, run in results(repository)]
    said = [getattr(part, "text", "") for part in study_sections(read_study("kl", repository), better_base)[0].parts]
    assert next(text for text in said if "did not gain" in text).startswith("On average kl did not gain over the base")
    page = write_pages(sections, tmp_path / "page", title="kl").read_text()
    assert "kl: worse by 10.5 points" in page
    assert page.count("<svg") == 4  # two figures, each for a desk and for a phone

    write(repository, arms={"plain": {}, "kl": {"rl.loss.kl_coef": 0.2}})
    assert [run is not None for *_, run in results(repository)] == [True, False, True, False]


def check_kept(found: list) -> None:
    """What is kept of a run: its settings, scores, costs and curves."""
    arm, seed, kept = found[1]
    assert (arm, seed, kept["failed"], kept["experiment"]) == ("kl", 0, False, "kl-kl-0")
    assert kept["model"] == "rl-1"
    assert kept["settings"] == {"rl.loss.kl_coef": 0.1, "seed": 0}
    assert kept["scores"]["accuracy"] == pytest.approx(0.6)
    assert kept["training"] == {"seconds": 4, "tokens": 18}
    assert (kept["curves"]["accuracy"], kept["curves"]["clipped"]) == ([0.5, 1.0], [0.0, 0.125])
    assert "kl" not in kept["curves"], "an iteration does not have it"
    assert kept["ran"] == ["rl-1", "evaluate", "report"]
    assert kept["dirty"] == "false"  # although params.yaml has the values of the run


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"profile": "tinny"}, "there is no profile 'tinny' (profiles/tinny.yaml); profiles: debug, paper"),
        (
            {"arms": {"a": {}, "b": {"rl.loss.kl_coeff": 0.1}}},
            "arm b: rl.loss.kl_coeff: unknown key",
        ),
        ({"arms": {"a": {}, "b": {"rl.loss.kl_coef": "x"}}}, "arm b: rl.loss.kl_coef: "),
        ({"arms": {"a": {}, "b": {"rl.loss.kl_coef": 0.0}}}, "the arms a and b have the same settings"),
        (
            {"arms": {"a": {}, "b": {"rl.lora.alpha": 64}}},
            "the arms a and b have the same settings, or differ only in such as do nothing",
        ),
        (
            {"model": "base", "arms": {"a": {}, "b": {"rl.loss.kl_coef": 0.1}}},
            "the arms a and b have the same settings, or differ only in such as do nothing",
        ),
        (
            {"measure": "acuracy"},
            "kl.yaml: measure: 'acuracy' is not measured with these settings; did you mean accuracy",
        ),
        ({"settings": {"rl.data.batch_size": 1000}}, "arm plain:"),
    ],
)
def test_a_study_that_cannot_run_is_refused_before_its_first_run(changed: dict, said: str, repository: Path) -> None:
    write(repository, **changed)
    start = Starter(repository)
    with pytest.raises(UserError) as error:
        study(repository, start)
    assert said in str(error.value)
    assert start.started == []
    assert not (repository / "ran.log").exists()


def test_edits_of_params_yaml_are_not_overwritten(repository: Path) -> None:
    path = repository / "params.yaml"
    path.write_text(path.read_text().replace("samples: 4", "samples: 3"))
    with pytest.raises(UserError, match="would be lost: no profile has the same values"):
        study(repository, Starter(repository))


def test_a_file_that_holds_no_results_is_an_error(repository: Path) -> None:
    path = repository / "studies/results/kl.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"runs": [{"arm": "kl"}]}))
    with pytest.raises(UserError, match="holds no results of a study"):
        read_runs("kl", repository)


@pytest.mark.parametrize(
    ("own", "stages"),
    [
        ({"evaluate.samples": 4}, "evaluate"),
        ({"rl.loss.kl_coef": 0.1}, "rl-1 rl-2 rl-3 evaluate"),
        ({"curriculum.mixes.rl-1": {"1": 0.2, "2": 0.8}}, "rl-1 rl-2 rl-3 evaluate"),
        ({"verify.suspicious_agreement": 0.8}, "rl-1 rl-2 rl-3 evaluate"),
        ({"grade.rollouts": 3}, "grade rl-1 rl-2 rl-3 evaluate"),
        ({"collect.max_problem_chars": 900}, "grade rl-1 rl-2 rl-3 evaluate"),
        ({"base.pretrain.steps": 700}, "base grade rl-1 rl-2 rl-3 evaluate"),
    ],
)
def test_the_time_of_stages_that_arms_share_counts_once_per_seed(own: dict, stages: str) -> None:
    declared = Study.model_validate(STUDY | {"profile": "tiny", "model": "rl-3", "arms": {"a": {}, "b": own}})
    planned = plan_runs("kl", declared, ROOT)
    left = estimate_seconds_left([(one, None) for one in planned], ROOT)
    seconds = []
    for one in planned[:2]:
        found = forecast(one.settings, find_machine(), Known(count_generated(one.settings)), ROOT).stages
        seconds.append({stage.name: 3600 * stage.hours[1] for stage in found})
    each = sum(seconds[0].values()) + sum(seconds[1][name] for name in stages.split())
    assert left == pytest.approx(each * len(declared.seeds))


def test_what_came_from_a_cache_says_nothing_of_the_time_that_is_left() -> None:
    declared = Study.model_validate(STUDY | {"profile": "tiny", "model": "rl-3"})
    planned = plan_runs("kl", declared, ROOT)
    taken = [{"failed": False, "seconds": 6, "ran": []}, *[None] * 3]
    left = estimate_seconds_left(list(zip(planned, taken, strict=True)), ROOT)
    alone = estimate_seconds_left([(one, None) for one in planned], ROOT)
    first = forecast(planned[0].settings, find_machine(), Known(count_generated(planned[0].settings)), ROOT).stages
    assert left == pytest.approx(alone - 3600 * sum(stage.hours[1] for stage in first))
    evaluated = next(3600 * stage.hours[1] for stage in first if stage.name == "evaluate")
    resumed = [{"failed": False, "seconds": 2 * evaluated, "ran": ["evaluate", "report"]}, *[None] * 3]
    assert estimate_seconds_left(list(zip(planned, resumed, strict=True)), ROOT) == pytest.approx(2 * left)


def test_arms_of_other_measures_are_shown_beside_each_other() -> None:
    declared = Study.model_validate(STUDY)
    scores = {"plain": {"accuracy": 0.5, "pass@4": 0.7}, "kl": {"accuracy": 0.4}}
    run = {"failed": False, "started": "", "seconds": 9, "training": {"seconds": 1, "tokens": 1}, "curves": {}}
    run["benchmarks"] = {}
    runs = [(arm, seed, run | {"scores": scores[arm]}) for seed in (0, 1) for arm in ("plain", "kl")]
    table = study_sections(declared, runs)[1].parts[0]
    assert [row[table.head.index("pass@4")] for row in table.rows] == ["70.0 ± 0.0", "–"]


def test_a_run_that_failed_is_still_to_come(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = write_results(repository)
    runs[1] |= {"failed": True, "failure": "rl-1: killed"}
    (repository / "studies/results/kl.json").write_text(json.dumps({"study": "kl", "runs": runs}))
    monkeypatch.chdir(repository)
    assert main(["study", "list"]) == 0
    assert "3 of 4   Does KL cost accuracy? (1 failed)" in capsys.readouterr().out
    answer = study_sections(read_study("kl", repository), results(repository)[1:2])[0].parts
    assert "1 of 1 runs is still to come" in "\n".join(getattr(part, "text", "") for part in answer)


def test_every_study_of_the_project_can_run() -> None:
    files = sorted(path.stem for path in (ROOT / "studies").glob("*.yaml"))
    assert len(files) > 4
    for name in files:
        declared = read_study(name, ROOT)
        assert len(plan_runs(name, declared, ROOT)) == len(declared.arms) * len(declared.seeds)
