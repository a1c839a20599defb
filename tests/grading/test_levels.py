from collections import Counter
from typing import get_args

import pytest

from compass.grading.grade import SolveRate, assign_levels, quantile_levels, threshold_level
from compass.settings import Grade


def rates(*found: float, tokens: float = 10) -> dict[str, SolveRate]:
    return {f"p{number:03d}": SolveRate(8, rate, tokens) for number, rate in enumerate(found)}


def test_quantiles_put_the_highest_solve_rates_in_level_1():
    found = quantile_levels(rates(0.9, 0.1, 0.5, 0.7, 0.3))
    assert found == {"p000": 1, "p003": 2, "p002": 3, "p004": 4, "p001": 5}


@pytest.mark.parametrize("count", [5, 7, 99, 100])
def test_quantiles_have_sizes_that_differ_by_one_at_most(count):
    sizes = Counter(quantile_levels(rates(*[0.0] * count)).values())
    assert sorted(sizes) == [1, 2, 3, 4, 5]
    assert max(sizes.values()) - min(sizes.values()) <= 1


def test_within_a_solve_rate_longer_responses_are_harder():
    found = quantile_levels({f"p{tokens}": SolveRate(8, 0.0, tokens) for tokens in (50, 10, 40, 20, 30)})
    assert found == {"p10": 1, "p20": 2, "p30": 3, "p40": 4, "p50": 5}


def test_levels_do_not_depend_on_the_order_of_problems():
    found = rates(*[0.125 * (number % 4) for number in range(50)])
    assert quantile_levels(dict(reversed(found.items()))) == quantile_levels(found)


def test_a_level_is_never_easier_in_solve_rate_than_the_one_below():
    found = rates(*[(number * 7 % 9) / 8 for number in range(200)])
    by_level = {}
    for name, level in quantile_levels(found).items():
        by_level.setdefault(level, []).append(found[name].rate)
    assert all(min(by_level[level]) >= max(by_level[level + 1]) for level in range(1, 5))


@pytest.mark.parametrize(
    ("rate", "level"), [(1.0, 1), (0.8, 1), (0.79, 2), (0.6, 2), (0.4, 3), (0.2, 4), (0.1, 5), (0, 5)]
)
def test_thresholds_are_the_lowest_solve_rates_of_their_levels(rate, level):
    assert threshold_level(rate, [0.8, 0.6, 0.4, 0.2]) == level


def test_the_settings_choose_the_rule():
    found = rates(1.0, 1.0, 1.0, 1.0, 1.0)
    assert set(assign_levels(found, Grade(levels="thresholds")).values()) == {1}
    assert set(assign_levels(found, Grade(levels="quantiles")).values()) == {1, 2, 3, 4, 5}


def test_every_rule_that_the_settings_name_gives_levels_of_its_own():
    found = rates(1.0, 1.0, 1.0, 0.9, 0.5, 0.3, 0.3)
    rules = get_args(Grade.model_fields["levels"].annotation)
    levels = {rule: tuple(assign_levels(found, Grade(levels=rule)).values()) for rule in rules}
    assert len(set(levels.values())) == len(rules), levels


def test_nothing_graded_has_no_levels():
    assert quantile_levels({}) == {}
