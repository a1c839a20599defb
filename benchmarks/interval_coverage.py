"""How often 95% intervals of an accuracy and of a difference hold the truth, how often a difference that is not there is found, and
whether one as large as `detectable` is found in 80 of 100 comparisons; and how often any pair of several equal models is called different.

    python benchmarks/interval_coverage.py

Each problem's chance of being solved is drawn from a beta distribution with the given mean and intra-class correlation, and
each has k samples; two models' chances are tied by a Gaussian copula (`simulated_models.py`). Compared for an accuracy: the percentile bootstrap
over problems, Student's t, and the project's interval; for a difference: Student's t on the problems' differences and the project's. A
few minutes on one core; prints Markdown tables of coverage (mean width).
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from scipy.stats import t
from simulated_models import Truth, draw, draw_equal

from compass.evaluation.accuracy import accuracy_interval
from compass.evaluation.comparisons import pair_weight
from compass.evaluation.paired import Paired, detectable, holm, sign_flip_p

REPEATS = 1000
RESAMPLES = 200
FAMILIES = 400
"""Evaluations of several equal models per row."""
CASES = [(30, 1), (30, 8), (60, 8), (300, 8)]
ACCURACIES = [0.01, 0.05, 0.2, 0.5, 0.95]
CORRELATIONS = [0.2, 0.6]


def bootstrap(shares: np.ndarray, generator: np.random.Generator) -> tuple[float, float]:
    """The percentile bootstrap over problems."""
    count = len(shares)
    means = shares[generator.integers(count, size=(RESAMPLES, count))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def student(shares: np.ndarray) -> tuple[float, float]:
    """Student's interval of the mean over problems."""
    half = t.ppf(0.975, len(shares) - 1) * shares.std(ddof=1) / np.sqrt(len(shares))
    return max(0.0, shares.mean() - half), min(1.0, shares.mean() + half)


def accuracies() -> None:
    """Print coverage and mean width of each interval of an accuracy."""
    generator = np.random.default_rng(0)
    print("| problems | samples | accuracy | correlation | bootstrap | Student | ours |")
    print("|---|---|---|---|---|---|---|")
    for problems, samples in CASES:
        for accuracy in ACCURACIES:
            for correlation in CORRELATIONS if samples > 1 else CORRELATIONS[:1]:
                spread = 1 / correlation - 1
                held = {"bootstrap": [], "student": [], "ours": []}
                for _ in range(REPEATS):
                    chances = generator.beta(accuracy * spread, (1 - accuracy) * spread, problems)
                    shares = generator.binomial(samples, chances) / samples
                    held["bootstrap"].append(bootstrap(shares, generator))
                    held["student"].append(student(shares))
                    held["ours"].append(accuracy_interval(shares, samples))
                cells = []
                for intervals in held.values():
                    low, high = np.transpose(intervals)
                    cells.append(f"{np.mean((low <= accuracy) & (accuracy <= high)):.3f} ({np.mean(high - low):.3f})")
                print("|", " | ".join(map(str, (problems, samples, accuracy, correlation, *cells))), "|")


PAIRS = [
    Truth(problems, samples, samples, accuracy, other, correlation, correlation, alike)
    for problems, samples, (accuracy, other), (correlation, alike) in product(
        (15, 30, 83),
        ((1, 1), (8, 8)),
        ((0.02, 0.02), (0.02, 0.1), (0.5, 0.5), (0.4, 0.5), (0.98, 0.95)),
        ((0.2, 0.5), (0.6, 0.9)),
    )
] + [
    Truth(
        problems, samples, other, accuracy, accuracy, 0.1, 0.7, 0.0
    )  # models of unlike spread, unequal numbers of samples
    for problems, (samples, other), accuracy in product(
        (15, 30, 83), (((8, 8), (8, 8)), ((2, 5), (4, 8)), ((16, 16), (2, 2))), (0.1, 0.5)
    )
]


