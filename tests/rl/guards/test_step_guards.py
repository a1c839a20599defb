"""The guards that look at every iteration, on metrics as verl gives them."""

import math
import re
from pathlib import Path
from typing import Any

import pytest

from compass.rl.guards.step_guards import FINITE, STEP_GUARDS, Facts
from compass.rl.rollouts import ROLLOUTS
from compass.settings.guards import Guards

GUARDS = {guard.name: guard for guard in STEP_GUARDS}
LIMITS = Guards().model_dump()
HEALTHY = {
    "actor/entropy": 0.07,
    "actor/grad_norm": 0.6,
    "actor/loss": -0.006,
    "actor/pg_loss": -0.006,
    "training/rollout_probs_diff_max": 1e-5,
    "training/rollout_probs_diff_mean": 4e-7,
    "guards/response_length": 26.0,
    "guards/cut_off_share": 0.03,
    "guards/loop_share": 0.0,
    "guards/zero_signal_share": 0.3,
    "reward/distinct_right": 0.4,
}
# measured in rl-1 of the tiny profile, seed 0
ENTROPY = "252 142 102 91 80 94 73 67 72 77 69 71 71 68 62 65 60 59 64 55"
GRADIENT = "919 846 842 651 365 452 623 596 514 739 462 914 472 539 468 619 478 622 450 848"
TOKENS = "151 188 223 273 250 263 254 235 259 286 245 218 259 254 272 262 269 262 264 250"
TINY = [
    {"actor/entropy": int(e) / 1000, "actor/grad_norm": int(g) / 1000, "guards/response_length": int(t) / 10}
    for e, g, t in zip(ENTROPY.split(), GRADIENT.split(), TOKENS.split(), strict=True)
]


def find(name: str, earlier: int = 5, device: str = "cpu", dtype: str = "float32", **changed: Any) -> str | None:
    metrics = {**HEALTHY, **changed}
    return GUARDS[name].find(Facts(metrics, [HEALTHY] * earlier, device, dtype), LIMITS[name])


def test_a_healthy_iteration_fires_none() -> None:
    assert {name: find(name) for name in GUARDS} == dict.fromkeys(GUARDS)


def test_the_tiny_profile_fires_none() -> None:
    rows = [{**HEALTHY, **measured} for measured in TINY]
    for step, row in enumerate(rows):
        facts = Facts(row, rows[:step], "cpu", "float32")
        assert [name for name, guard in GUARDS.items() if guard.find(facts, LIMITS[name])] == [], step


@pytest.mark.parametrize("metric", FINITE)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_fires(metric: str, value: float) -> None:
    assert metric in (find("not_finite", **{metric: value}) or "")
    both = find("not_finite", **{"actor/pg_loss": math.inf, metric: value}) or ""
    assert metric in both
    assert "actor/pg_loss" in both


@pytest.mark.parametrize(
    ("device", "dtype", "metric", "bound"),
    [
        ("cpu", "float32", "training/rollout_probs_diff_max", 1e-4),
        ("cuda", "float32", "training/rollout_probs_diff_mean", 1e-3),
        ("cpu", "bfloat16", "training/rollout_probs_diff_mean", 0.01),
        ("cuda", "bfloat16", "training/rollout_probs_diff_mean", 0.01),
    ],
)
def test_every_device_and_type_has_its_bound_of_disagreement(
    device: str, dtype: str, metric: str, bound: float
) -> None:
    def at(value: float | None, **limits: Any) -> str | None:
        facts = Facts({**HEALTHY, metric: value}, [], device, dtype)
        return GUARDS["agreement"].find(facts, {"limit": None, **limits})

    assert at(bound * 0.99) is None
    assert re.search(rf"{bound:.2g} \(allowed in {dtype}: {bound:g}\)", at(bound) or "")
    assert at(math.nan) is not None  # verl's, where no token was valid
    assert "did not measure" in (at(None) or "")
    assert at(bound * 2, limit=bound * 3) is None
    assert at(bound * 0.99, limit=bound / 2) is not None


def test_a_large_difference_of_one_token_is_rounding_in_half_precision() -> None:
    assert find("agreement", dtype="bfloat16", **{"training/rollout_probs_diff_max": 0.4}) is None
    assert find("agreement", dtype="float32", **{"training/rollout_probs_diff_max": 0.4}) is not None


