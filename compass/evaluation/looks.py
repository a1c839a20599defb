"""Sampling in rounds until the comparison that decides has a verdict, with limits that keep its error at 5%.

Whoever tests after each round and stops at the first p below 5% finds a difference that is not there in up to 15% of cases. Here the 5% are spent
over the looks: the limit of a look follows from Lan and DeMets' spending function that resembles O'Brien and Fleming's limits (1983, Biometrika 70),
each side has spent `2 - 2 Phi(z / sqrt(t))` at information `t`, and from the joint distribution of what the looks see (Armitage, McPherson and Rowe 1969). Neither
the number of looks nor their times need to be fixed before; the most samples need to be.

Information is the inverse variance of the difference, as a share of what it will be with the most samples. More samples on the same problems shrink the
sampling variance alone, so information grows more slowly than samples. Differences at two looks have as covariance the variance at the later one: those of
the problems are the same, and later samples are independent of earlier ones. That is what the limits assume.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import pi, sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from compass.errors import UserError
from compass.evaluation.comparisons import PRIMARY_SHARE, decide, default_primary, measure_difference, pair_models
from compass.evaluation.paired import LEVEL, Paired

MOST_BEFORE_LAST = 0.99
"""Information of a look that is not the last, at most."""

NODES = 300
"""Points per look of the numerical integration."""


class LooksError(UserError):
    """A plan of looks that cannot be kept; the message says why and what to do."""


def plan_rounds(samples: int, at_most: int) -> list[int]:
    """Samples per problem after each round: twice as many each time, and `at_most` at the end.

    Args:
        samples: of the first round, 2 at least: with one the sampling variance is not known.
        at_most: of the last.
    """
    rounds = [samples]
    while rounds[-1] < at_most:
        rounds.append(min(2 * rounds[-1], at_most))
    return rounds


def find_pair(models: Sequence[str], primary: Sequence[str] | None) -> list[str]:
    """The two models whose comparison decides: `primary`, else the last and `base`, else the last and the first.

    Raises:
        LooksError: there are not two, or `primary` names another.
    """
    if primary and (len(set(primary)) != 2 or not set(primary) <= set(models)):
        raise LooksError(
            f"the comparison that decides needs two of the models {', '.join(models)}; found {', '.join(primary)}"
        )
    if len(models) < 2:
        raise LooksError("sampling until a verdict compares two models; give a second one")
    return list(primary or default_primary(models) or (models[-1], models[0]))


def find_limits(information: Sequence[float], alpha: float = 1 - LEVEL) -> list[float]:
    """The p that each look has to reach, so that all looks together call alike models different with probability `alpha`.

    Args:
        information: of each look so far, rising, 1 at the last that is planned.
        alpha: the error of all looks together.

    Returns:
        One limit per look.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr, ndtri

    z = float(ndtri(1 - alpha / 4))  # each side spends alpha / 2
    points, weights = _gauss_points()
    # Of the Brownian motion where no look has stopped: points, and their share of it.
    at, mass = np.zeros(1), np.ones(1)
    spent, before, limits = 0.0, 0.0, []
    for time in information:
        own, step, most = 4 * float(ndtr(-z / sqrt(time))) - spent, sqrt(time - before), 9 * sqrt(time)

        def excess(
            limit: float, at: np.ndarray = at, mass: np.ndarray = mass, step: float = step, own: float = own
        ) -> float:
            return float(mass @ (ndtr((at - limit) / step) + ndtr((-at - limit) / step))) - own

        # A look so early that nothing can be spent stops nothing.
        limit = most if excess(most) > 0 else brentq(excess, 0, most, xtol=1e-14)
        limits.append(2 * float(ndtr(-limit / sqrt(time))))
        here = limit * points
        mass = np.exp(-(((here[:, None] - at) / step) ** 2) / 2) @ mass / (step * sqrt(2 * pi)) * (limit * weights)
        at, spent, before = here, spent + own, time
    return limits


@cache
def _gauss_points() -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(NODES)


def measure_information(each: Sequence[Paired], at_most: int) -> float:
    """The information of a comparison, 0..1, as a share of what it is with `at_most` samples per problem.

    Args:
        each: benchmarks, which weigh alike; two samples per problem at least.
        at_most: samples per problem at the last look.
    """
    problems = sampling = at_last = 0.0
    for one in each:
        own = one.sampling_variance or 0.0
        problems += max(one.spread / one.count - own, 0.0)
        sampling += own
        at_last += own * 2 / (1 / one.samples.mean() + 1 / one.other_samples.mean()) / at_most
    if not problems + sampling:
        return float(min(min(one.samples.min(), one.other_samples.min()) / at_most for one in each))
    return float((problems + at_last) / (problems + sampling))


