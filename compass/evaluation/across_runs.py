"""What training a recipe again would change: a score's mean over training runs, its interval, and how much of its spread is the training's.

A run's own interval covers the choice of problems and of responses. Two training runs of one recipe differ as well, by the seed and by the order
of parallel sums, and only several runs show by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev, variance
from typing import Any

from compass.evaluation.accuracy import NORMAL
from compass.evaluation.paired import LEVEL


def summarise_runs(
    values: Sequence[float],
    samples: Sequence[float | None],
    problems: Sequence[float | None],
    *,
    shared: float,
    limits: tuple[float, float] = (0.0, 1.0),
) -> dict[str, Any]:
    """The mean of a score over training runs of one recipe, and what it varies by.

    The spread over runs holds that of the samples, and that of the problems as far as each run was evaluated on problems of its own. What is left is
    the training run's (one-way analysis of variance with known errors; 0 where they explain all of it). The interval of the mean is Student's over the runs;
    what other problems would change does not show in the spread where all runs share them, and is added in squares (MOVER). With two runs it is wide:
    one degree of freedom.

    Args:
        values: the score per run, two at least.
        samples: the standard deviation per run that other samples would give (`sd.samples`); None where it is not known.
        problems: the one that other problems would give (`sd.problems`); None where it is not known.
        shared: the share of the problems that all runs were evaluated on, 0..1.
        limits: the lowest and the highest value that the score can take.

    Returns:
        `runs`, `mean`, `ci95`, `lowest`, `highest`, and `sd`: `runs` (seen over the runs), `samples`, `problems` and `training` (the training run's
        part); a part is None where it is not known.

    Raises:
        ValueError: fewer than two runs.
    """
    if len(values) < 2:
        raise ValueError("the spread over training runs needs two of them at least")
    middle, seen = fmean(values), variance(values)
    by_samples, by_problems = (_mean_square(each) for each in (samples, problems))
    half = sqrt(half_width(values) ** 2 + NORMAL**2 * shared * (by_problems or 0.0))
    training = None
    if by_samples is not None and by_problems is not None:
        training = sqrt(max(seen - by_samples - (1 - shared) * by_problems, 0.0))
    return {
        "runs": len(values),
        "mean": middle,
        "ci95": [max(limits[0], middle - half), min(limits[1], middle + half)],
        "lowest": min(values),
        "highest": max(values),
        "sd": {
            "runs": stdev(values),
            "samples": None if by_samples is None else sqrt(by_samples),
            "problems": None if by_problems is None else sqrt(by_problems),
            "training": training,
        },
    }


def half_width(values: Sequence[float], level: float = LEVEL) -> float:
    """Half the width of Student's interval of the mean of one value per training run, two at least."""
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, len(values) - 1)) * stdev(values) / sqrt(len(values))


def _mean_square(deviations: Sequence[float | None]) -> float | None:
    known = [one for one in deviations if one is not None]
    return fmean(one**2 for one in known) if len(known) == len(deviations) else None
