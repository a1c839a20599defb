import pytest

from compass.rl.checks import (
    CANARIES,
    PolicyMismatchError,
    UnfillableStageError,
    check_agreement,
    check_fillable,
    predict_mixed_share,
)
from compass.rl.reward import compute_score


def test_a_coin_flip_is_almost_always_mixed() -> None:
    assert predict_mixed_share([0.5], group_size=8) == pytest.approx(1 - 2 * 0.5**8)


def test_a_solve_rate_of_zero_or_one_is_taken_as_nearly_so() -> None:
    assert 0 < predict_mixed_share([0.0], group_size=8) < 0.5
    assert predict_mixed_share([0.0], group_size=8) == pytest.approx(predict_mixed_share([1.0], group_size=8))


def test_a_stage_that_cannot_fill_a_batch_is_stopped_with_what_to_change() -> None:
    check_fillable("rl-1", share=0.2, max_generation_batches=10)
    with pytest.raises(UnfillableStageError, match=r"rl-1.*5\.0%.*20 generated.*curriculum\.mixes\.rl-1"):
        check_fillable("rl-1", share=0.05, max_generation_batches=10)


def test_the_reward_function_passes_its_canaries() -> None:
    for response, gold, reward in CANARIES:
        assert compute_score("canary", response, gold, {"id": "x"})["score"] == reward, response


def test_the_problem_id_travels_with_the_reward() -> None:
    result = compute_score("tiny", r"\boxed{12}", "12", {"id": "abc"})
    assert (result["score"], result["acc"], result["problem_id"]) == (1.0, 1.0, "abc")


@pytest.mark.parametrize("found", [None, 0.02, float("nan")])
def test_disagreeing_or_unmeasured_probabilities_stop_the_stage(found: float | None) -> None:
    with pytest.raises(PolicyMismatchError, match="iteration 3"):
        check_agreement(3, {"training/rollout_probs_diff_max": found}, "float32")


def test_agreeing_probabilities_pass() -> None:
    check_agreement(1, {"training/rollout_probs_diff_max": 1e-6}, "float32")
