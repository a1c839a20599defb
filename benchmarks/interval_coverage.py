"""How often 95% intervals hold the truth, how often a difference that is not there is found, and how often one that is.

    python benchmarks/interval_coverage.py

Each problem's chance of being solved is drawn from a beta distribution with the given mean and intra-class correlation, and
each has k samples; models' chances are tied by a Gaussian copula (`simulated_models.py`). Prints eight Markdown tables, in about eight minutes
on one core; a number after the command prints that table alone:

1. intervals of an accuracy in eight cases: the percentile bootstrap over problems, Student's t, and the project's;
2. the project's over the whole grid, by the number of problems;
3. intervals of a difference in eight cases, Student's t on the problems' differences and the project's;
4. the project's over the whole grid, with how often equally good models are called different, by the number of problems;
5. how often a difference as large as `detectable` is found; 80% is claimed;
6. how often any pair of several equally good models is called different;
7. problems that share stems or templates: intervals and differences with problems and with clusters as the units;
8. the interval for the drawn problems alone, whose truth is their own mean chance, over a grid, by the number of samples.

The grids are screened with few draws; the cases that look worst are drawn anew and more often, and the tables show those figures.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.stats import t
from simulated_models import Truth, draw, draw_chances, draw_equal

from compass.evaluation.accuracy import accuracy_interval, fixed_interval
from compass.evaluation.comparisons import pair_weight
from compass.evaluation.paired import Paired, detectable, holm, sign_flip_p

SHOWN = 1_000
"""Draws per case of tables 1 and 3."""
SCREENED, WORST, REDRAWN = 200, 2, 3_000
"""Draws per case of a grid; cases per row of tables 2 and 4 that are drawn again; draws of these."""
FAMILIES = 400
"""Evaluations of several equal models per row."""
RESAMPLES = 200

PROBLEMS = (5, 15, 30, 83, 272, 675)
RATES = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 0.95, 0.99, 1.0)
ACCURACIES = [(30, 1, 0.05, 0.2), (30, 8, 0.01, 0.6), (30, 8, 0.05, 0.6), (30, 8, 0.2, 0.6),
              (60, 8, 0.2, 0.2), (60, 8, 0.5, 0.6), (60, 8, 0.95, 0.6), (300, 8, 0.5, 0.2)]  # fmt: skip
"""Problems, samples, accuracy and correlation."""
DIFFERENCES = [
    Truth(15, (1, 1), (1, 1), 0.98, 0.95, 0.6, 0.6, 0.9),
    Truth(15, accuracy=0.02, other=0.1, correlation=0.6, other_correlation=0.6, alike=0.9),
    Truth(15, (16, 16), (2, 2), 0.1, 0.1, 0.1, 0.7, 0.0),
    Truth(30, accuracy=0.1, other=0.1, correlation=0.1, other_correlation=0.7, alike=0.0),
    Truth(30, accuracy=0.4, other=0.5, correlation=0.2, other_correlation=0.2),
    Truth(30, accuracy=0.98, other=0.95, correlation=0.6, other_correlation=0.6, alike=0.9),
    Truth(83, accuracy=0.02, other=0.02, correlation=0.1, other_correlation=0.7, alike=0.0),
    Truth(83, accuracy=0.5, other=0.5, correlation=0.6, other_correlation=0.6, alike=0.9),
]


def bootstrap(shares: np.ndarray, generator: np.random.Generator) -> tuple[float, float]:
    """The percentile bootstrap over problems."""
    count = len(shares)
    means = shares[generator.integers(count, size=(RESAMPLES, count))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def student(values: np.ndarray) -> tuple[float, float]:
    """Student's interval of the mean over problems."""
    half = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def print_table(head: str, rows: Sequence[Sequence[Any]]) -> None:
    """Print a Markdown table; `head` names its columns, divided by `|`."""
    columns = head.split("|")
    print("\n|", " | ".join(columns), "|")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("|", " | ".join(map(str, row)), "|")
    print(flush=True)


def cover(intervals: Sequence[tuple[float, float]], truth: float) -> str:
    """The share of intervals that hold `truth`, and their mean width in brackets."""
    low, high = np.transpose(intervals)
    return f"{np.mean((low <= truth) & (truth <= high)):.3f} ({np.mean(high - low):.3f})"


def draw_shares(case: tuple[int, int, float, float], generator: np.random.Generator) -> np.ndarray:
    """Each problem's share of right samples; a case is problems, samples, accuracy and correlation."""
    problems, samples, accuracy, correlation = case
    return generator.binomial(samples, draw_chances(generator.random(problems), accuracy, correlation)) / samples


