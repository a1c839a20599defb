"""How often 95% intervals of an accuracy hold the truth, near 0, in the middle and near 1.

    python benchmarks/interval_coverage.py

Each problem's chance of being solved is drawn from a beta distribution with the given mean and intra-class correlation, and
each has k samples. Compared: the percentile bootstrap over problems, Student's t, and the project's interval. About a
minute on one core; prints a Markdown table of coverage (mean width).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import t

from compass.evaluation.statistics import accuracy_interval

REPEATS = 1000
RESAMPLES = 200
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


def main() -> None:
    """Print coverage and mean width of each interval in every case."""
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


if __name__ == "__main__":
    main()