@pytest.mark.parametrize(
    ("name", "metric", "just", "beyond", "compared"),
    [
        ("gradient_spike", "actor/grad_norm", 6.0, 6.6, True),
        ("entropy_collapse", "actor/entropy", 0.0211, 0.0170, True),
        ("response_length", "guards/response_length", 52.0, 60.0, True),
        ("cut_off", "guards/cut_off_share", 0.5, 0.51, False),
        ("loops", "guards/loop_share", 0.2, 0.25, False),
        ("zero_signal", "guards/zero_signal_share", 0.9, 0.95, False),
    ],
)
def test_a_guard_fires_beyond_its_limit_and_compares_with_at_least_five_iterations(
    name: str, metric: str, just: float, beyond: float, compared: bool
) -> None:
    assert find(name, **{metric: just}) is None
    assert f"{beyond:.2g}" in find(name, **{metric: beyond}) or f"{beyond:.0%}" in find(name, **{metric: beyond})
    assert (find(name, earlier=4, **{metric: beyond}) is None) is compared


def test_the_first_gradient_after_iterations_without_one_is_no_spike() -> None:
    still = {**HEALTHY, "actor/grad_norm": 0.0}
    facts = Facts({**HEALTHY, "actor/grad_norm": 0.31}, [still] * 6, "cpu", "float32")
    assert GUARDS["gradient_spike"].find(facts, LIMITS["gradient_spike"]) is None


@pytest.mark.parametrize(
    ("name", "metric", "earlier"), [("entropy_collapse", "actor/entropy", 0), ("narrowing", "reward/distinct_right", 4)]
)
def test_a_fall_is_measured_from_where_the_first_stage_began(name: str, metric: str, earlier: int) -> None:
    fallen = {**HEALTHY, metric: 0.29}
    later = Facts(fallen, [fallen] * earlier, "cpu", "float32", {metric: 1.0})
    assert "29% of what the first RL stage began with (1)" in (GUARDS[name].find(later, LIMITS[name]) or "")
    assert GUARDS[name].find(Facts(fallen, [fallen] * 5, "cpu", "float32"), LIMITS[name]) is None


def test_how_far_right_responses_differ_is_taken_over_five_iterations() -> None:
    def narrows(*values: float | None) -> str | None:
        *earlier, now = [{"reward/distinct_right": value} if value is not None else {} for value in values]
        return GUARDS["narrowing"].find(Facts(now, earlier, "cpu", "float32"), LIMITS["narrowing"])

    began = [0.4] * 5
    assert narrows(*began, 0.1, 0.1) is None  # two of the last five
    assert narrows(*began, 0.1, 0.1, 0.1) == (
        "the share of different texts among a group's right responses (0: all are the same, 1: no two are) is 0.1, "
        "25% of what the stage began with (0.4)"
    )
    assert narrows(*began, 0.1, 0.1, 0.1, 0.1) is None  # it was said
    assert narrows(*began, 0.1, 0.1, None) is None  # no group had two right ones
    assert narrows(*began[:4], 0.0) is None


def test_a_fall_is_warned_of_once_and_stops_whenever_it_is_seen() -> None:
    low, beginning = {**HEALTHY, "actor/entropy": 0.01}, {"actor/entropy": 0.07}
    facts = Facts(low, [HEALTHY, low], "cpu", "float32", beginning)
    assert GUARDS["entropy_collapse"].find(facts, {"level": "warn", "limit": 0.3}) is None
    assert GUARDS["entropy_collapse"].find(facts, {"level": "stop", "limit": 0.3}) is not None
    again = Facts(low, [low, HEALTHY], "cpu", "float32", beginning)
    assert GUARDS["entropy_collapse"].find(again, {"level": "warn", "limit": 0.3}) is not None


def test_every_guard_has_its_setting_its_words_and_a_column_for_its_samples() -> None:
    columns = {*ROLLOUTS.names, "advantage_size"}
    assert set(GUARDS) <= set(Guards.model_fields)
    assert all(guard.worst in columns and guard.remedy and guard.why for guard in STEP_GUARDS)


def test_the_page_lists_every_guard_as_it_is() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/rl.md").read_text()
    lines = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    rows = {cells[0].strip("`"): cells for cells in lines}
    assert set(Guards.model_fields) <= set(rows)
    for guard in STEP_GUARDS:
        assert rows[guard.name][1] == guard.watches
        assert rows[guard.name][3] == guard.why
    assert [name for name in LIMITS if not rows[name][2].startswith(LIMITS[name]["level"])] == []
