import sys
from pathlib import Path

import numpy as np
import pytest

from compass.evaluation.paired import (
    Paired,
    detectable,
    detectable_at_best,
    needed_problems,
    needed_samples,
    sign_flip_p,
)

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from simulated_models import Truth, draw


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


def paired(shares, other, samples) -> Paired:
    return Paired(
        np.array(shares, float), np.array(other, float), np.full(len(shares), samples), np.full(len(other), samples)
    )


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
    assert size == pytest.approx((2.0452 + 0.8542) * (weak.variance * growth) ** 0.5, abs=1e-4)


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
    assert needed_problems(one, 0.05) == pytest.approx(4 * needed_problems(one, 0.1), abs=4)
