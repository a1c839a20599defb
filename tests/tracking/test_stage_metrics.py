"""Metrics are few, and named for people who compare."""

from compass.tracking.stage_metrics import (
    PARENT_CURVES,
    curve_values,
    evaluate_metrics,
    headline,
    stage_metrics,
)

AVERAGE = {
    "accuracy": 0.5,
    "ci95": [0.4, 0.6],
    "greedy": 0.55,
    "truncated": 0.01,
    "pass@2": 0.6,
    "pass@16": 0.8,
    "maj@8": 0.58,
    "over_base": 0.2,
    "over_base_ci95": [0.1, 0.3],
    "clean": {"accuracy": 0.4},
}
SCORES = {
    "base": {"average": {"accuracy": 0.3, "ci95": [0.2, 0.4]}, "gsm8k": {"accuracy": 0.3}},
    "rl-1": {"average": AVERAGE, "gsm8k": {"accuracy": 0.5, "sd": {"problems": 0.1}}},
}


def test_a_stage_that_curates_has_its_rows_and_its_own_numbers() -> None:
    summary = {
        "stage": "dedup",
        "read": 9,
        "kept": 6,
        "dropped": {"near_duplicate": 2, "exact_duplicate": 1},
        "metrics": {
            "clusters": 5,
            "levels": {"1": 3},
            "name": "x",
            "graded": True,
            "rate": float("nan"),
            "most": float("inf"),
            "a,b": 2.0,
            "x" * 300: 1,
        },
    }
    assert stage_metrics("dedup", summary) == {
        "read": 9,
        "kept": 6,
        "dropped": 3,
        "dropped/near_duplicate": 2,
        "dropped/exact_duplicate": 1,
        "clusters": 5,
        "a_b": 2,
        "x" * 250: 1,
    }


def test_a_stage_that_does_not_curate_has_its_numbers_alone() -> None:
    summary = {
        "stage": "rl-1",
        "read": None,
        "kept": None,
        "dropped": None,
        "metrics": {"steps": 2, "ci95": [0.1, 0.2]},
    }
    assert stage_metrics("rl-1", summary) == {"steps": 2}


def test_scores_are_averages_with_intervals_benchmarks_and_the_largest_k() -> None:
    measured = evaluate_metrics(SCORES)
    assert measured == stage_metrics("evaluate", {"models": SCORES})
    assert measured == {
        **headline(SCORES),
        "accuracy/gsm8k/base": 0.3,
        "accuracy/gsm8k/rl-1": 0.5,
        "greedy/rl-1": 0.55,
        "truncated/rl-1": 0.01,
        "pass_at_16/rl-1": 0.8,
        "maj_at_8/rl-1": 0.58,
    }


def test_of_verls_hundred_metrics_those_that_say_how_training_goes_are_kept() -> None:
    row = {
        "step": 3,
        "sampled/reward": 0.25,
        "actor/entropy": None,
        "perf/mfu/actor": 0.4,
        "val-core/validation/acc/mean@4": 0.7,
    }
    assert curve_values(row) == {"train/reward": 0.25, "validation/accuracy": 0.7}
    assert set(PARENT_CURVES) >= {"train/reward"}
