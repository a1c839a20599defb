"""What a comparison could have shown: the smallest difference it can detect, and the problems or samples a difference needs.

The size of a comparison decides what "no difference was found" means. All figures are for a two-sided test of 5% that finds
the difference in 80 of 100 repetitions, with the variances that the comparison itself showed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

from compass.evaluation.paired import LEVEL, Paired, mean_difference, student

POWER = 0.8
"""The chance that a difference as large as `detectable` is found."""

MOST = 1_000_000
"""A need above this is not written: the variances seen do not carry so far."""


STEPS = 50
"""Steps of the iteration, which settles after a few."""


def reach(freedom: float) -> float:
    """Standard errors between no difference and one that is found in 80 of 100 repetitions."""
    return student(freedom, LEVEL) + student(freedom, 2 * POWER - 1)


def detectable(each: Sequence[Paired]) -> float:
    """The smallest difference, 0..1, of the mean over benchmarks that is found in 80 of 100 repetitions.

    A difference changes the variance that it must stand out of: accuracies nearer to one half vary more. A benchmark's variance counts as that of
    two models of which one has the mean accuracy seen and the other lies the difference nearer to one half.
    """
    _, _, freedom = mean_difference(each)
    return _smallest([(one.variance, one) for one in each], freedom)


def detectable_at_best(paired: Paired) -> float | None:
    """What the same problems could show with any number of samples; None where each has one sample."""
    left = paired.problem_variance
    return None if left is None else _smallest([(left, paired)], paired.problems - 1)


def _smallest(parts: Sequence[tuple[float, Paired]], freedom: float) -> float:
    """The difference that is `reach` standard errors, the errors being those at that difference."""
    size = 0.0
    for _ in range(STEPS):
        variance = sum(variance * _growth(paired, size) for variance, paired in parts) / len(parts) ** 2
        size = min(1.0, reach(freedom) * sqrt(variance))
    return size


def _growth(paired: Paired, size: float) -> float:
    """How much larger the variance is where one of two alike models is moved by `size` towards one half; 1 at least."""
    right = float(paired.shares.mean() + paired.other.mean()) / 2
    seen = (right * paired.problems + 1) / (paired.problems + 2)  # as if one more were solved and one not: never 0 or 1
    moved = min(min(seen, 1 - seen) + size, 0.5)
    return (seen * (1 - seen) + moved * (1 - moved)) / (2 * seen * (1 - seen))


def needed_problems(paired: Paired, difference: float) -> int | None:
    """How many such problems, with the samples they have, would show `difference`; None for 0 and beyond a million."""
    if not difference:
        return None
    count = paired.problems * paired.variance * (reach(paired.problems - 1) / difference) ** 2
    return ceil(count) if count <= MOST else None


def needed_samples(paired: Paired, difference: float) -> int | None:
    """How many samples per problem would show `difference` on these problems; None where no number does, or with one sample.

    More samples shrink the sampling variance alone; what the problems contribute stays.
    """
    sampling, left = paired.sampling_variance, paired.problem_variance
    if sampling is None or left is None or not difference:
        return None
    allowed = (difference / reach(paired.problems - 1)) ** 2 - left
    if allowed <= 0:
        return None
    now = 2 / (1 / paired.samples.mean() + 1 / paired.other_samples.mean())
    count = now * sampling / allowed
    return max(1, ceil(count)) if count <= MOST else None
