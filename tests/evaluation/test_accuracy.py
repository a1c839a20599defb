"""What k samples per problem say about a model, and how sure an accuracy is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import beta

from compass.evaluation.accuracy import (
    accuracy_interval,
    accuracy_sd,
    average_interval,
    fixed_interval,
    maj_at_k,
    number_votes,
    pass_at_k,
    reported_k,
    wilson,
)


def same(one: str, other: str) -> bool:
    return float(one) == float(other)


@pytest.mark.parametrize("right", range(7))
@pytest.mark.parametrize("k", range(1, 7))
def test_pass_at_k_is_the_share_of_subsets_with_a_right_sample(right, k):
    marks = [True] * right + [False] * (6 - right)
    subsets = [any(subset) for subset in combinations(marks, k)]
    assert pass_at_k(6, right, k) == pytest.approx(sum(subsets) / len(subsets))


@pytest.mark.parametrize(("samples", "right", "k"), [(4, 2, 5), (4, 5, 1), (4, 2, 0), (4, -1, 1)])
def test_pass_at_k_refuses_what_cannot_be_estimated(samples, right, k):
    with pytest.raises(ValueError, match="cannot be estimated"):
        pass_at_k(samples, right, k)


def test_pass_at_k_does_not_overflow():
    assert pass_at_k(1024, 1, 512) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("answers", "right", "expected"),
    [
        (["5", "5", "7"], "rrw", 1.0),
        (["5", "7", "7"], "rww", 0.0),
        (["5", "5", "7", "7.0", "07"], "rrwww", 0.0),  # equal, in other words
        (["5", "7"], "rw", 0.5),  # a tie is shared by chance
        (["5", "7", "8"], "rww", 1 / 3),
        ([None, None, "5"], "wwr", 1.0),  # no answer, no vote
        ([None, None], "ww", 0.0),
        (["7", "8", "7.0", "5", "5"], "wwwrr", 0.5),
        (["7", "8", "9", "5"], "wwwr", 0.25),
    ],
)
def test_maj_at_k_is_the_chance_that_the_most_frequent_answer_is_right(answers, right, expected):
    correct = [mark == "r" for mark in right]
    assert maj_at_k(correct, number_votes(answers, correct, same), len(correct)) == pytest.approx(expected)


@pytest.mark.parametrize(("samples", "expected"), [(1, []), (2, [2]), (6, [2, 4, 6]), (8, [2, 4, 8])])
def test_reported_k_ends_with_the_number_of_samples(samples, expected):
    assert reported_k(samples) == expected


def test_votes_number_the_wrong_answers_that_are_the_same():
    answers, correct = ["1.0", "7", None, "1", "5", "7.0"], [False, False, False, False, True, False]
    votes = number_votes(answers, correct, same)
    assert votes == [0, 1, None, 0, None, 1]
    # Groups of two: right and wrong tie, two wrong ones, and the fifth is left over.
    assert maj_at_k([True, False, False, False, True], [None, 0, 0, 1, None], 2) == pytest.approx(0.25)


def test_wilson_matches_the_published_example():
    # Newcombe 1998, Statistics in Medicine 17, table I: 81 of 263.
    assert wilson(81 / 263, 263, 1.959964) == pytest.approx((0.2553, 0.3662), abs=1e-4)


def test_an_accuracy_interval_is_wilsons_with_an_effective_number_of_trials():
    shares = [0.0, 0.5, 1.0, 0.25]
    smoothed = [*shares, 0.0, 1.0]
    mean = sum(smoothed) / 6
    variance = sum((share - mean) ** 2 for share in smoothed) / 5
    effective = mean * (1 - mean) * 4 / variance
    students_quantile = 3.182446  # 97.5%, 3 degrees of freedom
    expected = wilson(0.4375, max(effective, 4), students_quantile)
    assert accuracy_interval(shares, 8) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("shares", "samples", "trials", "quantile"),
    [
        ([0.5] * 5, 1, 5, 2.776445),  # problems that differ less than chance count as their samples, no more
        ([0.5] * 5, 2, 10, 2.776445),
        ([1.0, 1.0], 4, 2, 4.302653),  # 2 degrees of freedom at the least
        ([1.0, 0.0, 1.0], 4, 3, 4.302653),
    ],
)
def test_effective_trials_lie_between_problems_and_samples(shares, samples, trials, quantile):
    expected = wilson(sum(shares) / len(shares), trials, quantile)
    assert accuracy_interval(shares, samples) == pytest.approx(expected, abs=1e-5)


def test_near_the_edge_the_limit_towards_it_is_the_exact_one():
    one = [1.0] + [0.0] * 29
    low, high = accuracy_interval(one, 1)
    assert low == pytest.approx(1 - 0.95 ** (1 / 30))  # one solved of 30 in 5% of cases
    assert high == pytest.approx(wilson(1 / 30, 30, 2.045230)[1])


def test_limits_stay_between_0_and_1():
    assert wilson(0.0, 10, 2)[0] == 0
    assert wilson(1.0, 10, 2)[1] == 1
    assert average_interval([0.1, 0.9], [(-5, 0.1), (0.9, 6)]) == (0, 1)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_an_interval_at_the_edge_has_a_width_and_holds_the_estimate(share):
    low, high = accuracy_interval([share] * 60, 8)
    assert low <= share <= high
    assert 0.03 < high - low < 0.1


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_problems_that_repeat_each_other_in_a_cluster_leave_the_interval_as_it_is(share):
    shares = [share, *(np.random.default_rng(1).binomial(8, share, 29) / 8)]
    clusters = list(np.repeat(np.arange(30), 2))
    twice = list(np.repeat(shares, 2))
    assert accuracy_interval(twice, 8, clusters) == pytest.approx(accuracy_interval(shares, 8))
    assert accuracy_interval(twice, 8)[1] - accuracy_interval(twice, 8)[0] < np.diff(accuracy_interval(shares, 8))[0]
    assert accuracy_interval(shares, 8, list(range(30))) == pytest.approx(accuracy_interval(shares, 8))
    assert sum(part**2 for part in accuracy_sd(twice, [8] * 60, clusters)) == pytest.approx(
        max(np.var(shares, ddof=1) / 30, sum(s * (1 - s) for s in twice) / 7 / 60**2)
    )


def test_the_interval_changes_smoothly_away_from_the_edge():
    none = accuracy_interval([0.0] * 60, 8)
    one = accuracy_interval([0.125] + [0.0] * 59, 8)
    assert one[0] > none[0]
    assert one[1] == pytest.approx(none[1], abs=2e-3)


def test_the_interval_is_symmetric_in_right_and_wrong():
    shares = np.linspace(0, 0.5, 30)
    low, high = accuracy_interval(shares, 8)
    assert accuracy_interval(1 - shares, 8) == pytest.approx((1 - high, 1 - low))


def test_more_problems_narrow_the_interval_and_repeated_samples_that_agree_do_not():
    one, four = accuracy_interval([0, 1] * 30, 8), accuracy_interval([0, 1] * 120, 8)
    assert four[1] - four[0] < 0.6 * (one[1] - one[0])
    assert accuracy_interval([0, 1] * 30, 64) == pytest.approx(one)


@pytest.mark.parametrize("accuracy", [0.02, 0.05, 0.3, 0.95])
@pytest.mark.parametrize("correlation", [0.2, 0.6])
def test_95_percent_intervals_hold_the_truth_about_95_times_in_100(accuracy, correlation):
    generator = np.random.default_rng(0)
    spread = 1 / correlation - 1
    held = 0
    for _ in range(600):
        chances = generator.beta(accuracy * spread, (1 - accuracy) * spread, 30)
        low, high = accuracy_interval(generator.binomial(8, chances) / 8, 8)
        held += low <= accuracy <= high
    assert held / 600 > 0.93


def test_on_the_same_problems_all_samples_count():
    # None right of 30 x 32: Clopper and Pearson's limit for 960 trials, where other problems may be at 10%.
    assert fixed_interval([0.0] * 30, [32] * 30) == pytest.approx((0.0, 1 - 0.025 ** (1 / 960)))
    assert accuracy_interval([0.0] * 30, 32)[1] > 0.09
    assert fixed_interval([1.0] * 30, [32] * 30) == pytest.approx((0.025 ** (1 / 960), 1.0))
    low, high = fixed_interval([0.5] * 10, [8] * 10)  # alike problems: hardly more than a binomial of 80 trials says
    assert (low, high) == pytest.approx((beta.ppf(0.025, 40, 41), beta.ppf(0.975, 41, 40)))
    agree = fixed_interval([0.0] * 15 + [1.0] * 15, [32] * 30)  # samples agree: hardly anything is left
    assert agree[1] - agree[0] < 0.03
    other = accuracy_interval([0.0] * 15 + [1.0] * 15, 32)
    assert other[1] - other[0] > 0.3


def test_few_samples_are_taken_as_independent_trials():
    one = fixed_interval([0.0] * 15 + [1.0] * 15, [2] * 30)
    assert one == pytest.approx((beta.ppf(0.025, 30, 31), beta.ppf(0.975, 31, 30)))
    uneven = fixed_interval([0.5, 0.5], [1, 3])
    assert uneven == pytest.approx((beta.ppf(0.025, 1.5, 2.5), beta.ppf(0.975, 2.5, 1.5)))  # 3 trials: 4 / (1 + 1/3)


@pytest.mark.parametrize("accuracy", [0.02, 0.3, 0.9])
def test_the_interval_for_these_problems_holds_their_own_mean(accuracy):
    generator = np.random.default_rng(2)
    held = 0
    for _ in range(300):
        chances = generator.beta(accuracy, 1 - accuracy, 30)
        low, high = fixed_interval(generator.binomial(16, chances) / 16, [16] * 30)
        held += low <= chances.mean() <= high
    assert held / 300 >= 0.93


def test_no_problem_is_an_error():
    with pytest.raises(ValueError, match="at least one problem"):
        accuracy_interval([], 8)


def test_an_average_of_equal_benchmarks_is_narrower_by_the_root_of_their_number():
    assert average_interval([0.5] * 4, [(0.4, 0.6)] * 4) == pytest.approx((0.45, 0.55))


def test_an_average_at_the_edge_keeps_its_width():
    assert average_interval([0.0, 0.0], [(0.0, 0.06)] * 2) == pytest.approx((0.0, 0.06 / 2**0.5))


def test_the_spread_of_an_accuracy_divides_into_samples_and_problems():
    by_samples, by_problems = accuracy_sd([0.5, 0.25, 1.0], [4, 4, 8])
    assert by_samples == pytest.approx(((0.25 / 3 + 0.1875 / 3) / 9) ** 0.5)
    assert by_samples**2 + by_problems**2 == pytest.approx(np.var([0.5, 0.25, 1.0], ddof=1) / 3)
    assert accuracy_sd([0.5, 0.5, 0.5], [2, 2, 2])[1] == 0
    assert accuracy_sd([1.0, 0.0], [1, 4]) == (None, None)
    assert accuracy_sd([0.5], [4]) == (None, None)


@pytest.mark.parametrize("accuracy", [0.05, 0.5])
def test_intervals_hold_with_unequal_numbers_of_samples(accuracy):
    generator = np.random.default_rng(0)
    held = 0
    for _ in range(500):
        counts = generator.integers(1, 17, 30)
        chances = generator.beta(accuracy * 2, (1 - accuracy) * 2, 30)
        low, high = accuracy_interval(generator.binomial(counts, chances) / counts, counts.mean())
        held += low <= accuracy <= high
    assert held / 500 > 0.93
