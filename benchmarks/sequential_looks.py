"""How often sampling until a verdict calls equally good models different, and how often it finds a difference, against looking as often without limits.

    python benchmarks/sequential_looks.py [TABLE ...]

Two models answer the same problems with up to 64 samples each, drawn as in `interval_coverage.py`; later rounds keep the samples of earlier ones. After each
round the project's look is taken (`compass.evaluation.looks`), and the test of a single look at 5%, which `naive` stops at. Prints four Markdown tables, in about ten
minutes on one core, or those that are named by number:

1. equally good models called better or worse;
2. a true difference found, with the mean samples per problem that were spent;
3. of several equally good models any pair called better or worse, where two of them decide and are sampled until a verdict;
4. two models that truly differ by the widest margin of a tie called tied; in brackets where each look's own 90% interval decides.

`same` problems: each problem is as hard for one model as for the other, and more samples alone bring information. `other`: what is hard for one model is not quite what is hard for the
other, so that the problems' part of the variance stays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from interval_coverage import print_table
from scipy.stats import norm
from simulated_models import draw_chances

from compass.evaluation.comparisons import PRIMARY_SHARE, TIE, level_of, pair_weight, scale_p
from compass.evaluation.looks import judge_look
from compass.evaluation.paired import LEVEL, Paired, holm, sign_flip_p

MOST = 64
ROUNDS = {1: [64], 2: [32, 64], 4: [8, 16, 32, 64], 6: [2, 4, 8, 16, 32, 64]}
"""Looks to the samples per problem at each."""
DRAWS = {"equal": 1_000, "unequal": 300}
DIFFERENT = ("better", "worse")
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


def take_looks(
    results: Mapping[int, Paired], rounds: Sequence[int], ends: Sequence[str], alpha: float = 1 - LEVEL
) -> tuple[list[dict[str, Any]], int]:
    """Look after each round until a verdict is one of `ends`; the looks, and the samples at the last.

    Args:
        results: those of the pair that decides, by the samples per problem.
        rounds: the samples per problem at each look.
        ends: verdicts that end the sampling.
        alpha: the error of all looks together.
    """
    made: list[dict[str, Any]] = []
    for count in rounds:
        made.append(judge_look([results[count]], made, at_most=MOST, alpha=alpha, seed=0))
        if made[-1]["verdict"] in ends:
            break
    return made, count


def stops(case: Case, generator: np.random.Generator) -> Iterator[tuple[int, bool, int, bool, int]]:
    """Looks planned; whether ours finds a difference, and its samples; the same of naive looking."""
    drawn = draw_rounds(case, generator)
    single = {
        count: sign_flip_p([one], seed=0) <= 1 - LEVEL and not one.interval()[0] <= 0 <= one.interval()[1]
        for count, one in drawn.items()
    }
    for looks, rounds in ROUNDS.items():
        # A tie does not end this simulation: it would only lower the error.
        made, count = take_looks(drawn, rounds, DIFFERENT)
        naive = next((count for count in rounds if single[count]), MOST)
        yield looks, made[-1]["verdict"] in DIFFERENT, count, any(single[count] for count in rounds), naive


def measure(case: Case, draws: int, generator: np.random.Generator) -> dict[int, np.ndarray]:
    """Looks to the means of what `stops` yields."""
    found: dict[int, list[tuple[float, ...]]] = {looks: [] for looks in ROUNDS}
    for _ in range(draws):
        for looks, *rest in stops(case, generator):
            found[looks].append(tuple(map(float, rest)))
    return {looks: np.mean(rows, axis=0) for looks, rows in found.items()}


COLUMNS = "|".join(f"{looks} look{'s' * (looks > 1)}" for looks in ROUNDS)


def equal_models() -> None:
    """Print table 1."""
    generator = np.random.default_rng(0)
    rows = []
    for case in NULLS:
        found = measure(case, DRAWS["equal"], generator)
        cells = [f"{one[0]:.3f} ({one[2]:.3f})" for one in found.values()]
        rows.append([case.problems, case.accuracy, case.kind, *cells])
    print_table(f"problems|accuracy|hard for both|{COLUMNS}", rows)


def true_differences() -> None:
    """Print table 2."""
    generator = np.random.default_rng(1)
    rows = []
    for case in GAINS:
        found = measure(case, DRAWS["unequal"], generator)
        cells = [f"{one[0]:.2f}, {one[1]:.0f} samples" for one in found.values()]
        rows.append([case.problems, f"{case.accuracy} and {case.accuracy + case.gain:g}", case.kind, *cells])
    print_table(f"problems|accuracies|hard for both|{COLUMNS}", rows)


def several_models() -> None:
    """Print table 3: the families of tests are those of `compare_models`, on one benchmark."""
    generator = np.random.default_rng(2)
    rows = []
    for models, kind in product((2, 4, 6), ALIKE):
        found = [family(models, kind, generator) for _ in range(DRAWS["equal"] // 2)]
        each = np.mean(found, axis=0)
        rows.append([models, 60, 0.5, kind, *(f"{share:.3f}" for share in each)])
    print_table("models|problems|accuracy|hard for all|any pair called different|at 5% after every look", rows)


def family(models: int, kind: str, generator: np.random.Generator) -> tuple[bool, bool]:
    """Whether any pair is called different where the first two are sampled until a verdict in four looks; the same without limits."""
    common, own = generator.standard_normal(60), generator.standard_normal((models, 60))
    ranks = norm.cdf(np.sqrt(ALIKE[kind]) * common + np.sqrt(1 - ALIKE[kind]) * own)
    drawn = (generator.random((models, MOST, 60)) < draw_chances(ranks, 0.5, 0.3)[:, None]).cumsum(axis=1)
    alpha = (1 - LEVEL) * (PRIMARY_SHARE if models > 2 else 1)

    def pairs(count: int) -> list[Paired]:
        counts = [count if model < 2 else ROUNDS[4][0] for model in range(models)]
        shares = [side[count - 1] / count for side, count in zip(drawn, counts, strict=True)]
        sizes = [np.full(60, count) for count in counts]
        return [Paired(shares[a], shares[b], sizes[a], sizes[b]) for a, b in combinations(range(models), 2)]

    def any_called(all_pairs: list[Paired], level: float) -> bool:
        weights = [pair_weight(is_primary=not place, pairs=len(all_pairs)) for place in range(len(all_pairs))]
        chances = holm([scale_p(sign_flip_p([one], seed=0), level) for one in all_pairs], weights)
        return any(
            chance <= 1 - LEVEL and not one.interval(level)[0] <= 0 <= one.interval(level)[1]
            for one, chance in zip(all_pairs, chances, strict=True)
        )

    made, count = take_looks({count: pairs(count)[0] for count in ROUNDS[4]}, ROUNDS[4], (*DIFFERENT, "tied"), alpha)
    ours = any_called(pairs(count), level_of({"made": made, "alpha": alpha}))
    return ours, any(any_called(pairs(count), LEVEL) for count in ROUNDS[4])


def ties() -> None:
    """Print table 4."""
    generator = np.random.default_rng(3)
    rows = []
    for case in (Case(200, 0.5, TIE, "same"), Case(200, 0.5, TIE, "other"), Case(500, 0.3, TIE, "other")):
        found = {looks: np.zeros(2) for looks in ROUNDS}
        for _ in range(DRAWS["unequal"]):
            drawn = draw_rounds(case, generator)
            for looks, rounds in ROUNDS.items():
                made, _ = take_looks(drawn, rounds, (*DIFFERENT, "tied"))
                within = [max(map(abs, drawn[count].interval(2 * LEVEL - 1))) <= TIE for count in rounds]
                found[looks] += made[-1]["verdict"] == "tied", any(within)
        cells = [f"{one[0]:.3f} ({one[1]:.3f})" for one in (sums / DRAWS["unequal"] for sums in found.values())]
        rows.append([case.problems, f"{case.accuracy} and {case.accuracy + case.gain:g}", case.kind, *cells])
    print_table(f"problems|accuracies|hard for both|{COLUMNS}", rows)


TABLES = (equal_models, true_differences, several_models, ties)

if __name__ == "__main__":
    for number in map(int, sys.argv[1:] or range(1, len(TABLES) + 1)):
        TABLES[number - 1]()
