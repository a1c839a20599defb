import sys
from dataclasses import replace
from itertools import product
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from compass.evaluation.paired import Paired, around, holm, holm_levels, mean_difference, sign_flip_p

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import sys
from pathlib import Path

from simulated_models import Truth, draw

from compass.evaluation.paired import (
    detectable,
    detectable_at_best,
    needed_problems,
    needed_samples,
    reach,
)


def paired(shares, other, samples=8, other_samples=None) -> Paired:
    count = len(shares)
    return Paired(
        np.array(shares, float),
        np.array(other, float),
        np.broadcast_to(samples, count),
        np.broadcast_to(other_samples or samples, count),
    )


def test_with_one_sample_the_test_is_mcnemars():
    one = paired([1] * 9 + [0] * 2 + [1] * 5, [0] * 9 + [1] * 2 + [1] * 5, samples=1)
    assert sign_flip_p([one], seed=0) == pytest.approx(binomtest(9, 11).pvalue)


@pytest.mark.parametrize("samples", [(4, 4), (4, 6)])
def test_the_exact_test_counts_every_sign(samples):
    generator = np.random.default_rng(3)
    ours, theirs = (generator.integers(0, k + 1, 9) / k for k in samples)
    one = paired(ours, theirs, *samples)
    seen = abs(one.differences.sum())
    sums = [abs(float(np.dot(signs, one.differences))) for signs in product((-1, 1), repeat=9)]
    assert sign_flip_p([one], seed=0) == pytest.approx(np.mean(np.array(sums) >= seen - 1e-12))


def test_drawn_signs_agree_with_the_exact_test():
    generator = np.random.default_rng(5)
    one = paired(generator.integers(0, 9, 40) / 8, generator.integers(0, 8, 40) / 8)
    exact = sign_flip_p([one], seed=0)
    twice = sign_flip_p([one, one], seed=0)  # the same problems twice have no lattice of one benchmark: signs are drawn
    alone = sign_flip_p([paired(one.shares, one.other, samples=8, other_samples=99_991)], seed=0)  # too fine a lattice
    assert alone == pytest.approx(exact, abs=0.02)
    assert twice < exact
    assert sign_flip_p([one, one], seed=0) == twice


def test_models_that_never_differ_have_p_1_and_an_interval_with_a_width():
    same = paired([0.5] * 30, [0.5] * 30)
    assert sign_flip_p([same], seed=0) == 1.0
    assert sign_flip_p([same, same], seed=0) == 1.0
    low, high = same.interval()
    assert low == pytest.approx(-high)
    assert 0.03 < high < 0.12


def test_the_interval_is_nearly_students_where_many_problems_differ():
    generator = np.random.default_rng(0)
    one = paired(generator.integers(0, 9, 400) / 8, generator.integers(0, 9, 400) / 8)
    low, high = one.interval()
    expected = ttest_1samp(one.differences, 0).confidence_interval(0.95)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-3)
    assert high - low > expected.high - expected.low


def test_with_one_sample_a_won_and_a_lost_problem_are_added():
    one = paired([1] * 3 + [0] * 17, [0] * 20, samples=1)
    spread = one.differences.var(ddof=1) + 2 / 20
    assert one.variance == pytest.approx(spread / 20)


def test_small_differences_add_small_problems():
    small = paired([0.625] * 15 + [0.5] * 15, [0.5] * 15 + [0.625] * 15)
    seen = (30 / 64 + 1) / 31
    size = seen + (1 - seen) * (3 / (30 * (1 - 0.5625))) ** 2
    assert small.variance == pytest.approx((small.differences.var(ddof=1) + 2 * size / 30) / 30)


@pytest.mark.parametrize("turn", [lambda share: share, lambda share: 1 - share])
def test_where_three_problems_are_solved_or_fewer_a_whole_one_is_added(turn):
    ours, theirs = (np.array([0.125] * 15 + [0.0] * 15)[::step] for step in (1, -1))
    sparse = paired(turn(ours), turn(theirs))
    assert sparse.variance == pytest.approx((sparse.differences.var(ddof=1) + 2 / 30) / 30)
    differences_of_differences = Paired(
        sparse.differences, np.zeros(30), sparse.samples, sparse.samples, are_shares=False
    )
    assert differences_of_differences.unseen == pytest.approx((30 / 64 + 1) / 31)


