"""When a problem's level is certain, so that no more rollouts of it are sampled (`grade.stop_when_certain`)."""

from __future__ import annotations

from collections.abc import Sequence

LOOK = 8
"""Rollouts per problem between two looks at whether its level is certain."""


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
    level = sum(right / rollouts < threshold for threshold in thresholds)
    below_high, below_low = (betainc(1 + right, 1 + rollouts - right, edges[place]) for place in (level, level + 1))
    return float(below_high - below_low)
