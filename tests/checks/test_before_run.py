"""Slips of the pen are found before anything runs: where, what was found, what to do."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from compass.checks.before_run import check_before_run, find_problems
from compass.checks.finding import Finding
from compass.errors import UserError
from compass.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]

Repository = Callable[..., Path]


def only(root: Path) -> Finding:
    (problem,) = find_problems(root)
    return problem


def test_a_file_of_ones_own_is_fine(repository: Repository) -> None:
    assert find_problems(repository()) == []


@pytest.mark.parametrize("profile", ["tiny", "debug"])
def test_profiles_without_files_are_fine(profile: str) -> None:
    assert find_problems(ROOT, load_settings(ROOT / f"profiles/{profile}.yaml")) == []


def test_all_are_told_in_one_message(repository: Repository) -> None:
    root = repository({"collect.sources.0.path": "nowhere.csv", "base": {"model": "$COMPASS_MODEL"}})
    with pytest.raises(UserError) as error:
        check_before_run(root)
    lines = str(error.value).splitlines()
    assert lines[0] == "2 problems found before the start; nothing ran, and every output is as it was"
    assert [line.split(":")[0] for line in lines if line.startswith("  ") and line[2].isdigit()] == [
        "  1. collect.sources.0 (mine)",
        "  2. base.model",
    ]


FAULTY = [
    ({}, "params.yaml", None, "no such file", "compass profile use NAME --force"),
    ({}, "params.yaml", "seed: [1\n", "not readable as YAML", "repair params.yaml"),
    ({}, "dvc.yaml", None, "there is none in", "run this in the repository's root"),
    ({}, "problems.csv", "How many, if any, are there?,1\n", "row 50 (line 52) has 4 values for 2 columns", ""),
    ({}, "benchmark.jsonl", '{"id": "own-99", "problem": "What is 1 + 1?", "answer": ""}\n',
     "row own-99 (missing_answer", "a benchmark is never shortened: repair the rows"),
    ({"base": {"model": "policy.gguf"}}, "policy.gguf", "<!DOCTYPE html>", "begins with b'<!DO'", "download it again"),
    ({}, "metrics", "", "is a file, and a folder is written here", "move it away: `mv metrics metrics.old`"),
]  # fmt: skip
"""Settings, a file of the repository, what is appended to it (None: the file is removed), what is found, and the remedy."""


@pytest.mark.parametrize(("values", "name", "appended", "found", "remedy"), FAULTY)
def test_a_faulty_file_is_found_with_its_remedy(
    repository: Repository, values: dict, name: str, appended: str | None, found: str, remedy: str
) -> None:
    root = repository(values)
    if appended is None:
        (root / name).unlink()
    else:
        with open(root / name, "a", encoding="utf-8") as file:
            file.write(appended)
    problem = only(root)
    assert found in problem.found
    assert remedy in problem.remedy


def test_an_unreadable_source_may_be_skipped_as_in_the_stage(repository: Repository) -> None:
    mine = {"name": "mine", "path": "problems.csv", "problem_field": "question"}
    sources = [{"name": "gone", "path": "gone.csv"}, mine]
    root = repository({"collect.skip_unreadable": True, "collect.sources": sources})
    assert find_problems(root) == []


def test_a_model_folder_is_looked_into(repository: Repository, model: Callable[..., Path]) -> None:
    root = repository({"base": {"model": "policy"}})
    folder = model(max_position_embeddings=512)
    assert find_problems(root) == []
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert only(root).found.endswith("has no *.safetensors")
    assert "convert pytorch_model.bin" in only(root).remedy
    shutil.rmtree(folder)
    model(template=False)
    assert only(root).found.endswith("has no chat template")


def test_a_hub_model_has_to_be_in_the_cache_when_offline(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = repository({"base": {"model": "owner/name", "revision": "0" * 40}})
    assert find_problems(root) == []
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert "HF_HUB_OFFLINE is set" in only(root).found
    (tmp_path / "hub/models--owner--name/snapshots" / ("0" * 40)).mkdir(parents=True)
    assert find_problems(root) == []


def test_a_full_disk_is_told(
    repository: Repository, model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository({"base": {"model": "policy"}})
    model()
    usage = shutil.disk_usage(root)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    assert only(root).where == "disk"
    assert "GB are free" in only(root).found


@pytest.mark.parametrize(
    ("setting", "dtype", "found"),
    [
        ("rl.resources.dtype", "bfloat16", "bfloat16, and this processor has no AVX-512"),
        ("grade.sampling.dtype", "bfloat16", "bfloat16, and this processor has no AVX-512"),
        ("evaluate.sampling.dtype", "auto", "auto, for which vLLM takes bfloat16 on a CPU, and this processor"),
    ],
)
def test_bfloat16_is_refused_on_a_processor_that_is_slow_at_it(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, setting: str, dtype: str, found: str
) -> None:
    root = repository({setting: dtype})
    monkeypatch.setattr("compass.checks.machine.lacks_bfloat16", lambda: True)
    assert (only(root).where, only(root).remedy) == (setting, "set it to float32")
    assert only(root).found.startswith(found)
    monkeypatch.setattr("compass.checks.machine.lacks_bfloat16", lambda: False)
    assert find_problems(root) == []


def test_a_read_only_folder_is_told(repository: Repository) -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        root = shutil.copytree(repository(), Path(name) / "repository")
        (root / "metrics").mkdir(mode=0o500)
        code = (
            "import os\nfrom compass.checks.before_run import find_problems\n"
            f"find_problems({str(root)!r})  # imports everything\n"
            "if os.geteuid() == 0:  # nothing is read-only for root\n"
            "    os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)\n"
            f"print(*find_problems({str(root)!r}), sep='\\n')"
        )
        if os.geteuid() == 0:
            for path in (Path(name), root, root / "metrics"):
                os.chown(path, 65534, 65534)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert told.stderr == ""
    assert told.stdout.splitlines() == [
        "metrics/: cannot be written by you",
        "     `chmod u+rwx metrics`, or change its owner",
    ]


def test_no_library_that_takes_seconds_to_import_is_loaded(repository: Repository) -> None:
    code = (
        "import sys\nfrom compass.checks.before_run import find_problems\n"
        f"assert find_problems({str(repository())!r}) == []\n"
        "print(*sorted({'torch', 'transformers', 'vllm', 'verl', 'ray', 'datasets', 'mlflow', 'prefect', 'dvc'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("\n", "")


def test_a_warm_start_needs_sources_that_there_are(repository: Repository, model: Callable[..., Path]) -> None:
    root = repository({"base": {"model": "policy", "warm_start": {"sources": ["mien"], "gpus": 1}}})
    model()
    told = {problem.where: "; ".join(filter(None, [problem.found, problem.remedy])) for problem in find_problems(root)}
    assert set(told) == {"base.warm_start.sources", "base.warm_start.gpus"}
    assert (
        told["base.warm_start.sources"] == "'mien' is no source of `collect.sources`; did you mean mine? there are mine"
    )