def called_different(one: Paired) -> bool:
    """Whether the two models are called better or worse, as `comparisons.judge` does for one benchmark."""
    low, high = one.interval()
    return not low <= 0 <= high and sign_flip_p([one], seed=0) <= 0.05


def differences() -> None:
    """Print coverage and mean width of the intervals of a difference, and how often none is called one."""
    generator = np.random.default_rng(1)
    print(
        "\n| problems | samples | accuracies | correlations | alike | Student | ours | called different, where alike |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for truth in PAIRS:
        difference = truth.accuracy - truth.other
        drawn = [draw(truth, generator) for _ in range(REPEATS)]
        held = {"Student": [_student(one) for one in drawn], "ours": [one.interval() for one in drawn]}
        cells = []
        for intervals in held.values():
            low, high = np.transpose(intervals)
            cells.append(f"{np.mean((low <= difference) & (difference <= high)):.3f} ({np.mean(high - low):.3f})")
        cells.append("" if difference else f"{np.mean([called_different(one) for one in drawn]):.3f}")
        samples = " and ".join("-".join(map(str, sorted(set(both)))) for both in (truth.samples, truth.other_samples))
        shown = (
            truth.problems,
            samples,
            f"{truth.accuracy} and {truth.other}",
            f"{truth.correlation} and {truth.other_correlation}",
            truth.alike,
        )
        print("|", " | ".join(map(str, (*shown, *cells))), "|")


def _student(one: Paired) -> tuple[float, float]:
    seen = one.differences
    if len(seen) < 2:
        return -1.0, 1.0
    half = t.ppf(0.975, len(seen) - 1) * seen.std(ddof=1) / np.sqrt(len(seen))
    return float(seen.mean() - half), float(seen.mean() + half)


def power() -> None:
    """Print how often a true difference as large as the median `detectable` is found; 0.80 is claimed."""
    generator = np.random.default_rng(2)
    print("\n| problems | samples | accuracy | alike | detectable | found |")
    print("|---|---|---|---|---|---|")
    for problems, samples, accuracy, alike in product((15, 30, 83, 500), ((1, 1), (8, 8)), (0.1, 0.5), (0.5, 0.95)):
        truth = Truth(problems, samples, samples, accuracy, accuracy, alike=alike)
        sizes = [detectable([draw(truth, generator)]) for _ in range(200)]
        size = float(np.median(sizes))
        if accuracy + size > 0.97:
            continue
        shifted = truth._replace(accuracy=accuracy + size)
        found = np.mean([called_different(draw(shifted, generator)) for _ in range(400)])
        print(f"| {problems} | {samples[0]} | {accuracy} | {alike} | {size:.3f} | {found:.2f} |")


def equal_models() -> None:
    """Print how often any pair of equal models is called different, with the correction over pairs and without."""
    generator = np.random.default_rng(3)
    print("\n| models | problems | samples | accuracy | any pair called different | without the correction |")
    print("|---|---|---|---|---|---|")
    for models, problems, accuracy in product((2, 4, 10), (60,), (0.2, 0.5)):
        found = np.zeros((FAMILIES, 2))
        for repeat in range(FAMILIES):
            shares = draw_equal(models, problems, 8, accuracy, generator)
            counts = np.full(problems, 8)
            pairs = [Paired(shares[b], shares[a], counts, counts) for a, b in combinations(range(models), 2)]
            outside = np.array([not low <= 0 <= high for low, high in (one.interval() for one in pairs)])
            chances = np.array([sign_flip_p([one], seed=0) for one in pairs])
            # The last model against the first is the pair that decides.
            weights = [pair_weight(is_primary=index == models - 2, pairs=len(pairs)) for index in range(len(pairs))]
            found[repeat] = [
                np.any(outside & (np.array(holm(list(chances), weights)) <= 0.05)),
                np.any(outside & (chances <= 0.05)),
            ]
        corrected, plain = found.mean(axis=0)
        print(f"| {models} | {problems} | 8 | {accuracy} | {corrected:.3f} | {plain:.3f} |", flush=True)


if __name__ == "__main__":
    equal_models()
    accuracies()
    differences()
    power()
