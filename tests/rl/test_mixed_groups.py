import pytest

from compass.rl.mixed_groups import UnfillableStageError, check_fillable, predict_mixed_share


def test_a_coin_flip_is_almost_always_mixed() -> None:
    assert predict_mixed_share([0.5], group_size=8) == pytest.approx(1 - 2 * 0.5**8)


def test_a_solve_rate_of_zero_or_one_is_taken_as_nearly_so() -> None:
    assert 0 < predict_mixed_share([0.0], group_size=8) < 0.5
    assert predict_mixed_share([0.0], group_size=8) == pytest.approx(predict_mixed_share([1.0], group_size=8))


def test_a_stage_that_cannot_fill_a_batch_is_stopped_with_what_to_change() -> None:
    check_fillable("rl-1", share=0.2, max_generation_batches=10)
    with pytest.raises(UnfillableStageError, match=r"rl-1.*5\.0%.*20 generated.*curriculum\.mixes\.rl-1"):
        check_fillable("rl-1", share=0.05, max_generation_batches=10)
