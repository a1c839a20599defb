"""How many groups teach something, before a stage and while it runs."""

import pytest

from compass.rl.mixed_groups import (
    SaturatedError,
    UnfillableStageError,
    check_fillable,
    check_saturation,
    predict_mixed_share,
)


def test_a_coin_flip_is_almost_always_mixed() -> None:
    assert predict_mixed_share([0.5], group_size=8) == pytest.approx(1 - 2 * 0.5**8)


def test_the_share_is_the_mean_over_problems() -> None:
    # 1 - 0.5^2 - 0.5^2 = 0.5 and 1 - 0.2^2 - 0.8^2 = 0.32
    assert predict_mixed_share([0.5, 0.2], group_size=2) == pytest.approx((0.5 + 0.32) / 2)


@pytest.mark.parametrize("rate", [0.0, 1 / 64, 1 / 16, 15 / 16, 63 / 64, 1.0])
def test_a_solve_rate_is_taken_no_nearer_to_zero_and_one_than_a_sixteenth(rate: float) -> None:
    assert predict_mixed_share([rate], group_size=3) == pytest.approx(1 - (1 / 16) ** 3 - (15 / 16) ** 3)


def test_where_nothing_was_graded_nothing_speaks_against_the_stage() -> None:
    assert predict_mixed_share([], group_size=8) == 1.0


def test_a_stage_that_cannot_fill_a_batch_is_stopped_with_what_to_change() -> None:
    with pytest.raises(UnfillableStageError, match=r"rl-1.*5\.0%.*20 generated.*allows 10;.*curriculum\.mixes\.rl-1"):
        check_fillable("rl-1", share=0.05, max_generation_batches=10)


def test_a_stage_whose_batch_just_fills_is_let_through() -> None:
    check_fillable("rl-1", share=0.125, max_generation_batches=8)


def test_a_stage_without_any_mixed_group_has_a_message_as_well() -> None:
    with pytest.raises(UnfillableStageError, match=r"0\.0%.*about 1000000000 generated"):
        check_fillable("rl-1", share=0.0, max_generation_batches=8)


def test_an_iteration_may_throw_away_as_many_batches_as_the_settings_allow() -> None:
    check_saturation(3, {0.0: 8, 1.0: 4}, batch_size=4, max_generation_batches=3)


def test_without_dynamic_sampling_there_is_no_bound() -> None:
    check_saturation(3, {1.0: 1000}, batch_size=0, max_generation_batches=3)


@pytest.mark.parametrize(
    ("thrown_away", "message"),
    [
        (
            {0.0: 6, 1.0: 7},
            r"iteration 3 threw away 13 groups \(7 all right, 6 all wrong\).*batch of 4;.*too easy.*harder",
        ),
        ({0.0: 7, 1.0: 7}, "too easy.*give the stage harder levels"),
        ({0.0: 7, 1.0: 6}, r"\(6 all right, 7 all wrong\).*too hard.*give the stage easier levels"),
        ({0.0: 13}, "too hard"),
    ],
)
def test_a_saturated_iteration_says_which_way_the_levels_should_go(thrown_away: dict, message: str) -> None:
    with pytest.raises(SaturatedError, match=message):
        check_saturation(3, thrown_away, batch_size=4, max_generation_batches=3)
