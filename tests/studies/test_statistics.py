"""Which arm is better: Student's interval over seeds by hand, verdicts, and what a study of a size can find."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from compass.studies.statistics import compare_arms, count_needed_seeds, decide, find_power

PLAIN = {0: 0.70, 1: 0.74, 2: 0.72}


def against(*differences: float, smallest: float = 0.03, planned: int = 3):
    other = {seed: PLAIN.get(seed, 0.7) + one for seed, one in enumerate(differences)}
    [found] = compare_arms(
        {"plain": {seed: PLAIN.get(seed, 0.7) for seed in other}, "other": other}, smallest=smallest, planned=planned
    )
    return found


def test_the_interval_and_p_are_students_over_seeds() -> None:
    found = against(0.02, 0.05, 0.04)
    expected = ttest_1samp(found.differences, 0)
    assert found.seeds == (0, 1, 2)
    assert found.differences == pytest.approx((0.02, 0.05, 0.04))
    assert found.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert found.p == pytest.approx(expected.pvalue)


def test_arms_are_paired_by_seed_and_runs_that_are_missing_are_left_out() -> None:
    [found] = compare_arms({"plain": PLAIN, "other": {2: 0.73, 1: 0.78, 7: 0.9}}, smallest=0.03, planned=3)
    assert found.seeds == (1, 2)
    assert found.differences == pytest.approx((0.04, 0.01))


@pytest.mark.parametrize(
    ("differences", "verdict", "said"),
    [
        (
            (0.06, 0.07, 0.08),
            "better",
            "better by 7.0 points (+4.5 to +9.5), at least the smallest difference of interest",
        ),
        ((-0.06, -0.07, -0.05), "worse", "worse by 6.0 points (-8.5 to -3.5), at least the smallest"),
        ((0.010, 0.011, 0.012), "better", "less than the smallest difference of interest"),
        ((0.02, 0.04, 0.03), "better", "perhaps less than the smallest difference of interest"),
        ((0.01, -0.01, 0.002), "tied", "tied: +0.1 points, and the 90% interval lies within ±3"),
        ((0.06, -0.05, 0.03), "too few seeds", "too few seeds: about "),
        ((0.05,), "too few seeds", "1 seed has a run of both arms, and an interval needs two"),
        ((), "too few seeds", "no seed has a run of both arms"),
        ((0.0, 0.0, 0.0), "too few seeds", "a setting that changes nothing gives equal ones"),
    ],
)
def test_the_verdict(differences: tuple[float, ...], verdict: str, said: str) -> None:
    found = against(*differences)
    assert found.verdict == verdict
    assert said in found.words


def test_seeds_that_would_find_the_smallest_difference_are_not_called_too_few() -> None:
    assert decide(0.2, 0.02, (-0.01, 0.05), 0.03, enough=True) == "cannot tell"
    assert decide(0.2, 0.02, (-0.01, 0.05), 0.03, enough=False) == "too few seeds"


def test_p_is_corrected_for_the_number_of_arms() -> None:
    both = {0: 0.72, 1: 0.79, 2: 0.76}
    alone = compare_arms({"plain": PLAIN, "a": both}, smallest=0.03, planned=3)[0]
    first, second = compare_arms({"plain": PLAIN, "a": both, "b": both}, smallest=0.03, planned=3)
    assert first.p == second.p == pytest.approx(2 * alone.p)
    assert first.interval == alone.interval
    assert first.power < alone.power


def test_power_is_the_share_of_simulated_studies_that_find_the_difference() -> None:
    drawn = np.random.default_rng(0).normal(0.03, 0.03, (4000, 5))
    found = np.mean([ttest_1samp(one, 0).pvalue <= 0.05 for one in drawn])
    assert find_power(5, 0.03, 0.03) == pytest.approx(found, abs=0.03)
    assert find_power(1, 0.03, 0.03) == 0.0


def test_the_needed_seeds_are_the_fewest_with_that_power() -> None:
    needed = count_needed_seeds(0.03, 0.03)
    assert needed == 10  # as tables of the paired t-test have it for an effect of one standard deviation
    assert find_power(needed, 0.03, 0.03) >= 0.8 > find_power(needed - 1, 0.03, 0.03)
    assert count_needed_seeds(0.5, 0.001) is None
