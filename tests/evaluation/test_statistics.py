import numpy as np
import pytest

from compass.evaluation.statistics import accuracy_interval, average_interval, paired_difference, wilson


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
        ([1.0], 4, 1, 4.302653),  # 2 degrees of freedom at the least
        ([1.0, 0.0, 1.0], 4, 3, 4.302653),
    ],
)
def test_effective_trials_lie_between_problems_and_samples(shares, samples, trials, quantile):
    expected = wilson(sum(shares) / len(shares), trials, quantile)
    assert accuracy_interval(shares, samples) == pytest.approx(expected, abs=1e-5)


def test_limits_stay_between_0_and_1():
    assert wilson(0.0, 10, 2)[0] == 0
    assert wilson(1.0, 10, 2)[1] == 1
    assert average_interval([0.1, 0.9], [(-5, 0.1), (0.9, 6)]) == (0, 1)
    assert paired_difference([[1.0] * 9], [[0.0] * 9], resamples=50, seed=0)[1][1] == 1
    assert paired_difference([[0.0] * 9], [[1.0] * 9], resamples=50, seed=0)[1][0] == -1


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_an_interval_at_the_edge_has_a_width_and_holds_the_estimate(share):
    low, high = accuracy_interval([share] * 60, 8)
    assert low <= share <= high
    assert 0.03 < high - low < 0.1


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


def test_no_problem_is_an_error():
    with pytest.raises(ValueError, match="at least one problem"):
        accuracy_interval([], 8)


def test_an_average_of_equal_benchmarks_is_narrower_by_the_root_of_their_number():
    assert average_interval([0.5] * 4, [(0.4, 0.6)] * 4) == pytest.approx((0.45, 0.55))


def test_an_average_at_the_edge_keeps_its_width():
    assert average_interval([0.0, 0.0], [(0.0, 0.06)] * 2) == pytest.approx((0.0, 0.06 / 2**0.5))


def test_a_paired_difference_is_tighter_than_two_intervals_apart():
    generator = np.random.default_rng(0)
    base = generator.uniform(0, 0.8, 60)
    gain, (low, high) = paired_difference([base + 0.1], [base], resamples=2000, seed=0)
    alone = accuracy_interval(base, 8)
    assert gain == pytest.approx(0.1)
    assert 0 < low < 0.1 < high
    assert high - low < alone[1] - alone[0]


def test_benchmarks_weigh_alike_in_a_difference():
    gain, _ = paired_difference([[1.0], [0.0] * 9], [[0.0], [0.0] * 9], resamples=10, seed=0)
    assert gain == 0.5


def test_an_interval_of_a_difference_holds_95_percent_of_the_resampled_means():
    """With one problem won and one lost for the spread, n problems alike have a resampled mean of known deviation."""
    count = 98
    gain, (low, high) = paired_difference([[0.0] * count], [[0.0] * count], resamples=20_000, seed=0)
    deviation = (2 / (count + 2)) ** 0.5 / (count + 2) ** 0.5
    assert gain == 0
    assert (high - low) / (2 * 1.96) == pytest.approx(deviation, rel=0.1)
    assert low == pytest.approx(-high, rel=0.01)
    _, (low, high) = paired_difference([[0.0] * count] * 4, [[0.0] * count] * 4, resamples=20_000, seed=0)
    assert (high - low) / (2 * 1.96) == pytest.approx(deviation / 2, rel=0.05)


def test_a_difference_of_nothing_still_has_a_width():
    gain, (low, high) = paired_difference([[0.0] * 60], [[0.0] * 60], resamples=2000, seed=0)
    assert gain == 0
    assert low < 0 < high


def test_a_difference_holds_the_truth_about_95_times_in_100():
    generator = np.random.default_rng(0)
    held = 0
    for seed in range(300):
        chances = generator.beta(1, 3, (2, 40))
        base = generator.binomial(8, chances) / 8
        model = generator.binomial(8, np.minimum(chances + 0.1 * (chances < 0.9), 1)) / 8
        truth = float(np.mean(0.1 * (chances < 0.9)))
        _, (low, high) = paired_difference(list(model), list(base), resamples=400, seed=seed)
        held += low <= truth <= high
    assert held / 300 > 0.92


def test_a_difference_is_the_same_for_the_same_seed():
    arguments = ([[0.5, 0.2, 0.9]], [[0.1, 0.3, 0.2]])
    assert paired_difference(*arguments, resamples=500, seed=3) == paired_difference(*arguments, resamples=500, seed=3)
