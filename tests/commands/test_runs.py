"""`compass runs` on two recorded runs whose responses DVC's cache holds."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from mlflow.exceptions import MlflowException

from compass.cli import main
from compass.commands.runs import find_changes
from compass.runs.dvc_files import dvc_md5
from compass.runs.stage_times import timed
from compass.settings import load_settings
from compass.tracking import stage_run
from compass.tracking.mlflow_runs import PastRun

ROOT = Path(__file__).resolve().parents[2]


def keep(root: Path, path: Path) -> None:
    """Put an output into DVC's cache, as `dvc commit` would."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    listing = [{"md5": dvc_md5(file), "relpath": file.relative_to(path).as_posix()} for file in files]
    for file in files:
        place = root / ".dvc/cache/files/md5" / dvc_md5(file)[:2] / dvc_md5(file)[2:]
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    if path.is_dir():
        md5 = dvc_md5(path)
        place = root / ".dvc/cache/files/md5" / md5[:2] / md5[2:]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(listing, sort_keys=True))


def evaluated(root: Path, key: str, right: float, monkeypatch: pytest.MonkeyPatch, **changed: Any) -> None:
    """Record a pipeline run that evaluates one model on 40 problems, of which it solves a share."""
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", key)
    values = yaml.safe_load((ROOT / "profiles/tiny.yaml").read_text()) | changed
    (root / "params.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    names = {"model": "rl-1", "benchmark": "level-1", "greedy": False, "setup": "s", "response": "\\boxed{1}"}
    verdict = {
        "answer": "1",
        "answer_lenient": "1",
        "outcome": "equal",
        "method": "text",
        "leniencies": "",
        "boxed": True,
        "looped": False,
    }
    cost = {"tokens": 5, "seconds": 0.1, "finish_reason": "stop"}
    rows = [
        {**names, **verdict, **cost, "id": f"p{n}", "sample": k, "correct": solved, "correct_lenient": solved}
        for n, solved in enumerate((np.arange(40) < 40 * right).tolist())
        for k in range(2)
    ]
    average = {"accuracy": right, "ci95": [right - 0.1, right + 0.1]}
    (root / "data/evaluate").mkdir(parents=True, exist_ok=True)
    (root / "metrics").mkdir(exist_ok=True)
    with stage_run("evaluate", load_settings(root / "params.yaml"), root), timed("evaluate", root):
        pq.write_table(pa.Table.from_pylist(rows), root / "data/evaluate/samples.parquet")
        (root / "data/evaluate/setups.json").write_text('{"s": {}}')
        scores = {"rl-1": {"level-1": average, "average": {**average, "problems": 40}}}
        (root / "metrics/evaluate.json").write_text(json.dumps({"models": scores}))
    keep(root, root / "data/evaluate")
    keep(root, root / "metrics/evaluate.json")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("recorded")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "COMPASS_TRACKING", "DVC_EXP_NAME"):
            patch.delenv(name, raising=False)
        shutil.copytree(ROOT / "profiles", root / "profiles")
        (root / "dvc.yaml").write_text(
            "stages:\n  evaluate: {cmd: x, outs: [data/evaluate], metrics: [metrics/evaluate.json]}\n"
        )
        evaluated(root, "first", 0.25, patch)
        patch.setenv("DVC_EXP_NAME", "brave-seed")
        evaluated(root, "second", 0.75, patch, seed=1)
    return root


@pytest.fixture(autouse=True)
def here(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(recorded)
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)


def compass(*words: str) -> int:
    return main(["runs", *words])


def test_a_server_that_answers_no_more_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise MlflowException("API request failed: timed out")

    monkeypatch.setattr("compass.tracking.mlflow_runs.search_runs", fail)
    assert compass("list") == 1
    assert "cannot be read: " in capsys.readouterr().err