def accuracies() -> None:
    """Print table 1."""
    generator = np.random.default_rng(0)
    rows = []
    for case in ACCURACIES:
        _, samples, accuracy, _ = case
        drawn = [draw_shares(case, generator) for _ in range(SHOWN)]
        found = [
            [bootstrap(one, generator) for one in drawn],
            [student(one) for one in drawn],
            [accuracy_interval(one, samples) for one in drawn],
        ]
        rows.append([*case, *(cover(intervals, accuracy) for intervals in found)])
    print_table("problems|samples|accuracy|correlation|bootstrap|Student|ours", rows)


def accuracy_grid() -> None:
    """Print table 2."""
    generator = np.random.default_rng(1)

    def holds(case: tuple[int, int, float, float]) -> bool:
        low, high = accuracy_interval(draw_shares(case, generator), case[1])
        return low <= case[2] <= high

    rows = []
    for problems in PROBLEMS:
        cases = [
            (problems, samples, accuracy, correlation)
            for samples, accuracy, correlation in product((1, 8, 64), RATES, (0.1, 0.4, 0.8, 0.99))
            if samples > 1 or correlation == 0.1
        ]
        screened, worst = screen(cases, holds)
        found, (_, samples, accuracy, correlation) = worst
        rows.append([problems, len(cases), f"{np.median(screened):.3f}", f"{found:.3f}",
                     f"{samples} samples, accuracy {accuracy}, correlation {correlation}"])  # fmt: skip
    print_table("problems|cases|median coverage|lowest coverage|where", rows)


def screen(cases: Sequence[Any], succeeds: Callable[[Any], bool]) -> tuple[list[float], tuple[float, Any]]:
    """How often each case succeeds, and the case that does so least, with its share: of those that look worst, drawn again."""
    shares = [float(np.mean([succeeds(case) for _ in range(SCREENED)])) for case in cases]
    order = sorted(range(len(cases)), key=shares.__getitem__)[:WORST]
    again = [(float(np.mean([succeeds(cases[index]) for _ in range(REDRAWN)])), cases[index]) for index in order]
    return shares, min(again, key=lambda one: one[0])


def called_different(one: Paired) -> bool:
    """Whether the two models are called better or worse, as `comparisons.judge` does for one benchmark."""
    low, high = one.interval()
    return not low <= 0 <= high and sign_flip_p([one], seed=0) <= 0.05


def differences() -> None:
    """Print table 3."""
    generator = np.random.default_rng(2)
    rows = []
    for truth in DIFFERENCES:
        difference = truth.accuracy - truth.other
        drawn = [draw(truth, generator) for _ in range(SHOWN)]
        both = [student(one.differences) for one in drawn], [one.interval() for one in drawn]
        called = "" if difference else f"{np.mean([called_different(one) for one in drawn]):.3f}"
        rows.append([truth.problems, f"{truth.samples[0]} and {truth.other_samples[0]}", f"{truth.accuracy} and {truth.other}",
                     f"{truth.correlation} and {truth.other_correlation}", *(cover(one, difference) for one in both), called])  # fmt: skip
    print_table("problems|samples|accuracies|correlations|Student|ours|called different, where alike", rows)


def difference_grid() -> None:
    """Print table 4."""
    generator = np.random.default_rng(3)

    def hold(truth: Truth, draws: int) -> tuple[float, float]:
        """How often the interval holds the difference, and how often the models are called different."""
        drawn = [draw(truth, generator) for _ in range(draws)]
        low, high = np.transpose([one.interval() for one in drawn])
        difference = truth.accuracy - truth.other
        return float(np.mean((low <= difference) & (difference <= high))), float(
            np.mean(list(map(called_different, drawn)))
        )

    rows = []
    for problems, (name, spreads) in product(
        PROBLEMS, {"alike": [(0.3, 0.3), (0.6, 0.6)], "unlike": [(0.1, 0.7), (0.1, 0.95)]}.items()
    ):
        cases = [
            Truth(problems, (samples, samples), (others, others), accuracy, other, first, second, alike)
            for (samples, others), (accuracy, other), (first, second), alike in product(
                ((1, 1), (8, 8), (64, 1), (64, 64)),
                ((0.005, 0.005), (0.02, 0.02), (0.02, 0.1), (0.1, 0.1), (0.5, 0.5), (0.98, 0.98)),
                spreads,
                (0.0, 0.7),
            )
        ]
        equal = [one for one in cases if one.accuracy == one.other]
        screened = {truth: hold(truth, SCREENED) for truth in cases}
        lowest = [hold(truth, REDRAWN)[0] for truth in sorted(cases, key=lambda one: screened[one][0])[:WORST]]
        again = [(hold(truth, REDRAWN)[1], truth) for truth in sorted(equal, key=lambda one: -screened[one][1])[:WORST]]
        found, where = max(again, key=lambda one: one[0])
        rows.append([problems, name, len(cases), f"{min(lowest):.3f}", f"{found:.3f}",
                     f"{where.samples[0]} and {where.other_samples[0]} samples, accuracy {where.accuracy}"])  # fmt: skip
    print_table("problems|spread of the models|cases|lowest coverage|most often called different|where", rows)