def test_one_problem_is_compared_with_a_wide_interval():
    low, high = paired([1.0], [0.0]).interval()
    assert low < 0
    assert high == 1


def test_the_variance_divides_into_samples_and_problems():
    one = paired([0.5, 0.25, 1.0], [0.5, 0.5, 0.0], samples=4)
    expected = (0.25 / 3 + 0.25 / 3 + 0.1875 / 3 + 0.25 / 3) / 9
    assert one.sampling_variance == pytest.approx(expected)
    assert one.problem_variance == pytest.approx(one.variance - expected)
    assert paired([1.0, 0.0], [0.0, 0.0], samples=1).sampling_variance is None
    assert paired([1.0, 0.0], [0.0, 0.0], samples=1).problem_variance is None
    assert paired([0.5] * 4, [0.5] * 4, samples=2).problem_variance >= 0


def test_the_sampling_part_is_what_other_seeds_move():
    """The same problems sampled 4,000 times: the variance of the difference is the mean of its estimates."""
    generator = np.random.default_rng(0)
    chances, others = generator.beta(1, 1, (2, 30))
    drawn = [paired(generator.binomial(8, chances) / 8, generator.binomial(4, others) / 4, 8, 4) for _ in range(4000)]
    seen = np.var([one.difference for one in drawn])
    assert np.mean([one.sampling_variance for one in drawn]) == pytest.approx(seen, rel=0.06)


def test_benchmarks_weigh_alike_in_the_mean():
    difference, variance, freedom = mean_difference([paired([1.0], [0.0]), paired([0.0] * 9, [0.0] * 9)])
    assert difference == 0.5
    assert variance == pytest.approx((paired([1.0], [0.0]).variance + paired([0.0] * 9, [0.0] * 9).variance) / 4)
    assert 2 <= freedom <= 10


def test_the_mean_over_equal_benchmarks_has_their_freedom_together():
    generator = np.random.default_rng(0)
    one = paired(generator.integers(0, 9, 30) / 8, generator.integers(0, 9, 30) / 8)
    difference, variance, freedom = mean_difference([one] * 4)
    assert difference == pytest.approx(one.difference)
    assert variance == pytest.approx(one.variance / 4)
    assert freedom == pytest.approx(4 * 29)


@pytest.mark.parametrize(
    ("chances", "corrected"), [([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]), ([0.5, 0.9], [1, 1]), ([], [])]
)
def test_holm(chances, corrected):
    assert holm(chances) == pytest.approx(corrected)


def test_holm_with_weights_passes_on_what_a_found_difference_leaves():
    corrected = holm([0.03, 0.02, 0.5], [0.8, 0.1, 0.1])
    assert corrected == pytest.approx([0.0375, 0.04, 0.5])
    assert holm_levels(corrected, [0.8, 0.1, 0.1]) == pytest.approx([0.05 * 8 / 9, 0.025, 0.05])


def test_problems_that_repeat_each_other_in_clusters_say_no_more_than_one_of_each():
    draw = np.random.default_rng(0)
    shares, other = draw.binomial(8, 0.5, 20) / 8, draw.binomial(8, 0.4, 20) / 8
    one = paired(shares, other)
    three = replace(paired(np.repeat(shares, 3), np.repeat(other, 3)), clusters=np.repeat(np.arange(20), 3))
    assert three.count == one.count == 20
    assert three.problems == 60
    assert three.interval() == pytest.approx(one.interval())
    assert sign_flip_p([three], seed=0) == pytest.approx(sign_flip_p([one], seed=0))
    assert detectable([three]) == pytest.approx(detectable([one]))
    assert needed_problems(three, 0.05) == pytest.approx(3 * needed_problems(one, 0.05), abs=3)
    alone = replace(three, clusters=None)
    assert np.ptp(alone.interval()) < 0.7 * np.ptp(three.interval())
    assert sign_flip_p([alone], seed=0) < sign_flip_p([three], seed=0)


