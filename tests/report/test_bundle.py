"""The bundle of an evaluation: recomputed without this library, every figure is equal, and a changed verdict is noticed."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from compass.cli import main
from compass.evaluation.looks import describe_looks, sample_until_verdict
from tests.report.conftest import sample_rows, write_evaluation, write_json

ALONE = """
import importlib.util, runpy, sys
sys.path.append(sys.argv[1])
assert importlib.util.find_spec("numpy"), "numpy has to be there"
assert not importlib.util.find_spec("compass") and not importlib.util.find_spec("scipy"), "nothing else may be"
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def check(bundle: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """The bundle's own script, in an interpreter that finds numpy and the standard library alone."""
    packages = tmp_path / "packages"
    packages.mkdir(exist_ok=True)
    for source in Path(np.__file__).parents[1].glob("numpy*"):
        if not (packages / source.name).exists():
            (packages / source.name).symlink_to(source)
    command = [sys.executable, "-I", "-S", "-c", ALONE, str(packages), str(bundle / "recompute.py")]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Three models on two benchmarks, one with clusters; one model lacks problems and has more samples of others, one answered one benchmark alone."""
    rows = sample_rows(models={"base": 0.3, "one": 0.6, "two": 0.8})
    more = [{**row, "sample": 4, "correct": False, "answer": "7"} for row in rows if row["model"] == "one" and not row["sample"] and not row["greedy"] and row["id"] in ("easy-2", "hard-3")]  # fmt: skip
    rows = [row for row in rows + more if (row["model"], row["id"]) != ("one", "easy-1")]
    rows = [row for row in rows if (row["model"], row["benchmark"]) != ("two", "hard")]
    for number, row in enumerate(rows):
        row["answer"] = None if number % 11 == 0 and not row["correct"] else row["answer"]
        row["outcome"] = "none" if row["answer"] is None else row["outcome"]
        row["correct_other"] = row["correct"] or row["sample"] == 1
        row["cost"] = 0.5
    folder = tmp_path / "evaluation"
    clusters = {f"hard-{number}": f"stem {number // 3}" for number in range(8)}
    write_json(folder / "scores.json", {"models": write_evaluation(folder, rows, clusters)})
    assert main(["report", str(folder), "--out", str(tmp_path / "page"), "--bundle", str(tmp_path / "bundle")]) == 0
    return tmp_path / "bundle"


def test_every_figure_is_recomputed_without_this_library(bundle: Path, tmp_path: Path) -> None:
    found = check(bundle, tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
    lines = found.stdout.splitlines()
    assert all(line.startswith("equal ") for line in lines[:-1])
    assert lines[-1].endswith(f"{len(lines) - 1:,} figures of the page: {len(lines) - 1:,} equal, 0 different")
    shown = {line.split(None, 1)[1].rpartition(": ")[0] for line in lines[:-1]}
    both = "comparisons / pairs / one against base"
    assert shown >= {
        "scores / one / easy / accuracy", "scores / one / easy / ci95 / 0", "scores / one / hard / fixed_ci95 / 1", "scores / one / easy / by_tokens / 2 / maj", "scores / one / average / by_tokens / 1 / tokens", "scores / base / easy / greedy_length", "scores / two / average / fixed_ci95 / 0", "scores / one / easy / most_samples", "scores / base / hard / maj@4", "scores / base / hard / clusters", f"{both} / benchmarks / hard / clusters",
        "scores / base / hard / pass@2", "scores / base / average / greedy_ci95 / 1", "scores / one / hard / other_gold / accuracy",
        "scores / one / easy / clean / ci95 / 1", "scores / one / average / over_base", f"{both} / benchmarks / hard / p",
        f"{both} / benchmarks / easy / missing", f"{both} / average / p_corrected", f"{both} / average / detectable",
        f"{both} / benchmarks / easy / needed / problems", f"{both} / average / measures / greedy / verdict",
        f"{both} / average / measures / maj@4 / ci95 / 0", "comparisons / pairs / two against base / average / verdict",
    }  # fmt: skip


def test_every_look_is_recomputed_from_the_samples_that_it_had(tmp_path: Path) -> None:
    rows = sample_rows(models={"base": 0.3, "one": 0.5, "two": 0.6}, problems=15, samples=8)
    folder, pair = tmp_path / "evaluation", ["two", "base"]

    def sample(count: int) -> pa.Table:
        return pa.Table.from_pylist([row for row in rows if row["greedy"] or row["sample"] < count])

    looks = sample_until_verdict(sample, samples=2, at_most=32, pair=pair, seed=0)
    assert len(looks["made"]) == 3
    rows = [row for row in rows if row["greedy"] or row["sample"] < looks["made"][-1]["samples"]]
    write_json(folder / "scores.json", {"models": write_evaluation(folder, rows, looks=looks)})
    page = tmp_path / "page"
    assert main(["report", str(folder), "--out", str(page), "--bundle", str(tmp_path / "bundle")]) == 0
    assert describe_looks(looks).partition(" p <")[0] in (page / "report.md").read_text(encoding="utf-8")
    found = check(tmp_path / "bundle", tmp_path)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr
    assert "equal     comparisons / looks / made / 1 / limit: " in found.stdout
    assert "equal     comparisons / looks / made / 0 / information: " in found.stdout


def test_a_verdict_that_was_changed_is_noticed(bundle: Path, tmp_path: Path) -> None:
    path = bundle / "responses.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    changed = next(row for row in rows if row["model"] == "base" and row["benchmark"] == "hard" and not row["greedy"])
    changed["correct"] = not changed["correct"]
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    found = check(bundle, tmp_path)
    assert found.returncode == 1
    different = [line.split(None, 1)[1] for line in found.stdout.splitlines() if line.startswith("DIFFERENT ")]
    assert any(line.startswith("scores / base / hard / accuracy: ") for line in different)
    assert not any(line.startswith(("scores / base / easy", "scores / two / easy / accuracy")) for line in different)


def test_a_figure_that_was_changed_is_noticed(bundle: Path, tmp_path: Path) -> None:
    path = bundle / "figures.json"
    figures = json.loads(path.read_text(encoding="utf-8"))
    figures["comparisons"]["pairs"][0]["average"]["p"] += 0.2
    figures["scores"]["two"]["easy"]["greedy"] += 0.001
    write_json(path, figures)
    lines = check(bundle, tmp_path).stdout.splitlines()
    different = {line.split(None, 1)[1].rpartition(": ")[0] for line in lines if line.startswith("DIFFERENT ")}
    assert different >= {"scores / two / easy / greedy", "comparisons / pairs / one against base / average / p"}
    assert not any(name.startswith("scores / ") for name in different - {"scores / two / easy / greedy"})


def test_settings_and_versions_are_in_the_bundle(finished_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "checked"
    assert main(["report", str(finished_run), "--out", str(tmp_path / "page"), "--bundle", str(folder)]) == 0
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    assert settings["parameters"]["rl"]["stages"]["rl-2"]["steps"] == 9
    assert settings["setups"]["base"]["engine"] == {"name": "vllm"}
    assert settings["stages"]["evaluate"]["packages"] == {"torch": "2.13.0"}
    assert settings["bundle"]["packages"].keys() >= {"torch", "pyarrow"}
    assert check(folder, tmp_path).returncode == 0


def test_a_bundle_needs_responses_of_one_run_and_a_folder_of_its_own(
    finished_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", str(finished_run), "--out", str(tmp_path / "page"), "--bundle"]
    assert main([*words, str(finished_run)]) == 1
    assert "holds something else; give --bundle a new folder" in capsys.readouterr().err
    assert main([*words, str(tmp_path / "b"), str(finished_run)]) == 1
    assert "--bundle takes the results of one run" in capsys.readouterr().err
    (finished_run / "data" / "evaluate" / "problems.parquet").unlink()
    assert main([*words, str(tmp_path / "b")]) == 1
    assert "a bundle needs samples.parquet and problems.parquet" in capsys.readouterr().err
