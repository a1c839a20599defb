"""Levels 1 (easy) to 5 (hard) from solve rates.

Two rules. `thresholds`: by the solve rate alone, so that a level means the same in every dataset. `quantiles`: five
levels of about equal size by rank, so that every level has problems however strong the grader is. A few rollouts give
few distinct solve rates; within one solve rate quantiles rank the problem with the longer mean response as harder, and
problems that agree in both by id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compass.grading.solve_rate import SolveRate
from compass.settings import Grade

HARDEST = 5
"""The highest level; 1 is the easiest."""


def assign_levels(rates: Mapping[str, SolveRate], settings: Grade) -> dict[str, int]:
    """Level by problem id, by the rule that `settings.levels` names."""
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
