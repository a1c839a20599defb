"""95% intervals of accuracies and of differences between models. Problems, not samples, are the independent units.

An accuracy's interval is Wilson's with an effective sample size, because neither the normal interval nor the bootstrap
says anything at 0% and 100%, and both miss the true value too often near them (docs/evaluation.md has the figures). An average over
benchmarks combines their intervals by MOVER. A difference is paired: the same problems, resampled together.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

Interval = tuple[float, float]

LEVEL = 0.95
"""Coverage of every interval."""


def accuracy_interval(shares: Sequence[float], samples: int) -> Interval:
    """The interval of a benchmark's accuracy.

    Wilson's score interval with n = p(1-p) / variance of the mean, between the number of problems (samples of a problem all
    agree) and problems x samples (they are independent). The variance over problems is estimated as if one solved and
    one unsolved problem had been seen too, so that it is never zero; the quantile is Student's.

    Args:
        shares: each problem's share of right samples, 0..1.
        samples: samples per problem.

    Raises:
        ValueError: no problem.
    """
    if not len(shares):
        raise ValueError("an accuracy needs at least one problem")
    seen = np.asarray(shares, dtype=float)
    problems = len(seen)
    smoothed = np.append(seen, (0.0, 1.0))
    centre = float(smoothed.mean())
    effective = centre * (1 - centre) * problems / float(smoothed.var(ddof=1))
    effective = min(max(effective, problems), problems * samples)
    return wilson(float(seen.mean()), effective, _quantile(problems))


def wilson(share: float, count: float, z: float) -> Interval:
    """Wilson's score interval of a share seen in `count` trials (Wilson 1927), for the normal quantile `z`."""
    scale = 1 + z * z / count
    middle = (share + z * z / (2 * count)) / scale
    half = z / scale * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def average_interval(values: Sequence[float], intervals: Sequence[Interval]) -> Interval:
    """The interval of the unweighted mean of independent benchmarks from each one's own.

    MOVER: the distances from estimate to limit add up in squares (Zou and Donner 2008, Statistics in Medicine 27).
    """
    count = len(values)
    mean = sum(values) / count
    below = sqrt(sum((value - low) ** 2 for value, (low, _) in zip(values, intervals, strict=True))) / count
    above = sqrt(sum((high - value) ** 2 for value, (_, high) in zip(values, intervals, strict=True))) / count
    return max(0.0, mean - below), min(1.0, mean + above)


def paired_difference(
    model: Sequence[Sequence[float]], base: Sequence[Sequence[float]], *, resamples: int, seed: int
) -> tuple[float, Interval]:
    """The mean difference of two models over benchmarks, with its interval.

    Stratified percentile bootstrap: each benchmark's problems are resampled, both models' results together. Two
    problems are added to each benchmark for the spread alone, one won and one lost, so that an interval has a width
    even where no problem differs.

    Args:
        model: for each benchmark each problem's share of right samples.
        base: the other model's, for the same problems in the same order.
        resamples: bootstrap resamples.
        seed: of the resampling.

    Returns:
        The unweighted mean over benchmarks of (model - base), -1..1, and its interval.
    """
    generator = np.random.default_rng(seed)
    means, resampled = [], np.zeros(resamples)
    for ours, theirs in zip(model, base, strict=True):
        differences = np.subtract(ours, theirs)
        smoothed = np.append(differences, (1.0, -1.0))
        count = len(smoothed)
        weights = generator.multinomial(count, np.full(count, 1 / count), size=resamples)
        resampled += (weights @ smoothed) / count - smoothed.mean()
        means.append(differences.mean())
    mean = float(np.mean(means))
    low, high = np.quantile(resampled / len(means), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return mean, (max(-1.0, mean + float(low)), min(1.0, mean + float(high)))


def _quantile(problems: int) -> float:
    """Student's quantile for a mean of so many problems; the smallest number of degrees of freedom is 2."""
    from scipy.stats import t

    return float(t.ppf((1 + LEVEL) / 2, max(problems - 1, 2)))
