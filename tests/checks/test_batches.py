"""What the last run's outputs say about RL stages, as long as the settings before them are the same."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from compass.checks.before_run import find_problems
from compass.records import RECORD, record_id, write_records

Repository = Callable[..., Path]


def verified(root: Path, rates: list[float], rollouts: int = 4) -> None:
    """Write verified rows with these solve rates, in five levels, and a dvc.lock that says that the present settings made them."""
    rows = [
        {
            "id": record_id("mine", str(n)),
            "source": "mine",
            "source_id": str(n),
            "problem": f"What is {n} and {n}?",
            "answer": str(2 * n),
            "level": 1 + n * 5 // len(rates),
            "solve_rate": rate,
            "n_rollouts": rollouts,
        }
        for n, rate in enumerate(rates)
    ]
    (root / "data/verify").mkdir(parents=True, exist_ok=True)
    write_records(root / "data/verify/kept.parquet", pa.Table.from_pylist(rows, RECORD))
    tree = yaml.safe_load((root / "params.yaml").read_text())
    lock = {
        stage: {"params": {"params.yaml": {stage: tree[stage]}}}
        for stage in ("collect", "dedup", "denoise", "base", "grade", "verify")
    }
    (root / "dvc.lock").write_text(yaml.safe_dump({"stages": lock}))


def test_a_batch_that_the_last_runs_problems_cannot_fill_is_told(repository: Repository) -> None:
    root = repository({"rl.rollout.dynamic_sampling": False})
    verified(root, [0.5] * 10)
    (problem,) = find_problems(root)
    assert problem.where.startswith("rl.")
    assert "the last run's problems give it 6 problems, fewer than a batch of 8" in problem.found
    verified(root, [0.5] * 40)
    assert find_problems(root) == []


def test_outputs_of_other_settings_say_nothing(repository: Repository) -> None:
    root = repository({"rl.rollout.dynamic_sampling": False})
    verified(root, [0.5] * 10)
    text = (root / "params.yaml").read_text()
    (root / "params.yaml").write_text(text.replace("threshold: 0.8", "threshold: 0.9"))
    assert find_problems(root) == []


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, True),
        ({"rl.rollout.dynamic_sampling": False}, False),
        ({"rl.guards": {"mixed_groups": {"level": "warn"}}}, False),
    ],
)
def test_a_stage_that_would_refuse_to_start_is_told(repository: Repository, changed: dict, told: bool) -> None:
    root = repository({"grade.rollouts": 64, **changed})
    verified(root, [0.0] * 40, rollouts=64)
    found = find_problems(root)
    assert [problem.where for problem in found] == (["rl.stages.rl-1.rollout"] if told else [])
    if told:
        assert "of 24 graded problems no rollout solved 24" in found[0].found