def test_the_needed_samples_are_for_a_test_with_as_many_units_as_there_are_clusters():
    draw = np.random.default_rng(3)
    sides = draw.binomial(8, 0.6, 30) / 8, draw.binomial(8, 0.4, 30) / 8
    one = replace(paired(*sides), clusters=np.repeat(np.arange(10), 3))
    allowed = (0.4 / reach(9, 0.95)) ** 2 - one.problem_variance
    assert needed_samples(one, 0.4) == ceil(8 * one.sampling_variance / allowed)
    assert ceil(8 * one.sampling_variance / allowed) > ceil(
        8 * one.sampling_variance / ((0.4 / reach(29, 0.95)) ** 2 - one.problem_variance)
    )


def test_the_mean_difference_stays_that_of_problems_where_clusters_are_unequal():
    one = replace(paired([1, 1, 1, 0], [0, 0, 1, 1]), clusters=np.array([0, 0, 0, 1]))
    assert one.difference == pytest.approx(0.25)
    assert one.units == pytest.approx([1.0, -0.5])
    assert one.units.mean() == pytest.approx(one.difference)


@pytest.mark.parametrize("lengths", [(0, 0, 0, 0), (2, 3, 2, 2)])
def test_results_that_do_not_pair_are_refused(lengths):
    with pytest.raises(ValueError, match="as many entries"):
        Paired(*(np.ones(length) for length in lengths))


CASES = [
    Truth(15, accuracy=0.1, other=0.1, correlation=0.1, other_correlation=0.7),
    Truth(15, accuracy=0.95, other=0.98, correlation=0.6, other_correlation=0.6, alike=0.9),
    Truth(30, accuracy=0.02, other=0.1, correlation=0.6, other_correlation=0.6, alike=0.0),
    Truth(30, accuracy=0.2, other=0.4),
    Truth(30, samples=(1, 1), other_samples=(1, 1), accuracy=0.2, other=0.3),
    Truth(30, samples=(2, 5), other_samples=(4, 8), accuracy=0.1, other=0.1),
    Truth(30, samples=(16, 16), other_samples=(2, 2), accuracy=0.05, other=0.05),
    Truth(83, accuracy=0.5, other=0.6),
    Truth(83, accuracy=0.97, other=0.97, correlation=0.6, other_correlation=0.2),
    Truth(150, accuracy=0.5, other=0.5, clusters=(5,) * 30, within=0.9),
]


@pytest.mark.parametrize("truth", CASES, ids=str)
def test_intervals_of_differences_hold_the_truth_95_times_in_100(truth):
    """At 0.93 of 500 draws a coverage of 95% fails by chance once in 50: the seed is fixed."""
    generator = np.random.default_rng(1)
    difference = truth.accuracy - truth.other
    intervals = [draw(truth, generator).interval() for _ in range(500)]
    assert np.mean([low <= difference <= high for low, high in intervals]) >= 0.93


@pytest.mark.parametrize("truth", [case for case in CASES if case.accuracy == case.other], ids=str)
def test_a_difference_that_is_not_there_is_found_5_times_in_100_at_most(truth):
    assert found(truth, 400, seed=2) <= 0.07


def test_an_average_over_unequal_benchmarks_holds_its_level():
    generator = np.random.default_rng(4)
    truths = [
        Truth(30, accuracy=0.2, other=0.1),
        Truth(83, accuracy=0.5, other=0.5),
        Truth(200, accuracy=0.7, other=0.6),
    ]
    truth = np.mean([one.accuracy - one.other for one in truths])
    held = 0
    for _ in range(400):
        difference, variance, freedom = mean_difference([draw(one, generator) for one in truths])
        low, high = around(difference, variance, freedom, 0.95)
        held += low <= truth <= high
    assert 0.93 <= held / 400 <= 0.99


def test_one_differing_problem_over_several_benchmarks_shows_nothing():
    same = Paired(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([2, 2]), np.array([2, 2]))
    other = Paired(np.array([0.5, 1.0]), np.array([0.0, 1.0]), np.array([2, 2]), np.array([2, 2]))
    assert sign_flip_p([same, other], seed=0) == 1.0


def found(truth: Truth, repeats: int = 300, seed: int = 0) -> float:
    """How often a comparison calls the models different."""
    generator = np.random.default_rng(seed)
    calls = 0
    for _ in range(repeats):
        one = draw(truth, generator)
        low, high = one.interval()
        calls += sign_flip_p([one], seed=0) <= 0.05 and not low <= 0 <= high
    return calls / repeats


