"""Levels of solve rates, 1 (easy) to 5 (hard), and how certain a level is (`grade.levels`, `grade.stop_when_certain`).

`thresholds`: by the solve rate alone, so that a level means the same in every dataset. `quantiles`: five levels of about
equal size by rank, so that every level has problems however strong the grader is. A few rollouts give few distinct solve rates;
within one solve rate quantiles rank the problem with the longer mean response as harder, and problems that agree in both by id.
A third rule, `operations`, takes the arithmetic operations of the published solution: after a supervised start on similar problems a
solve rate says what the policy remembers, and the number of steps what is hard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compass.operations import count_operations
from compass.settings import Grade

HARDEST = 5
"""The highest level; 1 is the easiest."""

LOOK = 8
"""Rollouts per problem between two looks at whether its level is certain."""


@dataclass(frozen=True)
class SolveRate:
    """One problem's rollouts: how many, the share that is right, and their mean length in tokens."""

    rollouts: int
    rate: float
    mean_tokens: float


def assign_levels(
    rates: Mapping[str, SolveRate], settings: Grade, solutions: Mapping[str, str | None]
) -> dict[str, int]:
    """Level by problem id, by the rule that `settings.levels` names.

    Args:
        rates: solve rates by problem id.
        settings: the rule, and thresholds.
        solutions: the problems' published solutions, which `operations` counts in; a problem without an operation has no level.
    """
    if settings.levels == "operations":
        operations = {name: count_operations(solutions[name] or "") for name in rates}
        return {name: min(count, HARDEST) for name, count in operations.items() if count}
    if settings.levels == "thresholds":
        return {name: threshold_level(rate.rate, settings.thresholds) for name, rate in rates.items()}
    return quantile_levels(rates)


def threshold_level(rate: float, thresholds: Sequence[float]) -> int:
    """1 plus the number of `thresholds` that `rate` does not reach.

    Args:
        rate: solve rate, 0..1.
        thresholds: the lowest solve rates of levels 1, 2, 3 and 4, falling.
    """
    return 1 + sum(rate < threshold for threshold in thresholds)


def quantile_levels(rates: Mapping[str, SolveRate]) -> dict[str, int]:
    """Five levels whose sizes differ by one problem at most, the highest solve rates in level 1."""
    ranked = sorted(rates, key=lambda name: (-rates[name].rate, rates[name].mean_tokens, name))
    return {name: 1 + rank * HARDEST // len(ranked) for rank, name in enumerate(ranked)}


def level_probability(right: int, rollouts: int, thresholds: Sequence[float]) -> float:
    """How probable it is that a problem's true solve rate lies in the level of the solve rate that was seen.

    The posterior of the true rate is a beta distribution (Bayes' own case: a uniform prior and independent rollouts).

    Args:
        right: right rollouts.
        rollouts: all of them, at least one.
        thresholds: the lowest solve rates of levels 1, 2, 3 and 4, falling.
    """
    from scipy.special import betainc

    edges = [1.0, *thresholds, 0.0]
    level = threshold_level(right / rollouts, thresholds)
    below_high, below_low = (betainc(1 + right, 1 + rollouts - right, edges[place]) for place in (level - 1, level))
    return float(below_high - below_low)
