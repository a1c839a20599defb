"""How often a problem turns from solved to unsolved without any change of the model."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from compass.report.tallies import Tally


@pytest.mark.parametrize(("samples", "right"), [(8, 0), (8, 3), (8, 4), (8, 8), (7, 2), (2, 1), (4, 1)])
def test_turns_are_counted_over_all_ways_to_halve_the_samples(samples: int, right: int) -> None:
    marks, half = [True] * right + [False] * (samples - right), samples // 2
    turns, ways = 0, 0
    for first in combinations(range(samples), half):
        rest = [place for place in range(samples) if place not in first]
        for second in combinations(rest, half):
            ways += 1
            turns += 2 * sum(marks[place] for place in first) >= half > 2 * sum(marks[place] for place in second)
    assert Tally(samples=samples, right=right).turns_by_chance == pytest.approx(turns / ways)


@pytest.mark.parametrize("rate", [0.1, 0.4, 0.8])
def test_they_are_on_average_those_of_a_model_that_is_sampled_twice_with_half_as_many(rate: float) -> None:
    draw = np.random.default_rng(7)
    first, second = draw.binomial(4, rate, (2, 100_000))
    told = np.mean([Tally(samples=8, right=int(right)).turns_by_chance for right in draw.binomial(8, rate, 5_000)])
    assert told == pytest.approx(np.mean((first >= 2) & (second < 2)), abs=0.015)


def test_what_was_not_sampled_turns_nowhere() -> None:
    assert Tally(greedy=True).turns_by_chance == Tally(samples=1, right=1).turns_by_chance == 0.0
