"""A stale rollout policy stops the stage."""

import pytest

from compass.rl.policy_agreement import PolicyMismatchError, check_agreement

METRIC = "training/rollout_probs_diff_max"


@pytest.mark.parametrize("difference", [None, 0.02, 1e-4, float("nan")])
def test_disagreeing_or_unmeasured_probabilities_stop_the_stage(difference: float | None) -> None:
    with pytest.raises(PolicyMismatchError, match=f"iteration 3: .*{difference}.*allowed: 0.0001"):
        check_agreement(3, {METRIC: difference}, "float32")


@pytest.mark.parametrize("difference", [0.0, 9.9e-5])
def test_rounding_is_no_disagreement(difference: float) -> None:
    check_agreement(1, {METRIC: difference}, "float32")


def test_half_precision_cannot_tell_rounding_from_a_stale_policy() -> None:
    check_agreement(1, {METRIC: 0.5}, "bfloat16")
