"""What k samples per problem say about a model: avg@k, pass@k, maj@k, and the 95% intervals of accuracies.

Problems, not samples, are the independent units; `paired.py` has the intervals of differences. An accuracy's interval is Wilson's
with an effective sample size, widened near 0% and 100%, because neither the normal interval nor the bootstrap says anything there, and both
miss the true value too often (docs/reference/evaluation.md has the figures). An average over benchmarks combines their intervals by MOVER.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import comb, sqrt
from statistics import NormalDist

import numpy as np

from compass.evaluation.paired import LEVEL, student
from compass.verifier import group_equal


def pass_at_k(samples: int, right: int, k: int) -> float:
    """The chance that at least one of `k` samples is right, estimated without bias from `samples` of which `right` are.

    1 - C(samples - right, k) / C(samples, k): Chen et al. 2021, "Evaluating Large Language Models Trained on Code", eq. 1.

    Raises:
        ValueError: `k` is not between 1 and `samples`, or `right` not between 0 and `samples`.
    """
    if not 1 <= k <= samples or not 0 <= right <= samples:
        raise ValueError(f"pass@{k} cannot be estimated from {samples} samples with {right} right")
    return 1.0 - comb(samples - right, k) / comb(samples, k)


def maj_at_k(correct: Sequence[bool], votes: Sequence[int | None], k: int) -> float:
    """How often the most frequent answer of `k` samples is right (Wang et al. 2022, self-consistency), over the disjoint groups of k that there are, 0..1.

    Samples without an answer have no vote. Right answers vote together, since all equal the gold; wrong ones with the
    first wrong answer they equal. Of several most frequent answers one is drawn, so that a tie counts by its chance.

    Args:
        correct: which of a problem's answers equal the gold.
        votes: of `number_votes`.
        k: at most as many as there are answers.
    """
    found = []
    for first in range(0, len(correct) - k + 1, k):
        right = sum(correct[first : first + k])
        counts = Counter(vote for vote in votes[first : first + k] if vote is not None)
        most = max([right, *counts.values()])
        tied = sum(count == most for count in counts.values())
        found.append(1.0 / (1 + tied) if right and right == most else 0.0)
    return mean(found)


def number_votes(
    answers: Sequence[str | None], correct: Sequence[bool], equal: Callable[[str, str], bool]
) -> list[int | None]:
    """Which wrong answers of a problem are the same: each one's group, None for right answers and where there is none."""
    wrong = [place for place, answer in enumerate(answers) if answer is not None and not correct[place]]
    votes: list[int | None] = [None] * len(answers)
    for place, vote in zip(wrong, group_equal([answers[place] or "" for place in wrong], equal), strict=True):
        votes[place] = vote
    return votes


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean of one value or more."""
    return sum(values) / len(values)


def reported_k(samples: int) -> list[int]:
    """The k of pass@k that are reported: powers of two below `samples`, and `samples` itself; 1 is accuracy."""
    powers = [2**power for power in range(1, samples.bit_length()) if 2**power < samples]
    return [*powers, samples] if samples > 1 else []


def number_clusters(problems: Sequence[str], clusters: Mapping[str, str] | None) -> np.ndarray | None:
    """Each problem's cluster as a number from 0; None where every problem stands alone.

    Args:
        problems: ids.
        clusters: the cluster of each problem that shares one, by its id.
    """
    numbers: dict[tuple[bool, str], int] = {}
    found = [
        numbers.setdefault((id_ in (clusters or {}), (clusters or {}).get(id_, id_)), len(numbers)) for id_ in problems
    ]
    return np.array(found) if len(numbers) < len(found) else None


Interval = tuple[float, float]


def accuracy_interval(shares: Sequence[float], samples: float, clusters: Sequence[int] | None = None) -> Interval:
    """The interval of a benchmark's accuracy.

    Wilson's score interval with n = p(1-p) / variance of the mean, between the number of problems (samples of a problem all
    agree) and problems x samples (they are independent). The variance over problems is estimated as if one solved and
    one unsolved problem had been seen too, so that it is never zero; the quantile is Student's.

    Near 0 and 1 Wilson's limit towards the edge lies too far from it. There the exact one-sided limit at the whole 5% is further out and
    takes its place, as in the modified Wilson interval of Brown, Cai and DasGupta (2001, Statistical Science 16), whose limit is Poisson's.

    Where problems share stems or templates, the variance is the cluster-robust one, the two further problems are two further clusters of mean
    size, n is at least what it would be if problems of a cluster all agreed, and degrees of freedom count clusters.

    Args:
        shares: each problem's share of right samples, 0..1.
        samples: samples per problem; their mean where the numbers differ.
        clusters: each problem's cluster, a number from 0; None where every problem stands alone.

    Raises:
        ValueError: no problem.
    """
    if not len(shares):
        raise ValueError("an accuracy needs at least one problem")
    seen = np.asarray(shares, dtype=float)
    problems = len(seen)
    sizes = np.ones(problems) if clusters is None else np.bincount(clusters)
    sums = seen if clusters is None else np.bincount(clusters, weights=seen)
    size, count = problems / len(sizes), len(sizes) + 2
    centre = float(seen.sum() + size) / (problems + 2 * size)
    off = np.append(sums - sizes * centre, (-size * centre, size * (1 - centre)))
    variance = count / (count - 1) * float(off @ off) / ((problems + 2 * size) * problems)
    effective = centre * (1 - centre) / variance
    effective = min(max(effective, problems**2 / float(sizes @ sizes)), problems * samples)
    share = float(seen.mean())
    low, high = wilson(share, effective, student(len(sizes) - 1, LEVEL))
    least, most = _one_sided(share, effective)
    return min(low, least), max(high, most)


UNSURE = 2 * 0.25
"""Variance of a sample of two problems that are solved in half of their samples: added to what was seen of all problems."""


FEWEST = 4
"""Samples per problem below which too little is known of how far they agree."""


def fixed_interval(shares: Sequence[float], samples: Sequence[int]) -> Interval:
    """The interval of the accuracy on these very problems: what any number of further samples of them would come to.

    Given the problems, all samples are independent, so their number counts. Clopper and Pearson's limits for as many trials hold whatever the problems'
    own rates are (Hoeffding 1956, Annals of Mathematical Statistics 27: right answers to unlike problems vary less than to alike ones). Where
    samples of a problem agree more than those of different problems, and there are 4 of each at least, there are as many trials as the variance says, estimated as if two more problems were
    solved in half of their samples.

    Args:
        shares: each problem's share of right samples, 0..1.
        samples: each problem's number of samples.

    Raises:
        ValueError: no problem.
    """
    if not len(shares):
        raise ValueError("an accuracy needs at least one problem")
    seen, counts = np.asarray(shares, dtype=float), np.asarray(samples, dtype=float)
    share, trials = float(seen.mean()), len(seen) ** 2 / float((1 / counts).sum())
    if counts.min() >= FEWEST:
        noise = float((seen * (1 - seen) / (counts - 1)).sum()) + UNSURE * float((1 / counts).mean())
        trials = max(trials, share * (1 - share) * len(seen) ** 2 / noise)
    return _one_sided(share, trials, missed=(1 - LEVEL) / 2)


def _one_sided(share: float, count: float, missed: float = 1 - LEVEL) -> Interval:
    """Clopper and Pearson's lower and upper limit of a share seen in `count` trials, each of them missed in 5% of cases, or `missed`."""
    from scipy.stats import beta

    right, wrong = share * count, (1 - share) * count
    least = float(beta.ppf(missed, right, wrong + 1)) if right > 0 else 0.0
    most = float(beta.ppf(1 - missed, right + 1, wrong)) if wrong > 0 else 1.0
    return least, most