def typical(truth: Truth, seed: int = 9) -> list[Paired]:
    generator = np.random.default_rng(seed)
    return [draw(truth, generator) for _ in range(60)]


@pytest.mark.parametrize("problems", [30, 83])
@pytest.mark.parametrize("accuracy", [0.1, 0.5])
def test_a_difference_as_large_as_the_detectable_one_is_found_80_times_in_100(problems, accuracy):
    """`detectable` of simulated comparisons is taken as the true difference of others, which are then counted."""
    size = float(np.median([detectable([one]) for one in typical(Truth(problems, accuracy=accuracy, other=accuracy))]))
    power = found(Truth(problems, accuracy=accuracy + size, other=accuracy))
    assert 0.7 <= power <= 0.92


def test_the_needed_problems_show_the_difference():
    pilot = Truth(30, accuracy=0.45, other=0.38)
    count = int(np.median([needed_problems(one, 0.07) for one in typical(pilot)]))
    assert 60 < count < 300
    assert 0.72 <= found(pilot._replace(problems=count)) <= 0.92
    assert found(pilot) < 0.5


def test_the_needed_samples_show_the_difference():
    pilot = Truth(60, samples=(4, 4), other_samples=(4, 4), accuracy=0.5, other=0.4, correlation=0.3, alike=0.98)
    needs = [needed_samples(one, 0.1) for one in typical(pilot)]
    count = int(np.median([need for need in needs if need]))
    assert 4 < count < 40
    assert 0.7 <= found(pilot._replace(samples=(count, count), other_samples=(count, count))) <= 0.95


def test_more_samples_cannot_show_what_the_problems_hide():
    one = paired([1.0, 0.0] * 15, [0.0, 0.5] * 15, 8)
    limit = detectable_at_best(one)
    assert limit is not None
    assert needed_samples(one, limit * 0.9) is None
    assert needed_samples(one, limit * 1.1) is not None


def test_detectable_by_hand():
    # 29 degrees of freedom: 2.0452 for 5% two-sided, 0.8542 for 80%. At one half a difference adds no variance.
    one = paired([1.0, 0.5, 0.0] * 10, [0.5, 0.5, 0.5] * 10, 8)
    assert detectable([one]) == pytest.approx((2.0452 + 0.8542) * one.variance**0.5, abs=1e-4)
    assert detectable([paired([1.0], [0.0], 1)]) == 1.0


def test_a_weak_model_varies_more_when_it_gets_better():
    """At an accuracy of 0.1 the difference found lies above what the variance seen alone would give."""
    weak = paired([0.25, 0.0, 0.0, 0.25, 0.0] * 6, [0.0, 0.25, 0.0, 0.25, 0.0] * 6, 8)
    size = detectable([weak])
    seen = (0.1 * 30 + 1) / 32
    growth = (seen * (1 - seen) + (seen + size) * (1 - seen - size)) / (2 * seen * (1 - seen))
    assert growth > 1.2
    variance = weak.spread / 30 * growth + 2 * weak.unseen_at(0.1 + size / 2) / 30**2
    assert size == pytest.approx((2.0452 + 0.8542) * variance**0.5, abs=1e-4)


def test_benchmarks_together_show_less():
    one = paired([1.0, 0.5, 0.0] * 10, [0.5, 0.5, 0.5] * 10, 8)
    assert detectable([one] * 4) == pytest.approx(detectable([one]) / 2, rel=0.05)


def test_needs_are_left_open_where_nothing_is_known():
    one = paired([1.0, 0.0], [0.0, 0.0], 1)
    assert detectable_at_best(one) is None
    assert needed_samples(one, 0.1) is None
    assert needed_problems(one, 0.0) is None
    assert needed_problems(one, 1e-6) is None


def test_needs_fall_with_the_square_of_the_difference():
    one = paired([1.0, 0.25, 0.5, 0.5] * 10, [0.5, 0.5, 0.5, 0.25] * 10, 4)
    assert needed_problems(one, 0.05) == pytest.approx(4 * needed_problems(one, 0.1), rel=0.1)
