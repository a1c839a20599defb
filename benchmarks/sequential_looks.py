"""How often sampling until a verdict calls equally good models different, and how often it finds a difference, against looking as often without limits.

    python benchmarks/sequential_looks.py

Two models answer the same problems with up to 64 samples each, drawn as in `interval_coverage.py`; later rounds keep the samples of earlier ones. After each
round the project's look is taken (`compass.evaluation.looks`), and the test of a single look at 5%, which `naive` stops at. Prints two Markdown tables, in about six
minutes on one core:

1. equally good models called better or worse;
2. a true difference found, with the mean samples per problem that were spent.

`same` problems: each problem is as hard for one model as for the other, and more samples alone bring information. `other`: what is hard for one model is not quite what is hard for the
other, so that the problems' part of the variance stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from interval_coverage import print_table
from scipy.stats import norm
from simulated_models import draw_chances

from compass.evaluation.looks import judge_look
from compass.evaluation.paired import LEVEL, Paired, sign_flip_p

MOST = 64
ROUNDS = {1: [64], 2: [32, 64], 4: [8, 16, 32, 64], 6: [2, 4, 8, 16, 32, 64]}
"""Looks to the samples per problem at each."""
DRAWS = {"equal": 1_000, "unequal": 300}
ALIKE = {"same": 1.0, "other": 0.7}


class Case(NamedTuple):
    """What two models' results are drawn from."""

    problems: int
    accuracy: float
    gain: float
    kind: str


NULLS = [Case(*one, kind) for one, kind in product([(30, 0.1, 0.0), (30, 0.5, 0.0), (200, 0.5, 0.0)], ALIKE)]
GAINS = [
    Case(30, 0.5, 0.045, "same"),
    Case(30, 0.5, 0.11, "other"),
    Case(30, 0.1, 0.06, "other"),
    Case(200, 0.5, 0.02, "same"),
    Case(200, 0.5, 0.045, "other"),
]


def draw_rounds(case: Case, generator: np.random.Generator) -> dict[int, Paired]:
    """Samples per problem to the pair of models, each round with the samples of those before."""
    common, *own = generator.standard_normal((3, case.problems))
    alike, sides = ALIKE[case.kind], []
    for noise, accuracy in zip(own, (case.accuracy + case.gain, case.accuracy), strict=True):
        ranks = norm.cdf(np.sqrt(alike) * common + np.sqrt(1 - alike) * noise)
        chances = draw_chances(ranks, accuracy, 0.3)
        sides.append((generator.random((MOST, case.problems)) < chances).cumsum(axis=0))
    return {
        count: Paired(*(side[count - 1] / count for side in sides), *[np.full(case.problems, count)] * 2)
        for count in ROUNDS[6]
    }


def stops(case: Case, generator: np.random.Generator) -> Iterator[tuple[int, bool, int, bool, int]]:
    """Looks planned; whether ours finds a difference, and its samples; the same of naive looking."""
    drawn = draw_rounds(case, generator)
    single = {
        count: sign_flip_p([one], seed=0) <= 1 - LEVEL and not one.interval()[0] <= 0 <= one.interval()[1]
        for count, one in drawn.items()
    }
    for looks, rounds in ROUNDS.items():
        made: list[dict[str, Any]] = []
        for count in rounds:
            made.append(judge_look([drawn[count]], made, at_most=MOST, alpha=1 - LEVEL, seed=0))
            if made[-1]["verdict"] in (
                "better",
                "worse",
            ):  # a tie does not end this simulation: it would only lower the error
                break
        naive = next((count for count in rounds if single[count]), MOST)
        yield looks, made[-1]["verdict"] in ("better", "worse"), count, any(single[count] for count in rounds), naive


def measure(case: Case, draws: int, generator: np.random.Generator) -> dict[int, np.ndarray]:
    """Looks to the means of what `stops` yields."""
    found: dict[int, list[tuple[float, ...]]] = {looks: [] for looks in ROUNDS}
    for _ in range(draws):
        for looks, *rest in stops(case, generator):
            found[looks].append(tuple(map(float, rest)))
    return {looks: np.mean(rows, axis=0) for looks, rows in found.items()}


def main() -> None:
    """Print both tables."""
    generator = np.random.default_rng(0)
    columns = "|".join(f"{looks} look{'s' * (looks > 1)}" for looks in ROUNDS)
    rows = []
    for case in NULLS:
        found = measure(case, DRAWS["equal"], generator)
        cells = [f"{one[0]:.3f} ({one[2]:.3f})" for one in found.values()]
        rows.append([case.problems, case.accuracy, case.kind, *cells])
    print_table(f"problems|accuracy|hard for both|{columns}", rows)
    rows = []
    for case in GAINS:
        found = measure(case, DRAWS["unequal"], generator)
        cells = [f"{one[0]:.2f}, {one[1]:.0f} samples" for one in found.values()]
        rows.append([case.problems, f"{case.accuracy} and {case.accuracy + case.gain:g}", case.kind, *cells])
    print_table(f"problems|accuracies|hard for both|{columns}", rows)


if __name__ == "__main__":
    main()