def test_runs_are_listed_by_name_when_score_and_state_in_a_hundred_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert compass("list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert [line.split("  ")[0] for line in lines] == ["name", "tiny seed=1", "tiny"]
    assert [line[24:47].strip() for line in lines] == ["changed", "seed=1", ""]
    assert "rl-1 75.0%" in lines[1]
    assert "finished" in lines[1]


def test_an_empty_list_of_runs_says_why(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert compass("list", "--data", "0000") == 0
    assert capsys.readouterr().err == "No run that used 0000 is recorded here.\n"
    monkeypatch.setenv("COMPASS_TRACKING", "off")
    assert compass("list", "--data", "0000") == 0
    assert "COMPASS_TRACKING=off records none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("params", "before", "expected"),
    [
        ({"seed": "1", "evaluate.samples": "12"}, {"seed": "1"}, "samples=12"),
        ({"seed": "1"}, {"seed": "1", "rl.stages.rl-2.steps": "9"}, "rl-2.steps=profile"),
        (
            {"seed": "1", "a.one": "1", "b.two": "2", "c.three": "3", "d.four": "4"},
            {"seed": "0"},
            "seed=1 one=1 two=2 +2",
        ),
        ({"report.title": "x" * 90, "seed": "1"}, {}, f"title={'x' * 13}… +1"),
        ({"seed": "1"}, {"seed": "1"}, ""),
    ],
)
def test_what_changed_is_told_as_far_as_it_fits(params: dict[str, str], before: dict[str, str], expected: str) -> None:
    now = datetime.now(UTC)
    run, earlier = (PastRun("i", "n", now, None, "FINISHED", values) for values in (params, before))
    assert find_changes(run, earlier) == expected


def test_a_list_for_scripts_has_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert compass("list", "--count", "1", "--json") == 0
    [run] = json.loads(capsys.readouterr().out)
    assert (run["name"], run["params"], run["tags"]["dvc.experiment"]) == (
        "tiny seed=1",
        {"profile": "tiny", "seed": "1"},
        "brave-seed",
    )
    assert run["metrics"]["average/rl-1.low"] == 0.65


def test_runs_are_found_by_a_hash_of_their_data(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compass("list", "--json", "--data", dvc_md5(recorded / "data/evaluate")[:10])
    assert [run["name"] for run in json.loads(capsys.readouterr().out)] == ["tiny seed=1"]
    compass("list", "--json", "--data", "0000000000")
    assert json.loads(capsys.readouterr().out) == []


def test_two_runs_differ_in_settings_and_in_scores_by_a_paired_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert compass("compare", "tiny", "brave-seed") == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 100
    assert ["seed", "0", "1"] in [line.split() for line in text.splitlines()]
    row = next(line for line in text.splitlines() if line.startswith("rl-1"))
    assert "25.0 (15.0 to 35.0)" in row
    assert "75.0 (65.0 to 85.0)" in row
    assert "+50.0 (+" in row
    assert "evaluate" in text.partition("hours")[2]


def test_a_comparison_for_scripts_has_settings_metrics_and_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    assert compass("compare", "tiny seed=1", "tiny", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == [{"name": "seed", "a": "1", "b": "0"}]
    assert found["paired"]["rl-1"]["difference"] == pytest.approx(-0.5)
    assert found["metrics"]["average/rl-1"] == [0.75, 0.25]
    assert found["not_in_cache"] == []


def test_a_page_of_the_comparison_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compass("compare", "tiny", "tiny seed=1", "--html", str(tmp_path / "page")) == 0
    page = (tmp_path / "page/index.html").read_text()
    assert "tiny seed=1 against tiny" in page
    assert "They differ in one setting: seed is 0" in page


def test_without_the_responses_differences_are_not_paired(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = recorded / ".dvc/cache"
    kept.rename(tmp_path / "cache")
    try:
        assert compass("compare", "tiny", "tiny seed=1") == 0
        text = capsys.readouterr().out
        assert "+50.0, not paired" in text
        assert "DVC's cache lacks tiny: data/evaluate" in text
        assert compass("compare", "tiny", "tiny seed=1", "--html", str(tmp_path / "page")) == 1
        assert "DVC's cache lacks" in capsys.readouterr().err
    finally:
        (tmp_path / "cache").rename(kept)


def test_nothing_to_send_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert compass("sync") == 0
    assert capsys.readouterr().out == "0 records sent\n"


@pytest.mark.parametrize(
    ("words", "server", "message"),
    [
        (("compare", "nosuch", "tiny"), "", "no run is called 'nosuch'"),
        (("compare", "brave-seed", "tiny seed=1"), "", "are the same run"),
        (("list",), "http://127.0.0.1:9", "http://127.0.0.1:9 cannot be read: no connection"),
    ],
)
def test_a_word_or_a_server_without_runs_is_named(
    words: tuple[str, ...], server: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    if server:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", server)
    assert compass(*words) == 1
    assert message in capsys.readouterr().err
