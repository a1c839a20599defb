"""Results are read from the files that the stages write."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.ledger import Counts
from compass.records import RecordError
from compass.report.results import Results, read_results
from tests.report.conftest import write_json


def test_a_repository_in_which_nothing_ran_has_no_results(tmp_path: Path) -> None:
    assert read_results(tmp_path) == Results()


def test_stages_stand_in_the_order_of_the_pipeline_and_rl_stages_in_that_of_training(tmp_path: Path) -> None:
    for stage in ("report", "hard", "base", "easy", "collect", "unscored", "left_behind", "grade"):
        write_json(tmp_path / "metrics" / f"{stage}.json", {"metrics": {}})
    scores = {model: {"average": {"accuracy": 0.5}} for model in ("base", "easy", "hard")}
    write_json(tmp_path / "metrics" / "evaluate.json", {"models": scores})
    for stage in ("unscored", "hard", "easy"):
        (tmp_path / "data" / stage).mkdir(parents=True)
        rewards = pa.table({"step": [1], "reward": [1.0], "response_tokens": [3], "used": [True]})
        pq.write_table(rewards, tmp_path / "data" / stage / "rewards.parquet")
    results = read_results(tmp_path, ["easy", "hard", "unscored", "not_yet_run"])
    assert results.scores == scores
    assert results.summaries["base"] == {"metrics": {}}
    assert list(results.summaries) == ["collect", "base", "grade", "easy", "hard", "unscored", "report"]
    assert list(results.curves) == ["easy", "hard", "unscored"]
    scored = read_results(tmp_path)
    assert list(scored.summaries) == ["collect", "base", "grade", "easy", "hard", "report"]
    assert list(scored.curves) == ["easy", "hard"]


def test_rows_are_counted_from_the_data(pipeline: tuple[Path, list[str]]) -> None:
    results = read_results(pipeline[0].parent)
    assert results.counts[0] == Counts("collect", 6, {"missing_answer": 1})
    assert results.planted is None


def test_a_curve_has_the_means_of_every_step(tmp_path: Path) -> None:
    (tmp_path / "data" / "rl-1").mkdir(parents=True)
    rewards = {
        "step": [2, 1, 1, 2],
        "reward": [1.0, -1.0, 0.0, 1.0],
        "response_tokens": [20, 10, 20, 41],
        "used": [True, True, False, True],
    }
    pq.write_table(pa.table(rewards), tmp_path / "data" / "rl-1" / "rewards.parquet")
    assert read_results(tmp_path, ["rl-1", "rl-2", "rl-3"]).curves == {
        "rl-1": {
            "step": [1.0, 2.0],
            "reward": [-0.5, 1.0],
            "accuracy": [0.0, 1.0],  # a reward of 0 is no right response
            "response_tokens": [15.0, 30.5],
            "left_out": [0.5, 0.0],
        }
    }


def test_verls_own_curves_and_the_guards_findings_are_read_where_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "rl-1"
    folder.mkdir(parents=True)
    pq.write_table(
        pa.table({"step": [1, 2], "reward": [1.0, 1.0], "response_tokens": [3, 3], "used": [True, True]}),
        folder / "rewards.parquet",
    )
    columns = (
        "step,actor/entropy,actor/grad_norm,guards/loop_share,guards/response_length,reward/leaned,reward/new,val-a"
    )
    rows = "2,0.25,,0.0,9.0,0.5,,0.2\n1,0.5,3.0,0.0,8.0,0.0,1,0.1\n"
    (folder / "steps.csv").write_text(f"{columns}\n{rows}", encoding="utf-8")
    write_json(folder / "guards.json", [{"step": 2, "guard": "loops", "level": "warn", "message": "m", "samples": ""}])
    results = read_results(tmp_path, ["rl-1"])
    assert results.curves["rl-1"]["entropy"] == [0.5, 0.25]
    # an iteration lacks it, it is 0 throughout, another curve shows it, an iteration lacks it
    others = {"grad_norm", "guards/loop_share", "guards/response_length", "reward/new"}
    assert not others & results.curves["rl-1"].keys()
    assert results.curves["rl-1"]["reward/leaned"] == [0.0, 0.5]
    assert results.curves["rl-1"]["val-a"] == [0.1, 0.2]
    assert results.findings["rl-1"][0]["guard"] == "loops"


def test_broken_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "data" / "rl-1").mkdir(parents=True)
    pq.write_table(pa.table({"step": [1]}), tmp_path / "data" / "rl-1" / "rewards.parquet")
    with pytest.raises(RecordError, match=r"rl-1/rewards\.parquet: not the rewards that an RL stage writes"):
        read_results(tmp_path, ["rl-1"])
    assert read_results(tmp_path, ["warm"]).curves == {}  # what stages of other names left behind is not shown
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "dedup.json").write_text("{")
    with pytest.raises(RecordError, match=r"dedup\.json: not JSON .*; delete it and run its stage again"):
        read_results(tmp_path)


def test_an_average_over_one_benchmark_is_none() -> None:
    score = {"accuracy": 0.5}
    assert Results(scores={"base": {"amc": score, "average": score}}).benchmarks == ["amc"]
    assert Results(scores={"base": {"amc": score, "aime": score, "average": score}}).benchmarks == [
        "average",
        "amc",
        "aime",
    ]
    assert Results(scores={"base": {"amc": score, "aime": score}}).benchmarks == ["amc", "aime"]
