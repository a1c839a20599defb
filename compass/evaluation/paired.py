"""Two models on the same problems: the difference of their accuracies, how sure it is, and what the comparison could have shown.

Problems are the independent units, so everything rests on one number per problem: the difference of two shares of right
samples. Where problems share a stem or a template, their clusters are the units: variances are cluster-robust, signs flip for whole clusters
(Miller 2024, arXiv 2411.00640, section 2.2). Student's t on these differences fails where most of them are 0 (docs/reference/evaluation.md has the figures): a win that no
problem happened to show is missing from their variance. Hence the variance is estimated as if one more problem were won and one
more lost, each by as much as the problems that differ, or by a whole problem where few are solved or few unsolved. With one sample per
problem this is Bonett and Price's interval (2012, Journal of Educational and Behavioral Statistics 37), centred on the estimate.

The size of a comparison decides what "no difference was found" means: the smallest difference it can detect, and the problems or
samples a difference needs. These figures are for a two-sided test of 5% that finds the difference in 80 of 100 repetitions (of 1 - `level`
where several tests share the 5%), with the variances that the comparison itself showed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, gcd, lcm, sqrt

import numpy as np

LEVEL = 0.95
"""Coverage of every interval."""

FEW = 3
"""Problems solved (or unsolved) up to which one more is taken to be solved wholly or not at all."""

LARGEST_LATTICE = 20_000_000
"""Additions up to which the exact test is computed; beyond, signs are drawn."""

DRAWN_SIGNS = 9_999
"""Draws of the test where it is not exact."""


@dataclass(frozen=True)
class Paired:
    """One benchmark's problems that two models answered; `difference` is the first model's accuracy less the second's."""

    shares: np.ndarray
    """First model: each problem's share of right samples, 0..1."""
    other: np.ndarray
    """Second model, the same problems in the same order."""
    samples: np.ndarray
    """First model: samples per problem."""
    other_samples: np.ndarray
    """Second model: samples per problem."""
    are_shares: bool = True
    """False where the two sides are differences themselves, -1..1."""
    clusters: np.ndarray | None = None
    """Each problem's cluster, a number from 0: problems with the same number share a stem or a template. None: every problem stands alone."""

    def __post_init__(self) -> None:
        lengths = {len(self.shares), len(self.other), len(self.samples), len(self.other_samples)}
        if lengths == {0} or len(lengths) > 1:
            raise ValueError(f"paired results need as many entries for both models, one at least; found {lengths}")

    @property
    def problems(self) -> int:
        """How many problems both models answered."""
        return len(self.shares)

    @property
    def differences(self) -> np.ndarray:
        """Each problem's difference, -1..1."""
        return self.shares - self.other

    @property
    def difference(self) -> float:
        """The mean difference, -1..1."""
        return float(self.differences.mean())

    @property
    def units(self) -> np.ndarray:
        """The independent parts of the mean difference, whose mean it is: the problems' differences, or those of whole clusters.

        A cluster's part is the sum over its problems, divided by the mean size of a cluster: variances of such parts are cluster-robust ones.
        """
        if self.clusters is None:
            return self.differences
        sums = np.bincount(self.clusters, weights=self.differences)
        return sums * (len(sums) / self.problems)

    @property
    def count(self) -> int:
        """How many independent units there are: problems, or clusters of them."""
        return self.problems if self.clusters is None else int(self.clusters.max()) + 1

    @property
    def variance(self) -> float:
        """Variance of the mean difference, never 0.

        As if one more unit were won and one more lost.
        """
        return (self.spread + 2 * self.unseen / self.count) / self.count

    @property
    def spread(self) -> float:
        """Variance of the units' differences."""
        return float(self.units.var(ddof=1)) if self.count > 1 else 0.0

    @property
    def unseen(self) -> float:
        """Squared size of the problem that is won or lost beside those that were seen.

        The mean square of the differences that are not 0, one of size 1 among them. Where few problems are solved (or unsolved), one model may solve a
        few surely that were not drawn while the other solves many rarely: their differences are small, and say nothing of one of size
        1. Kinds of problems of which none of n was seen may still be 3 / n of all (the rule of three), so the size becomes 1 where the
        two models solve 3 problems on average, or fewer, and the more they solve, the less.
        """
        return self.unseen_at(float(self.shares.mean() + self.other.mean()) / 2)

    def unseen_at(self, right: float) -> float:
        """`unseen`, were the mean accuracy of both models `right`."""
        seen = self.units
        size = (float(seen @ seen) + 1) / (np.count_nonzero(seen) + 1)
        if not self.are_shares:
            return size
        rarer = max(self.count * min(right, 1 - right), FEW)
        return size + (1 - size) * (FEW / rarer) ** 2

    @property
    def sampling_variance(self) -> float | None:
        """The part of the mean difference's variance that other seeds on the same problems would show; None with one sample.

        The unbiased variance of a share of k samples is share (1 - share) / (k - 1).
        """
        if min(self.samples.min(), self.other_samples.min()) < 2:
            return None
        ours = self.shares * (1 - self.shares) / (self.samples - 1)
        theirs = self.other * (1 - self.other) / (self.other_samples - 1)
        return float((ours + theirs).sum()) / self.problems**2

    @property
    def problem_variance(self) -> float | None:
        """The part that is left with any number of samples, because other problems would give another difference."""
        sampling = self.sampling_variance
        return None if sampling is None else max(self.variance - sampling, 0.0)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """The mean difference's interval: Student's with `variance`."""
        return around(self.difference, self.variance, self.count - 1, level)


