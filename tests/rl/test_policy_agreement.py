import pytest

from compass.rl.policy_agreement import PolicyMismatchError, check_agreement


@pytest.mark.parametrize("found", [None, 0.02, float("nan")])
def test_disagreeing_or_unmeasured_probabilities_stop_the_stage(found: float | None) -> None:
    with pytest.raises(PolicyMismatchError, match="iteration 3"):
        check_agreement(3, {"training/rollout_probs_diff_max": found}, "float32")


def test_agreeing_probabilities_pass() -> None:
    check_agreement(1, {"training/rollout_probs_diff_max": 1e-6}, "float32")
