"""Which recipe is better, with the training run as the unit: arms are paired by seed.

Runs of one seed share data, base and benchmarks, so the difference of their scores is free of what these add. The differences of
several seeds are independent; their mean has Student's interval, which holds at any number of seeds if differences are normal.
It holds the sampling of problems and responses too, as far as seeds differ in these. Resampling seeds and problems instead
(the hierarchical bootstrap) is too narrow with 3 to 5 seeds; `benchmarks/study_coverage.py` measures both.
The p-values of several arms are corrected by Holm's method. Two arms are tied where the 90% interval lies within the smallest
difference of interest on both sides (two one-sided tests of 5%, Schuirmann 1987).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

import numpy as np

from compass.evaluation.across_runs import half_width
from compass.evaluation.paired import LEVEL, holm

POWER = 0.8
"""The chance to find the smallest difference of interest that a study should have."""

MOST_SEEDS = 1000
"""Seeds up to which a need is told as a number."""


@dataclass(frozen=True)
class Difference:
    """An arm against the first one. Scores and differences are shares, 0..1 and -1..1."""

    arm: str
    seeds: tuple[int, ...]
    """The seeds of which both arms have a run."""
    differences: tuple[float, ...]
    """Per seed, this arm's score less the first arm's."""
    mean: float | None
    interval: tuple[float, float] | None
    """95%; None where the differences do not say how far they spread."""
    p: float | None
    """Of "no difference", corrected for the number of arms."""
    power: float | None
    """The chance that the planned seeds find the smallest difference of interest, at the spread seen so far."""
    verdict: str
    """`better`, `worse`, `tied`, `cannot tell` or `too few seeds`."""
    words: str
    """The verdict with its figures, to follow the arm's name."""


def compare_arms(scores: Mapping[str, Mapping[int, float]], *, smallest: float, planned: int) -> list[Difference]:
    """Every arm against the first one.

    Args:
        scores: arm to seed to score, 0..1; runs that are missing are left out.
        smallest: the smallest difference of interest, 0..1.
        planned: seeds that the study has in all.
    """
    (_, reference), *others = scores.items()
    shared = {arm: sorted(set(own) & set(reference)) for arm, own in others}
    found = {arm: np.array([own[seed] - reference[seed] for seed in shared[arm]]) for arm, own in others}
    chances = {arm: _compute_p(one) for arm, one in found.items()}
    known = {arm: chance for arm, chance in chances.items() if chance is not None}
    corrected = dict(zip(known, holm(list(known.values())), strict=True))
    return [
        _judge(arm, shared[arm], found[arm], corrected.get(arm), smallest, planned=planned, tests=len(others))
        for arm, _ in others
    ]


def interval(differences: Sequence[float], level: float = LEVEL) -> tuple[float, float] | None:
    """Student's interval of the mean of one difference per seed; None of fewer than two, or where all are the same."""
    if _spread(np.asarray(differences, dtype=float)) is None:
        return None
    middle, half = fmean(differences), half_width(differences, level)
    return middle - half, middle + half


def find_power(seeds: int, spread: float, difference: float, *, tests: int = 1) -> float:
    """The chance that Student's paired test finds a difference; 0 with fewer than two seeds.

    Args:
        seeds: pairs of runs.
        spread: the standard deviation of the differences.
        difference: the true one, in the same unit.
        tests: arms that share the 5%; each is taken to have an equal part, as Holm's first.
    """
    return float(_compute_power(np.array([seeds]), spread, difference, tests)[0]) if seeds > 1 else 0.0


def count_needed_seeds(spread: float, difference: float, *, tests: int = 1) -> int | None:
    """The fewest seeds that find a difference with `POWER`; None where `MOST_SEEDS` do not. Arguments as of `find_power`."""
    counts = np.arange(2, MOST_SEEDS + 1)
    enough = _compute_power(counts, spread, difference, tests) >= POWER
    return int(counts[np.argmax(enough)]) if enough.any() else None