def around(middle: float, variance: float, freedom: float, level: float) -> tuple[float, float]:
    """Student's interval of a difference, -1..1; degrees of freedom are 2 at the least."""
    half = student(freedom, level) * sqrt(variance)
    return max(-1.0, middle - half), min(1.0, middle + half)


def student(freedom: float, level: float) -> float:
    """Student's two-sided quantile; degrees of freedom are 2 at the least."""
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, max(freedom, 2)))


def mean_difference(each: Sequence[Paired]) -> tuple[float, float, float]:
    """The unweighted mean over benchmarks: difference, variance, and degrees of freedom (Welch and Satterthwaite)."""
    parts = [one.variance / len(each) ** 2 for one in each]
    spread = sum(part**2 / max(one.count - 1, 2) for part, one in zip(parts, each, strict=True))
    return sum(one.difference for one in each) / len(each), sum(parts), sum(parts) ** 2 / spread


def sign_flip_p(each: Sequence[Paired], *, seed: int) -> float:
    """Two-sided p of "the models are alike": how often random signs of the problems' differences give as large a mean.

    Exact where models are exchangeable on a problem; with one sample per problem it is McNemar's exact test. One benchmark's
    differences are multiples of one fraction, so the distribution over all signs is summed exactly. For
    the mean over several benchmarks, and where the fraction is too fine, 9,999 signs are drawn.

    Args:
        each: benchmarks, which weigh alike.
        seed: of the drawn signs.
    """
    if len(each) == 1 and (steps := _lattice(each[0])) is not None:
        return _exact_p(steps)
    from scipy.stats import permutation_test

    weighted = np.concatenate([one.units / one.count for one in each])
    weighted = weighted[weighted != 0]
    if len(weighted) < 2:  # of one difference either sign is as large
        return 1.0
    found = permutation_test(
        (weighted,),
        lambda values, axis: values.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=DRAWN_SIGNS,
        batch=1_000,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def _lattice(paired: Paired) -> np.ndarray | None:
    """The differences as whole multiples of their common fraction; None where that is too fine, or where they are no shares of samples."""
    whole = lcm(*{int(count) for counts in (paired.samples, paired.other_samples) for count in counts})
    if whole > LARGEST_LATTICE:
        return None
    exact = paired.units * (whole * paired.problems / paired.count)
    steps = np.rint(exact).astype(np.int64)
    if not np.allclose(exact, steps, atol=1e-6):  # pass@k with k below the samples, a majority that ties
        return None
    steps = np.abs(steps[steps != 0]) * np.sign(steps[steps != 0])
    if len(steps):
        steps //= gcd(*(int(step) for step in steps))
    return steps if np.abs(steps).sum() * max(len(steps), 1) <= LARGEST_LATTICE else None


def _exact_p(steps: np.ndarray) -> float:
    """Share of all assignments of signs whose sum is as far from 0 as that of `steps`."""
    reach = int(np.abs(steps).sum())
    chances = np.zeros(2 * reach + 1)
    chances[reach] = 1.0
    for step in np.abs(steps):
        moved = np.zeros_like(chances)
        moved[step:] += chances[:-step] / 2
        moved[:-step] += chances[step:] / 2
        chances = moved
    distance = np.abs(np.arange(-reach, reach + 1))
    return min(1.0, float(chances[distance >= abs(int(steps.sum()))].sum()))


def holm(chances: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """p-values corrected for their number (Holm 1979): the chance of any false "better" among them stays below the level.

    Args:
        chances: the p-values.
        weights: how much of the level each gets at first, in any unit; alike without them (Holm's section on weights).
    """
    shares = list(weights) if weights is not None else [1.0] * len(chances)
    order = sorted(range(len(chances)), key=lambda index: chances[index] / shares[index])
    corrected, highest, left = [0.0] * len(chances), 0.0, sum(shares)
    for index in order:
        highest = max(highest, min(1.0, chances[index] * left / shares[index]))
        corrected[index] = highest
        left -= shares[index]
    return corrected


def holm_levels(corrected: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The level at which each test was made, given what else was found: its share of 5% among the tests that found nothing."""
    alpha = 1 - LEVEL
    left = sum(weight for chance, weight in zip(corrected, weights, strict=True) if chance > alpha)
    return [
        alpha * weight / (left + (weight if chance <= alpha else 0.0))
        for chance, weight in zip(corrected, weights, strict=True)
    ]


POWER = 0.8
"""The chance that a difference as large as `detectable` is found."""

MOST = 1_000_000
"""A need above this is not written: the variances seen do not carry so far."""


STEPS = 50
"""Steps of the iteration, which settles after a few."""


def reach(freedom: float, level: float) -> float:
    """Standard errors between no difference and one that a test at 1 - `level` finds in 80 of 100 repetitions."""
    return student(freedom, level) + student(freedom, 2 * POWER - 1)


def detectable(each: Sequence[Paired], level: float = LEVEL) -> float:
    """The smallest difference, 0..1, of the mean over benchmarks that is found in 80 of 100 repetitions.

    A difference changes the variance that it must stand out of: accuracies nearer to one half vary more. A benchmark's variance counts as that of
    two models of which one has the mean accuracy seen and the other lies the difference nearer to one half.
    """
    _, _, freedom = mean_difference(each)
    return _smallest([(one.variance, one) for one in each], freedom, level)


def detectable_at_best(paired: Paired, level: float = LEVEL) -> float | None:
    """What the same problems could show with any number of samples; None where each has one sample."""
    left = paired.problem_variance
    return None if left is None else _smallest([(left, paired)], paired.count - 1, level)


def _smallest(parts: Sequence[tuple[float, Paired]], freedom: float, level: float) -> float:
    """The difference that is `reach` standard errors, the errors being those at that difference."""
    size = 0.0
    for _ in range(STEPS):
        variance = sum(_variance_at(variance, paired, size) for variance, paired in parts) / len(parts) ** 2
        size = min(1.0, reach(freedom, level) * sqrt(variance))
    return size


def _variance_at(variance: float, paired: Paired, size: float) -> float:
    """What `variance` would be at a difference of `size`: what was seen grows, and with more problems solved less is unseen."""
    right = float(paired.shares.mean() + paired.other.mean()) / 2
    nearer = min(right + size / 2, 0.5) if right < 0.5 else max(right - size / 2, 0.5)
    before, after = (2 * unseen / paired.count**2 for unseen in (paired.unseen, paired.unseen_at(nearer)))
    return max(variance - before, 0.0) * _growth(paired, size) + after


def _growth(paired: Paired, size: float) -> float:
    """How much larger the variance is where one of two alike models is moved by `size` towards one half; 1 at least."""
    right = float(paired.shares.mean() + paired.other.mean()) / 2
    seen = (right * paired.count + 1) / (paired.count + 2)  # as if one more were solved and one not: never 0 or 1
    moved = min(min(seen, 1 - seen) + size, 0.5)
    return (seen * (1 - seen) + moved * (1 - moved)) / (2 * seen * (1 - seen))


def needed_problems(paired: Paired, difference: float, level: float = LEVEL) -> int | None:
    """How many such problems, with the samples they have, would show `difference`; None for 0 and beyond a million.

    The n at which `variance`, (spread + 2 unseen / n) / n, is as small as needed; clusters of the size seen.
    """
    if not difference:
        return None
    ratio = (reach(paired.count - 1, level) / difference) ** 2
    own = paired.spread * ratio
    count = (own + sqrt(own**2 + 8 * paired.unseen * ratio)) / 2 * paired.problems / paired.count
    return ceil(count) if count <= MOST else None


def needed_samples(paired: Paired, difference: float, level: float = LEVEL) -> int | None:
    """How many samples per problem would show `difference` on these problems; None where no number does, or with one sample.

    More samples shrink the sampling variance alone; what the problems contribute stays.
    """
    sampling, left = paired.sampling_variance, paired.problem_variance
    if sampling is None or left is None or not difference:
        return None
    allowed = (difference / reach(paired.count - 1, level)) ** 2 - left
    if allowed <= 0:
        return None
    now = 2 / (1 / paired.samples.mean() + 1 / paired.other_samples.mean())
    count = now * sampling / allowed
    return max(1, ceil(count)) if count <= MOST else None