def judge_look(
    each: Sequence[Paired], made: Sequence[Mapping[str, Any]], *, at_most: int, alpha: float, seed: int
) -> dict[str, Any]:
    """One look at a comparison.

    Args:
        each: benchmarks, which weigh alike.
        made: the looks before, as returned.
        at_most: samples per problem at the last look.
        alpha: the error of all looks together.
        seed: of the drawn signs of the test.

    Returns:
        `samples` (fewest per problem), `information` (0..1), `limit` (which p has to reach), `p`, `difference`, and `verdict`: `better` or `worse` where p reaches the
        limit and the interval at 1 - limit leaves 0 out, `tied` as in `comparisons.judge` with the limit in place of 5%, else `cannot tell`.
    """
    samples = int(min(min(one.samples.min(), one.other_samples.min()) for one in each))
    before = made[-1]["information"] if made else 0.0
    time = 1.0
    if samples < at_most:
        time = min(measure_information(each, at_most), MOST_BEFORE_LAST)
        if time <= before + 1e-3:  # an estimate; information cannot fall
            time = before + (1 - before) / 10
    limit = find_limits([*(one["information"] for one in made), time], alpha)[-1]
    found = measure_difference(each, seed=seed, level=1 - limit)
    corrected = min(1.0, found["p"] * (1 - LEVEL) / limit)
    return {
        "samples": samples,
        "information": time,
        "limit": limit,
        "p": found["p"],
        "difference": found["difference"],
        "verdict": decide(found | {"p_corrected": corrected}),
    }


def sample_until_verdict(
    sample: Callable[[int], pa.Table],
    *,
    samples: int,
    at_most: int,
    pair: Sequence[str],
    seed: int,
    clusters: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Sample in rounds until two models' average difference has a verdict, or `at_most` samples per problem are there.

    Args:
        sample: from samples per problem to the responses of all models so far (columns as in `compare_models`); the pair has as many samples then.
        samples: per problem in the first round.
        at_most: in the last.
        pair: the two models.
        seed: of the drawn signs of the tests.
        clusters: the cluster of each problem that shares one, by its id.

    Returns:
        The looks, for `compare_models`: `pair`, `at_most`, `alpha` (the part of the 5% that the pair gets at first) and `made`, of `judge_look`.

    Raises:
        LooksError: the two models share no problem.
    """
    made: list[dict[str, Any]] = []
    for count in plan_rounds(samples, at_most):
        found = sample(count)
        alpha = (1 - LEVEL) * (PRIMARY_SHARE if len(found.column("model").unique()) > 2 else 1)
        each = pair_models(found, *pair, clusters=clusters)
        if not each:
            raise LooksError(f"{pair[0]} and {pair[1]} answered no problem both, so no verdict can be reached")
        made.append(judge_look(each, made, at_most=at_most, alpha=alpha, seed=seed))
        looks = {"pair": list(pair), "at_most": at_most, "alpha": alpha, "made": made}
        print(f"evaluate: {describe_look(looks, len(made))}", flush=True)
        if made[-1]["verdict"] != "cannot tell":
            break
    return looks


def describe_look(looks: Mapping[str, Any], number: int) -> str:
    """One look as a sentence, `number` from 1."""
    one = looks["made"][number - 1]
    return (
        f"look {number} at {' against '.join(looks['pair'])}: {one['samples']} of at most {looks['at_most']} samples, difference "
        f"{100 * one['difference']:+.1f} points, p = {one['p']:.2g}, limit {one['limit']:.2g}: {one['verdict']}"
    )


def describe_looks(looks: Mapping[str, Any]) -> str:
    """All looks as a sentence: `Stopped after 16 of at most 64 samples; 3 looks; limit at this look p < 0.012.`"""
    made, most = looks["made"], looks["at_most"]
    count, last = len(made), made[-1]
    ended = "Stopped after" if last["samples"] < most else "Sampled to the end,"
    return (
        f"{ended} {last['samples']} of at most {most} samples per problem; {count} look{'s' * (count > 1)} at {' against '.join(looks['pair'])}; "
        f"limit at this look p < {last['limit']:.2g}."
    )


def check_plan(
    made: Mapping[str, Any] | None, models: Sequence[str], *, at_most: int, samples: int, pair: Sequence[str] | None
) -> None:
    """Refuse to sample on where looks were planned otherwise: limits hold for the plan that they were made for.

    Args:
        made: the looks of an evaluation that is added to; None where there are none.
        models: those that are sampled now.
        at_most: of the plan now; 0 without one.
        samples: of the first round.
        pair: of the plan now.

    Raises:
        LooksError: the plans differ, and one of the two models is sampled.
    """
    if not made or not set(made["pair"]) & set(models):
        return
    before = (made["at_most"], made["made"][0]["samples"], set(made["pair"]))
    if (at_most, samples, set(pair or ())) != before:
        raise LooksError(
            f"{' and '.join(made['pair'])} were sampled until a verdict: --samples {before[1]} --until verdict --at-most {before[0]}; more samples "
            "after these looks would need a plan made before them. Give the same plan, or another --out"
        )
