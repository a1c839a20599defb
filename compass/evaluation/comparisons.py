"""Every pair of models compared on the problems that both answered, per benchmark and on average, with a verdict in words.

A model is called better where two things hold: the sign-flip test, corrected over the benchmarks of the pair by Holm's method,
is below 5%, and the 95% interval leaves 0 out. Two models are called tied where the 90% interval lies within 6 points on
either side of 0 (two one-sided tests of 5% each, Schuirmann 1987). Anything else says how large a difference would have been found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np
import pyarrow as pa

from compass.evaluation.paired import (
    LEVEL,
    Paired,
    around,
    detectable,
    detectable_at_best,
    holm,
    mean_difference,
    needed_problems,
    needed_samples,
    sign_flip_p,
)

TIE = 0.06
"""Widest margin, in accuracy, that is still called a tie."""

AVERAGE = "average"

Results = Mapping[str, Sequence[bool]]
"""Problem id to the marks of its samples."""


def compare_models(samples: pa.Table, *, seed: int) -> dict[str, Any]:
    """The content of `data/evaluate/comparisons.json`.

    Args:
        samples: columns `model`, `benchmark`, `id`, `greedy`, `correct`, `correct_lenient`; models may lack benchmarks, problems
            or samples that others have.
        seed: of the signs that are drawn where the test is not exact.

    Returns:
        `{"level", "tie", "pairs": [{"model", "other", "benchmarks": {NAME: comparison}, "average": comparison}]}`: the later model
        is compared with the earlier one. `comparison` is that of `compare` and of `compare_average`, with `p_corrected`; `lenient` (the
        difference by lenient marks) and `form` (the strict difference less the lenient one), each with `ci95`; `verdict` and `words`.
    """
    strict, lenient = (_marks(samples, column) for column in ("correct", "correct_lenient"))
    pairs = []
    for other, model in combinations(strict, 2):
        names = [name for name in strict[model] if name in strict[other]]
        each = {name: compare(strict[model][name], strict[other][name], seed=seed) for name in names}
        for name in names:
            each[name] |= _form(
                pair_up(strict[model][name], strict[other][name]), pair_up(lenient[model][name], lenient[other][name])
            )
        _correct(each)
        average = {"missing": sum(one["missing"] for one in each.values())}
        average |= compare_average(
            [pair_up(strict[model][name], strict[other][name]) for name in names],
            [pair_up(lenient[model][name], lenient[other][name]) for name in names],
            seed=seed,
        )
        for comparison in (*each.values(), average):
            comparison.update(judge(comparison))
        pairs.append({"model": model, "other": other, "benchmarks": each, AVERAGE: average})
    return {"level": LEVEL, "tie": TIE, "correction": "Holm, over the benchmarks of a pair", "pairs": pairs}


def pair_up(ours: Results, theirs: Results) -> Paired | None:
    """The problems that both models answered; None where there is none."""
    shared = [name for name in theirs if name in ours]
    if not shared:
        return None
    return Paired(
        shares=np.array([np.mean(ours[name]) for name in shared]),
        other=np.array([np.mean(theirs[name]) for name in shared]),
        samples=np.array([len(ours[name]) for name in shared]),
        other_samples=np.array([len(theirs[name]) for name in shared]),
    )


def compare(ours: Results, theirs: Results, *, seed: int) -> dict[str, Any]:
    """One benchmark's comparison.

    Returns:
        `problems` (that both answered), `missing` (that one of them did not), `samples` ([fewest, most] per problem). Where
        problems are shared: `difference` (-1..1) with `ci95` and `ci90`, `p`, `gained` and `lost` (problems whose share rose and fell);
        `sd` with `samples` (what other seeds would move the difference by) and `problems` (what other problems would), as standard
        deviations, null with one sample; `detectable` (the smallest difference found in 80 of 100 repetitions), `detectable_at_best` (with
        any number of samples), and `needed` problems or samples to show the difference seen.
    """
    paired = pair_up(ours, theirs)
    counts = [len(marks) for results in (ours, theirs) for marks in results.values()]
    base: dict[str, Any] = {
        "problems": paired.problems if paired else 0,
        "missing": len(ours.keys() ^ theirs.keys()),
        "samples": [min(counts, default=0), max(counts, default=0)],
    }
    if paired is None:
        return base
    moved = paired.differences
    return base | {
        "difference": paired.difference,
        "ci95": list(paired.interval()),
        "ci90": list(paired.interval(2 * LEVEL - 1)),
        "p": sign_flip_p([paired], seed=seed),
        "gained": int((moved > 0).sum()),
        "lost": int((moved < 0).sum()),
        "sd": {"samples": _root(paired.sampling_variance), "problems": _root(paired.problem_variance)},
        "detectable": detectable([paired]),
        "detectable_at_best": detectable_at_best(paired),
        "needed": {
            "difference": abs(paired.difference),
            "problems": needed_problems(paired, paired.difference),
            "samples": needed_samples(paired, paired.difference),
        },
    }


def compare_average(each: Sequence[Paired | None], lenient: Sequence[Paired | None], *, seed: int) -> dict[str, Any]:
    """The comparison of the unweighted mean over benchmarks; keys as in `compare`, without `gained`, `lost` and `needed`."""
    found = [one for one in each if one is not None]
    if not found:
        return {"problems": 0, "benchmarks": 0}
    difference, variance, freedom = mean_difference(found)
    sampling = [one.sampling_variance for one in found]
    by_samples = None if None in sampling else sum(sampling) / len(found) ** 2  # type: ignore[arg-type]
    loose = [one for one in lenient if one is not None]
    chance = sign_flip_p(found, seed=seed)
    return {
        "problems": sum(one.problems for one in found),
        "benchmarks": len(found),
        "samples": [
            int(min(min(one.samples.min(), one.other_samples.min()) for one in found)),
            int(max(max(one.samples.max(), one.other_samples.max()) for one in found)),
        ],
        "difference": difference,
        "ci95": list(around(difference, variance, freedom, LEVEL)),
        "ci90": list(around(difference, variance, freedom, 2 * LEVEL - 1)),
        "p": chance,
        "p_corrected": chance,
        "sd": {
            "samples": _root(by_samples),
            "problems": None if by_samples is None else _root(max(variance - by_samples, 0.0)),
        },
        "detectable": detectable(found),
        "lenient": _mean_interval(loose),
        "form": _mean_interval([_form_gain(*both) for both in zip(found, loose, strict=True)]),
    }


def judge(comparison: Mapping[str, Any]) -> dict[str, str]:
    """The verdict: `verdict` is `better`, `worse`, `tied`, `cannot tell` or `not compared`; `words` says it with its figures."""
    if not comparison["problems"]:
        return {"verdict": "not compared", "words": "not compared: no problem that both models answered"}
    difference, (low, high) = comparison["difference"], comparison["ci95"]
    if comparison["p_corrected"] <= 1 - LEVEL and not low <= 0 <= high:
        verdict = "better" if difference > 0 else "worse"
        span = sorted((abs(low), abs(high)))
        words = f"{verdict} by {_points(abs(difference))} points ({_points(span[0])} to {_points(span[1])})"
        return {"verdict": verdict, "words": words + _in_form(comparison) + _left_out(comparison)}
    bound = max(abs(limit) for limit in comparison["ci90"])
    if bound <= TIE:
        return {
            "verdict": "tied",
            "words": f"tied within ±{_up(bound)} point{'s' * (_up(bound) > 1)}" + _left_out(comparison),
        }
    return {"verdict": "cannot tell", "words": f"cannot tell: {_size(comparison)}" + _left_out(comparison)}


def _left_out(comparison: Mapping[str, Any]) -> str:
    missing = comparison["missing"]
    return f"; left out: {missing} problem{'s' * (missing > 1)} that one model alone answered" if missing else ""


def _size(comparison: Mapping[str, Any]) -> str:
    fewest, most = comparison["samples"]
    samples = f"{most} sample{'s' * (most > 1)}" if fewest == most else f"{fewest} to {most} samples"
    words = f"{comparison['problems']} problem{'s' * (comparison['problems'] > 1)} with {samples} can show {_up(comparison['detectable'])} points at best"
    needed = comparison.get("needed")
    if not needed or not needed["problems"]:
        return words
    words += f"; the {_points(needed['difference'])} seen would need {_round_up(needed['problems']):,} problems"
    return words + (f" or {needed['samples']:,} samples" if needed["samples"] else "")


def _in_form(comparison: Mapping[str, Any]) -> str:
    """How much of a difference is gone once any final answer counts, where that much is more than chance."""
    form, lenient = comparison["form"], comparison["lenient"]
    if form["ci95"][0] <= 0 <= form["ci95"][1] or form["difference"] * comparison["difference"] < 0:
        return ""
    found = f"counting any final answer the difference is {lenient['difference'] * 100:+.1f} points"
    if lenient["ci95"][0] <= 0 <= lenient["ci95"][1]:
        return f", in form alone: {found}"
    return f", {_points(abs(form['difference']))} of them in form: {found}"


def _form(strict: Paired | None, lenient: Paired | None) -> dict[str, Any]:
    """The difference by lenient marks, and how much of the strict one is not in it."""
    if strict is None or lenient is None:
        return {}
    return {"lenient": _mean_interval([lenient]), "form": _mean_interval([_form_gain(strict, lenient)])}


def _form_gain(strict: Paired, lenient: Paired) -> Paired:
    """Per problem, the strict difference less the lenient one."""
    return Paired(strict.differences, lenient.differences, strict.samples, strict.other_samples)


def _mean_interval(each: Sequence[Paired]) -> dict[str, Any]:
    middle, variance, freedom = mean_difference(each)
    return {"difference": middle, "ci95": list(around(middle, variance, freedom, LEVEL))}


def _correct(each: Mapping[str, dict[str, Any]]) -> None:
    """Add `p_corrected` to the benchmarks that were compared."""
    compared = [comparison for comparison in each.values() if comparison["problems"]]
    for comparison, chance in zip(compared, holm([one["p"] for one in compared]), strict=True):
        comparison["p_corrected"] = chance


def _marks(samples: pa.Table, column: str) -> dict[str, dict[str, dict[str, list[bool]]]]:
    """Model, benchmark and problem to the marks of the sampled responses, greedy ones left out."""
    found: dict[str, dict[str, dict[str, list[bool]]]] = {}
    rows = zip(
        *(samples.column(name).to_pylist() for name in ("model", "benchmark", "id", "greedy", column)), strict=True
    )
    for model, benchmark, name, greedy, right in rows:
        marks = found.setdefault(model, {}).setdefault(benchmark, {})
        if not greedy:
            marks.setdefault(name, []).append(right)
    return found


def _root(variance: float | None) -> float | None:
    return None if variance is None else variance**0.5


def _points(share: float) -> str:
    return f"{share * 100:.1f}"


def _up(share: float) -> int:
    return ceil(round(share * 100, 6))


def _round_up(count: int) -> int:
    """To two figures: a need is no more exact than that."""
    step = 10 ** max(len(str(count)) - 2, 0)
    return -(-count // step) * step
