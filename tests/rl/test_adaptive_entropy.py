"""The entropy coefficient that follows a target, by hand."""

import pytest

from compass.rl.adaptive_entropy import COEFFICIENT, applied_coefficient, move_coefficient

LOSS = {"entropy_coef": 0.02, "entropy_target": 0.3, "entropy_step": 0.01, "entropy_coef_max": 0.035}


def test_the_coefficient_rises_below_the_target_and_falls_elsewhere_within_its_bounds() -> None:
    found: list[tuple[float, float]] = []
    history: list[dict[str, float]] = []
    for entropy in (0.2, 0.1, 0.29, 0.3, 0.5, 0.4, 0.4, 0.2):
        metrics = {"actor/entropy": entropy, COEFFICIENT: move_coefficient(history, entropy, LOSS)}
        history.append(metrics)
        found.append((metrics[COEFFICIENT], applied_coefficient(metrics, LOSS["entropy_target"])))
    expected = [0.03, 0.035, 0.035, 0.025, 0.015, 0.005, 0.0, 0.01]
    assert [coefficient for coefficient, _ in found] == pytest.approx(expected)
    # from the target upwards nothing raises entropy
    assert [applied for _, applied in found] == pytest.approx([0.03, 0.035, 0.035, 0, 0, 0, 0, 0.01])


def test_an_iteration_after_some_without_an_update_begins_with_the_setting() -> None:
    assert move_coefficient([{"step": 1.0}], 0.1, LOSS) == pytest.approx(0.03)
