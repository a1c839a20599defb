"""The stages grade and evaluate on a few problems with random models and the real engine."""

import json

import pyarrow.parquet as pq
import pytest

from compass.ledger import LEDGER
from compass.records import RECORD, read_records, table, write_records
from compass.settings import Settings, load_settings
from stages import evaluate, grade

pytestmark = pytest.mark.slow


@pytest.fixture
def settings() -> Settings:
    from pathlib import Path

    found = load_settings(Path(__file__).parents[2] / "profiles/tiny.yaml")
    sampling = found.grade.sampling.model_copy(update={"max_tokens": 12, "max_model_len": 128, "batch": 10})
    return found.model_copy(
        update={
            "grade": found.grade.model_copy(update={"rollouts": 2, "sampling": sampling, "max_problems": 20}),
            "evaluate": found.evaluate.model_copy(
                update={"models": ["base", "rl-1"], "samples": 2, "sampling": sampling, "max_problems": 4}
            ),
        }
    )


def records(source: str, count: int) -> list[dict]:
    return [
        {"id": f"{source}-{number}", "source": source, "problem": f"What is {number} + 1?", "answer": str(number + 1)}
        for number in range(count)
    ]


def test_grade_fills_levels_and_writes_every_rollout(random_model, settings, tmp_path):
    random_model(tmp_path / "base", 0)
    write_records(tmp_path / "kept.parquet", table(records("train", 24)))
    settings = settings.model_copy(
        update={"grade": settings.grade.model_copy(update={"model": str(tmp_path / "base")})}
    )
    summary = grade.run(settings, tmp_path / "kept.parquet", tmp_path / "grade", tmp_path / "work")
    kept = read_records(tmp_path / "grade/kept.parquet")
    assert kept.schema.equals(RECORD)
    assert kept.num_rows == summary.counts.read == summary.counts.kept == 24
    assert kept.column("level").null_count == 4
    assert kept.column("n_rollouts").drop_null().unique().to_pylist() == [2]
    assert pq.read_table(tmp_path / "grade/dropped.parquet").schema.equals(LEDGER)
    rollouts = pq.read_table(tmp_path / "grade/rollouts.parquet")
    assert rollouts.num_rows == 40
    assert set(rollouts.column_names) >= {"id", "sample", "answer", "correct", "tokens", "finish_reason", "response"}
    assert list((tmp_path / "work").rglob("part-*.parquet"))


def test_evaluate_scores_every_model_on_every_benchmark(random_model, settings, tmp_path, capfd):
    names = [source.name for source in settings.collect.benchmarks]
    for model, seed in (("base", 0), ("rl-1", 1)):
        random_model(tmp_path / "models" / model, seed)
    write_records(tmp_path / "benchmarks.parquet", table([row for name in names for row in records(name, 6)]))
    folders = (tmp_path / name for name in ("benchmarks.parquet", "models", "evaluate", "plots", "work"))
    summary = evaluate.run(settings, *folders)
    models = summary.metrics["models"]
    assert list(models) == ["base", "rl-1"]
    for scored in models.values():
        assert list(scored) == [*names, "average"]
        for score in scored.values():
            assert 0 <= score["ci95"][0] <= score["accuracy"] <= score["ci95"][1] <= 1
            assert score["samples"] == 2
        assert scored[names[0]]["problems"] == 4
    json.dumps(summary.metrics, allow_nan=False)
    samples = pq.read_table(tmp_path / "evaluate/samples.parquet")
    assert samples.num_rows == 2 * len(names) * 4 * 3
    assert len(json.loads((tmp_path / "plots/accuracy.json").read_text())) == 2 * (len(names) + 1) * 3
    printed = capfd.readouterr().out
    assert "evaluate: base " in printed
    assert "evaluate: rl-1 " in printed


def test_evaluate_samples_the_two_models_that_decide_in_rounds(random_model, settings, tmp_path, capfd):
    for model, seed in (("base", 0), ("rl-1", 1), ("rl-2", 2)):
        random_model(tmp_path / "models" / model, seed)
    rounds = {"models": ["base", "rl-1", "rl-2"], "until": "verdict", "at_most": 4, "greedy": False}
    settings = settings.model_copy(
        update={
            "evaluate": settings.evaluate.model_copy(update=rounds),
            "report": settings.report.model_copy(update={"primary": ["rl-1", "base"]}),
        }
    )
    names = [source.name for source in settings.collect.benchmarks]
    write_records(tmp_path / "benchmarks.parquet", table([row for name in names for row in records(name, 6)]))
    folders = (tmp_path / name for name in ("benchmarks.parquet", "models", "evaluate", "plots", "work"))
    models = evaluate.run(settings, *folders).metrics["models"]
    assert {name: own["average"]["samples"] for name, own in models.items()} == {"base": 4, "rl-1": 4, "rl-2": 2}
    found = json.loads((tmp_path / "evaluate/comparisons.json").read_text())
    assert found["primary"] == found["looks"]["pair"] == ["rl-1", "base"]
    assert [one["samples"] for one in found["looks"]["made"]] == [2, 4]
    assert "evaluate: look 2 at rl-1 against base: 4 of at most 4 samples" in capfd.readouterr().out