def power() -> None:
    """Print table 5: how often a true difference as large as the median `detectable` is found."""
    generator = np.random.default_rng(4)
    rows = []
    for problems, samples, accuracy, alike in product((15, 30, 83, 500), (1, 8), (0.1, 0.5), (0.5, 0.95)):
        truth = Truth(problems, (samples, samples), (samples, samples), accuracy, accuracy, alike=alike)
        size = float(np.median([detectable([draw(truth, generator)]) for _ in range(200)]))
        if accuracy + size > 0.97:
            continue
        shifted = truth._replace(accuracy=accuracy + size)
        found = np.mean([called_different(draw(shifted, generator)) for _ in range(400)])
        rows.append([problems, samples, accuracy, alike, f"{size:.3f}", f"{found:.2f}"])
    print_table("problems|samples|accuracy|alike|detectable|found", rows)


def equal_models() -> None:
    """Print table 6: any pair of equal models called different, with the correction over pairs and without."""
    generator = np.random.default_rng(5)
    rows = []
    for models, problems, accuracy in product((2, 3, 4, 6, 10), (60,), (0.2, 0.5)):
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
        rows.append([models, problems, 8, accuracy, *(f"{share:.3f}" for share in found.mean(axis=0))])
    print_table("models|problems|samples|accuracy|any pair called different|without the correction", rows)


CLUSTERS = {
    "Minerva: 219 stems": (272, (1,) * 181 + (2,) * 27 + (3,) * 9 + (5,) * 2),
    "OlympiadBench: 644 stems": (675, (1,) * 629 + (2,) * 9 + (3,) * 3 + (4, 6, 9)),
    "templates of equal size: 100 x 10": (1_000, (10,) * 100),
    "few templates: 10 x 10": (100, (10,) * 10),
    "unequal templates: 20": (200, (50, 30, 20, 20, 10, 10, 10, 8, 8, 6, 6, 5, 5, 3, 3, 2, 1, 1, 1, 1)),
}
"""Problems, and the sizes of their clusters."""


def clusters() -> None:
    """Print table 7."""
    generator = np.random.default_rng(6)
    rows = []
    for (name, (problems, sizes)), within, accuracy in product(CLUSTERS.items(), (0.3, 0.9), (0.1, 0.5)):
        truth = Truth(problems, accuracy=accuracy, other=accuracy, clusters=sizes, within=within)
        drawn = [draw(truth, generator) for _ in range(SHOWN)]
        alone = [replace(one, clusters=None) for one in drawn]
        cells = [
            cover([accuracy_interval(one.shares, 8, one.clusters) for one in units], accuracy)
            for units in (alone, drawn)
        ]
        called = [f"{np.mean([called_different(one) for one in units]):.3f}" for units in (alone, drawn)]
        rows.append([name, within, accuracy, *cells, *called])
    print_table(
        "problems|alike within a cluster|accuracy|by problem|by cluster|called different, by problem|by cluster", rows
    )


def these_problems() -> None:
    """Print table 8: chances are drawn once per draw, and then belong to the problems."""
    generator = np.random.default_rng(7)
    rows = []
    for samples in (1, 2, 4, 8, 32, 64):

        def holds(case: tuple[int, int, float, float]) -> bool:
            problems, samples, accuracy, correlation = case
            chances = draw_chances(generator.random(problems), accuracy, correlation)
            shares = generator.binomial(samples, chances) / samples
            low, high = fixed_interval(shares, [samples] * problems)
            return low <= chances.mean() + 1e-12 and chances.mean() - 1e-12 <= high

        cases = [
            (problems, samples, accuracy, correlation)
            for problems, accuracy, correlation in product(PROBLEMS, RATES, (0.1, 0.4, 0.8, 0.99))
        ]
        screened, worst = screen(cases, holds)
        found, (problems, _, accuracy, correlation) = worst
        drawn = [draw_shares((30, samples, 0.2, 0.4), generator) for _ in range(SCREENED)]
        both = [[fixed_interval(one, [samples] * 30), accuracy_interval(one, samples)] for one in drawn]
        widths = np.diff(np.array(both), axis=2).mean(axis=(0, 2))
        rows.append([samples, len(cases), f"{np.median(screened):.3f}", f"{found:.3f}",
                     f"{problems} problems, accuracy {accuracy}, correlation {correlation}", *(f"{width:.3f}" for width in widths)])  # fmt: skip
    print_table(
        "samples|cases|median coverage|lowest coverage|where|mean width, 30 problems at 0.2|of the interval over problems",
        rows,
    )


TABLES = (accuracies, accuracy_grid, differences, difference_grid, power, equal_models, clusters, these_problems)

if __name__ == "__main__":
    for number in map(int, sys.argv[1:] or range(1, len(TABLES) + 1)):
        TABLES[number - 1]()