NORMAL = NormalDist().inv_cdf((1 + LEVEL) / 2)
"""The normal distribution's two-sided quantile."""


def wilson(share: float, count: float, z: float = NORMAL) -> Interval:
    """Wilson's score interval of a share seen in `count` trials (Wilson 1927), for the quantile `z`."""
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


def accuracy_sd(
    shares: Sequence[float], samples: Sequence[int], clusters: Sequence[int] | None = None
) -> tuple[float | None, float | None]:
    """How far an accuracy moves with other seeds, and with other problems, as standard deviations.

    Args:
        shares: each problem's share of right samples, 0..1.
        samples: each problem's number of samples.
        clusters: as in `accuracy_interval`.

    Returns:
        The part of the samples (that would be left on the same problems) and that of the problems (that would be left with any
        number of samples); None for both where a problem has one sample or where there is one problem.
    """
    seen, counts = np.asarray(shares, dtype=float), np.asarray(samples)
    if counts.min() < 2 or len(seen) < 2:
        return None, None
    sampling = float((seen * (1 - seen) / (counts - 1)).sum()) / len(seen) ** 2
    off = seen - seen.mean() if clusters is None else np.bincount(clusters, weights=seen - seen.mean())
    variance = len(off) / max(len(off) - 1, 1) * float(off @ off) / len(seen) ** 2
    return sqrt(sampling), sqrt(max(variance - sampling, 0.0))