def _compute_power(seeds: np.ndarray, spread: float, difference: float, tests: int) -> np.ndarray:
    """The power of each number of seeds, by the noncentral t distribution; a difference found with the wrong sign counts as none."""
    from scipy.stats import nct, t

    limit = t.ppf(1 - (1 - LEVEL) / tests / 2, seeds - 1)
    return nct.sf(limit, seeds - 1, difference / spread * np.sqrt(seeds))


def _judge(
    arm: str, seeds: list[int], seen: np.ndarray, p: float | None, smallest: float, *, planned: int, tests: int
) -> Difference:
    mean = float(seen.mean()) if len(seen) else None
    spread, limits = _spread(seen), interval(seen.tolist())
    if spread is None or limits is None or p is None or mean is None:
        power, verdict, words = None, "too few seeds", _judge_without_spread(seen)
    else:
        power = find_power(planned, spread, smallest, tests=tests)
        needed = count_needed_seeds(spread, smallest, tests=tests)
        inner = interval(seen.tolist(), 2 * LEVEL - 1)
        assert inner
        verdict = decide(p, mean, inner, smallest, enough=needed is not None and needed <= len(seen))
        words = _put_in_words(verdict, mean, limits, smallest, needed, len(seen))
    return Difference(arm, tuple(seeds), tuple(seen.tolist()), mean, limits, p, power, verdict, words)


def decide(p: float, mean: float, inner: tuple[float, float], smallest: float, *, enough: bool) -> str:
    """The verdict of a mean difference.

    Args:
        p: corrected for the number of arms.
        mean: the difference.
        inner: its 90% interval.
        smallest: the smallest difference of interest.
        enough: whether the seeds find that one with `POWER`.
    """
    if p <= 1 - LEVEL:
        return "better" if mean > 0 else "worse"
    if max(map(abs, inner)) <= smallest:
        return "tied"
    return "cannot tell" if enough else "too few seeds"


def _put_in_words(
    verdict: str, mean: float, limits: tuple[float, float], smallest: float, needed: int | None, seeds: int
) -> str:
    span = f"{100 * limits[0]:+.1f} to {100 * limits[1]:+.1f}"
    if verdict in ("better", "worse"):
        least, most = sorted(map(abs, limits))
        size = (
            "at least the smallest difference of interest"
            if least >= smallest
            else "less than the smallest difference of interest"
            if most < smallest
            else "perhaps less than the smallest difference of interest"
        )
        return f"{verdict} by {100 * abs(mean):.1f} points ({span}), {size}"
    if verdict == "tied":
        return f"tied: {100 * mean:+.1f} points, and the 90% interval lies within ±{100 * smallest:g}"
    told = f"cannot be told apart: {100 * mean:+.1f} points ({span})"
    if verdict == "cannot tell":
        return f"{told}, with seeds enough to find ±{100 * smallest:g} in 4 of 5 studies"
    more = f"more than {MOST_SEEDS}" if needed is None else f"about {needed - seeds} more"
    return f"{told}; too few seeds: {more} would be needed to find ±{100 * smallest:g}"


def _judge_without_spread(seen: np.ndarray) -> str:
    if len(seen) < 2:
        return f"too few seeds: {f'{len(seen)} seed has' if len(seen) else 'no seed has'} a run of both arms, and an interval needs two"
    return (
        f"too few seeds: the difference is {100 * float(seen[0]):+.1f} points in each of {len(seen)}; equal ones do not say how far "
        "they spread, and a setting that changes nothing gives equal ones"
    )


def _compute_p(seen: np.ndarray) -> float | None:
    """Student's two-sided p of "the mean is 0"; None where there is no spread to judge by."""
    from scipy.stats import t

    spread = _spread(seen)
    if spread is None:
        return None
    return float(2 * t.sf(abs(float(seen.mean())) / spread * sqrt(len(seen)), len(seen) - 1))


def _spread(seen: np.ndarray) -> float | None:
    """The standard deviation of the differences; None of fewer than two, or where all are the same."""
    if len(seen) < 2:
        return None
    spread = float(seen.std(ddof=1))
    return spread if spread > 1e-12 else None
