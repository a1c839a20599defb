"""How many groups teach something, before a stage and while it runs."""

import random
import re
from dataclasses import replace

import pytest

from compass.rl.mixed_groups import MixedGroups, SaturatedError, cannot_fill, check_saturation, predict_mixed_groups


def predict(rates: list[float], group_size: int, rollouts: int = 64) -> MixedGroups:
    return predict_mixed_groups([(rate, rollouts) for rate in rates], group_size)


@pytest.mark.parametrize("rollouts", [8, 64])
@pytest.mark.parametrize(("rate", "group_size"), [(0.0, 2), (0.0, 8), (0.0, 16), (1.0, 8)])
def test_problems_that_nobody_or_everybody_solves_fill_no_batch(rate: float, rollouts: int, group_size: int) -> None:
    expected = predict([rate] * 200, group_size, rollouts)
    assert expected.share < 0.01
    assert (expected.unsolved, expected.solved) == ((200, 0) if rate == 0 else (0, 200))
    assert cannot_fill(expected, 10) is not None


@pytest.mark.parametrize(
    ("rates", "group_size", "rollouts", "share"),
    [
        ([0.5, 0.2], 2, 100_000, pytest.approx(((1 - 0.5**2 - 0.5**2) + (1 - 0.2**2 - 0.8**2)) / 2, abs=1e-3)),
        ([1 / 64] * 200, 8, 64, pytest.approx(1 - (63 / 64) ** 8, abs=0.02)),
    ],
)
def test_a_rate_is_taken_for_what_it_is(rates: list[float], group_size: int, rollouts: int, share: float) -> None:
    assert predict(rates, group_size, rollouts).share == share


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("rollouts", [8, 64])
def test_the_prediction_is_near_the_truth_of_problems_drawn_at_random(rate: float, rollouts: int) -> None:
    draw = random.Random(f"{rate} {rollouts}")
    truth = [draw.betavariate(2 * rate, 2 * (1 - rate)) for _ in range(2000)]
    graded = [sum(draw.random() < p for _ in range(rollouts)) / rollouts for p in truth]
    mixed = sum(1 - p**8 - (1 - p) ** 8 for p in truth) / len(truth)
    assert predict(graded, 8, rollouts).share == pytest.approx(mixed, abs=0.03)


def test_problems_chosen_by_their_rates_are_seen_among_all_that_were_graded() -> None:
    """As of a small model's problems: most it never solves, and one lucky rollout in eight brings a problem in."""
    draw = random.Random(0)
    truth = [draw.betavariate(0.12, 0.45) for _ in range(3000)]
    graded = [(sum(draw.random() < p for _ in range(8)) / 8, 8) for p in truth]
    chosen = [position for position, (rate, _) in enumerate(graded) if 0 < rate < 1]
    mixed = sum(1 - truth[n] ** 8 - (1 - truth[n]) ** 8 for n in chosen) / len(chosen)
    rates, others = [graded[n] for n in chosen], [one for one in graded if not 0 < one[0] < 1]
    assert predict_mixed_groups(rates, 8, others).share == pytest.approx(mixed, abs=0.03)
    assert predict_mixed_groups(rates, 8).share > mixed + 0.08, "alone they look better than they are"


def test_few_problems_have_a_wide_interval_and_many_a_narrow_one() -> None:
    few, many = predict([0.0, 0.5], 8, rollouts=8), predict([0.0, 0.5] * 200, 8, rollouts=8)
    assert few.low < many.low < many.share < many.high < few.high
    assert 0 <= few.low <= few.high <= 1


def test_a_batch_that_cannot_be_filled_is_told_with_its_numbers() -> None:
    expected = MixedGroups(share=0.05, low=0.04, high=0.06, problems=30, unsolved=20, solved=3)
    assert re.search(
        r"only 5\.0% of groups \(95% interval 4\.0% to 6\.0%\).*of its 30 graded problems no rollout solved 20, and every "
        r"rollout solved 3, so a batch needs about 20 generated batches and .* allows 10",
        cannot_fill(expected, 10) or "",
    )
    assert cannot_fill(expected, 20) is None
    assert "about 1000000000 generated" in (cannot_fill(replace(expected, share=0.0), 10) or "")


@pytest.mark.parametrize(("thrown_away", "batch_size"), [({0.0: 8, 1.0: 4}, 4), ({1.0: 1000}, 0)])
def test_an_iteration_may_throw_away_what_the_settings_allow(thrown_away: dict[float, int], batch_size: int) -> None:
    """Without dynamic sampling, whose batch size is 0, there is no bound."""
    check_saturation(3, thrown_away, batch_size=batch_size, max_generation_batches=3)


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
