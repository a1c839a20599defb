"""Every pair of models compared on the problems that both answered, per benchmark and on average, with a verdict in words.

Sampled accuracy decides; greedy accuracy, pass@k and maj@k are compared on the same problems, each with its own interval and test, and
`weigh_measures` says in a sentence what all of them say together.

A model is called better where two things hold: the sign-flip test, corrected by Holm's method, is below 5%, and the 95% interval
leaves 0 out. Two models are called tied where the 90% interval lies within 6 points on either side of 0 (two one-sided tests of 5%
each, Schuirmann 1987). Anything else says how large a difference would have been found.

One pair decides (`primary`): its average over benchmarks gets `PRIMARY_SHARE` of the 5%, and all other pairs share the rest, so that
the chance that any pair is called better by mistake stays near 5% however many models there are. What the found differences do not
use passes on to the others. The benchmarks of all pairs are corrected together in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain, combinations
from math import ceil, comb
from typing import Any

import numpy as np
import pyarrow as pa

from compass.evaluation.accuracy import maj_at_k, number_clusters, number_votes, pass_at_k
from compass.evaluation.paired import (
    LEVEL,
    Paired,
    around,
    detectable,
    detectable_at_best,
    holm,
    holm_levels,
    mean_difference,
    needed_problems,
    needed_samples,
    sign_flip_p,
)
from compass.verifier import same_answer

TIE = 0.06
"""Widest margin, in accuracy, that is still called a tie."""

PRIMARY_SHARE = 0.8
"""The part of the level that the pair that decides gets at first: it is tested at 4%, and at 5% once the others are found."""

AVERAGE = "average"

Results = Mapping[str, Sequence[bool]]
"""Problem id to the marks of its samples."""


def compare_models(
    samples: pa.Table,
    *,
    seed: int,
    primary: Sequence[str] | None = None,
    clusters: Mapping[str, str] | None = None,
    looks: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The content of `data/evaluate/comparisons.json`.

    Args:
        samples: columns `model`, `benchmark`, `id`, `greedy`, `answer`, `correct`, `correct_lenient`; models may lack benchmarks, problems
            or samples that others have. Without `answer` majorities are not compared.
        seed: of the signs that are drawn where the test is not exact.
        primary: the two models whose comparison decides; without it the last one and `base`, or none where there is no base.
        clusters: the cluster of each problem that shares one, by its id; clusters are the independent units then.
        looks: where samples were added until there was a verdict, the looks so far (`compass.evaluation.looks`): the last one's limit takes the place
            of 5% in every interval and test.

    Returns:
        `{"level", "tie", "primary", "correction", "looks" where given, "pairs": [{"model", "other", "benchmarks": {NAME: comparison}, "average": comparison}]}`:
        the later model is compared with the earlier one. `comparison` holds

        - `problems` (that both answered), `missing` (that one of them did not), `samples` ([fewest, most] per problem); of a benchmark `clusters` where
          problems share them, `gained` and `lost` (problems whose share rose and fell); of the average the number of `benchmarks`;
        - where problems are shared, `difference` (-1..1) with `ci95` and `ci90`, and `p`; `sd` with `samples` (what other seeds would move the difference
          by) and `problems` (what other problems would), as standard deviations, null with one sample; `lenient` (the difference by lenient marks) and
          `form` (the strict difference less the lenient one), each with `ci95`;
        - `p_corrected`, and at the level that is left `detectable` (the smallest difference found in 80 of 100 repetitions); of a benchmark
          `detectable_at_best` (with any number of samples), and `needed` problems or samples to show the difference seen;
        - `measures`, of `compare_measures`; `verdict` and `words`.
    """
    strict, lenient = (_marks(samples, column) for column in ("correct", "correct_lenient"))
    level = level_of(looks)
    pair_measures = _measures(samples, strict, clusters)
    decides = list(primary) if primary else default_primary(list(strict))
    pairs, averages, cells = [], [], []
    for other, model in combinations(strict, 2):
        marks = {name: (ours, strict[other][name]) for name, ours in strict[model].items() if name in strict[other]}
        each = {name: _count(*both) for name, both in marks.items()}
        shared = {name: one for name, both in marks.items() if (one := pair_up(*both, clusters))}
        loose = {name: pair_up(lenient[model][name], lenient[other][name], clusters) for name in shared}
        average: dict[str, Any] = {
            "problems": sum(one.problems for one in shared.values()),
            "missing": sum(one["missing"] for one in each.values()),
            "benchmarks": len(shared),
        }
        for name, one in shared.items():
            each[name] |= _compare([one], [loose[name]], seed=seed, level=level) | _count_moved(one)
        if shared:
            counts = [count for one in shared.values() for side in (one.samples, one.other_samples) for count in side]
            average |= {"samples": [int(min(counts)), int(max(counts))]}
            average |= _compare(list(shared.values()), list(loose.values()), seed=seed, level=level)
        measures = pair_measures(model, other, list(shared))
        for name, comparison in each.items():
            own = {measure: [found[name]] for measure, found in measures.items() if name in found}
            comparison["measures"] = compare_measures(own, seed=seed, level=level)
        whole = {measure: list(found.values()) for measure, found in measures.items() if len(found) == len(shared)}
        average["measures"] = compare_measures(whole, seed=seed, level=level)
        weight = pair_weight(is_primary={model, other} == set(decides or ()), pairs=comb(len(strict), 2))
        averages.append((average, list(shared.values()), weight))
        cells += [(each[name], [one], weight / len(shared)) for name, one in shared.items()]
        pairs.append({"model": model, "other": other, "benchmarks": each, AVERAGE: average})
    for family in (averages, cells):
        _correct(family, level)
    for pair in pairs:
        for comparison in (*pair["benchmarks"].values(), pair[AVERAGE]):
            comparison.update(judge(comparison))
    found = {"level": LEVEL, "tie": TIE, "primary": decides, "correction": CORRECTION, "pairs": pairs}
    return found | ({"looks": dict(looks)} if looks else {})


def level_of(looks: Mapping[str, Any] | None) -> float:
    """The level of intervals and tests: 95%, or what the limit of the last look leaves of it.

    That limit belongs to `alpha`, the part of the 5% that the pair that decides is tested at first.
    """
    return 1 - (1 - LEVEL) * looks["made"][-1]["limit"] / looks["alpha"] if looks else LEVEL


def pair_models(samples: pa.Table, model: str, other: str, clusters: Mapping[str, str] | None = None) -> list[Paired]:
    """Two models' sampled accuracies on the problems that both answered, per benchmark that has any; columns as in `compare_models`."""
    marks = _marks(samples, "correct")
    ours, theirs = marks[model], marks[other]
    return [one for name in ours if name in theirs and (one := pair_up(ours[name], theirs[name], clusters))]


CORRECTION = "Holm, over the averages of all pairs, and over the benchmarks of all pairs"


def default_primary(models: Sequence[str]) -> list[str] | None:
    """The last model against `base`; None where there is no base or nothing else."""
    return [models[-1], "base"] if "base" in models and models[-1] != "base" else None


def pair_weight(*, is_primary: bool, pairs: int) -> float:
    """The part of the level that a pair of models gets at first, of `pairs` in all."""
    return PRIMARY_SHARE if is_primary else (1 - PRIMARY_SHARE) / max(pairs - 1, 1)


def pair_up(ours: Results, theirs: Results, clusters: Mapping[str, str] | None = None) -> Paired | None:
    """The problems that both models answered, with their clusters; None where there is none."""
    shared = [name for name in theirs if name in ours]
    if not shared:
        return None
    return Paired(
        shares=np.array([np.mean(ours[name]) for name in shared]),
        other=np.array([np.mean(theirs[name]) for name in shared]),
        samples=np.array([len(ours[name]) for name in shared]),
        other_samples=np.array([len(theirs[name]) for name in shared]),
        clusters=number_clusters(shared, clusters),
    )


def _count(ours: Results, theirs: Results) -> dict[str, Any]:
    """How many problems both models answered, how many one alone did, and the fewest and most samples of a problem."""
    counts = [len(marks) for results in (ours, theirs) for marks in results.values()]
    samples = [min(counts, default=0), max(counts, default=0)]
    return {
        "problems": len(ours.keys() & theirs.keys()),
        "missing": len(ours.keys() ^ theirs.keys()),
        "samples": samples,
    }


def _count_moved(paired: Paired) -> dict[str, int]:
    """How many problems' shares rose and fell, and how many clusters there are where problems share them."""
    moved = paired.differences
    found = {"gained": int((moved > 0).sum()), "lost": int((moved < 0).sum())}
    return found if paired.clusters is None else found | {"clusters": paired.count}


def measure_difference(each: Sequence[Paired], *, seed: int, level: float) -> dict[str, Any]:
    """The mean difference over benchmarks with its intervals (`ci95` at the level, `ci90` at that of two tests of one side), and the sign-flip test's `p`."""
    difference, variance, freedom = mean_difference(each)
    return {
        "difference": difference,
        "ci95": list(around(difference, variance, freedom, level)),
        "ci90": list(around(difference, variance, freedom, 2 * level - 1)),
        "p": sign_flip_p(each, seed=seed),
    }


def _compare(each: Sequence[Paired], lenient: Sequence[Paired], *, seed: int, level: float) -> dict[str, Any]:
    """The comparison of one benchmark, or of the unweighted mean over several; `lenient` are the same problems by lenient marks."""
    _, variance, _ = mean_difference(each)
    sampling = [one.sampling_variance for one in each]
    by_samples = None if None in sampling else sum(sampling) / len(each) ** 2
    by_problems = None if by_samples is None else max(variance - by_samples, 0.0)
    return measure_difference(each, seed=seed, level=level) | {
        "sd": {"samples": _root(by_samples), "problems": _root(by_problems)},
        "lenient": _mean_interval(lenient, level),
        "form": _mean_interval([_form_gain(*both) for both in zip(each, lenient, strict=True)], level),
    }


def compare_measures(
    measures: Mapping[str, Sequence[Paired]], *, seed: int, level: float = LEVEL
) -> dict[str, dict[str, Any]]:
    """Greedy accuracy, pass@k and maj@k of two models, each tested by signs of the problems' differences, corrected by Holm over the measures.

    One response per problem and one benchmark: the test is McNemar's exact one.

    Args:
        measures: name to each benchmark's estimates per problem.
        seed: of the drawn signs.

    Returns:
        Name to `values` (both models', 0..1), `difference` with `ci95` and `ci90`, `p`, `p_corrected` and `verdict` (as in `judge`).
    """
    found: dict[str, dict[str, Any]] = {}
    for name, each in measures.items():
        values = [float(np.mean([getattr(one, side).mean() for one in each])) for side in ("shares", "other")]
        found[name] = {"values": values, **measure_difference(each, seed=seed, level=level)}
    for one, chance in zip(found.values(), holm([scale_p(one["p"], level) for one in found.values()]), strict=True):
        one["p_corrected"] = chance
        one["verdict"] = decide(one)
    return found


PairMeasures = Callable[[str, str, Sequence[str]], dict[str, dict[str, Paired]]]


def _measures(
    samples: pa.Table, sampled: Mapping[str, Mapping[str, Results]], clusters: Mapping[str, str] | None
) -> PairMeasures:
    """A function of two models and benchmarks: measure besides sampled accuracy to benchmark to both models' estimates on the problems that both answered."""
    greedy = _marks(samples, "correct", greedy=True)
    answers = _marks(samples, "answer") if "answer" in samples.column_names else {}

    @cache
    def majorities(model: str, benchmark: str, k: int) -> dict[str, float]:
        found = {}
        for id_, marks in sampled[model][benchmark].items():
            votes = number_votes(answers[model][benchmark][id_][:k], marks[:k], same_answer)
            found[id_] = maj_at_k(marks[:k], votes, k)
        return found

    def pair(model: str, other: str, benchmarks: Sequence[str]) -> dict[str, dict[str, Paired]]:
        """`k` is the fewest samples of a problem of either model on these benchmarks, so that it is one number for all of them."""
        counts = (map(len, sampled[one][name].values()) for one in (model, other) for name in benchmarks)
        k = min(chain.from_iterable(counts), default=1)
        estimates = {"greedy": lambda one, name: {id_: own[0] for id_, own in greedy[one].get(name, {}).items()}}
        if k > 1 and answers:
            estimates[f"maj@{k}"] = lambda one, name: majorities(one, name, k)
        if k > 1:
            estimates[f"pass@{k}"] = lambda one, name: {
                id_: pass_at_k(len(own), sum(own), k) for id_, own in sampled[one][name].items()
            }
        found: dict[str, dict[str, Paired]] = {}
        for measure, estimate in estimates.items():
            for name in benchmarks:
                sides = ({id_: [value] for id_, value in estimate(one, name).items()} for one in (model, other))
                if paired := pair_up(*sides, clusters=clusters):
                    found.setdefault(measure, {})[name] = paired
        return found

    return pair


CEILING = 0.95
"""A pass@k of both models from which on a rise has no room to show."""

UNLIKE = {"better": "better", "worse": "worse", "tied": "tied", "cannot tell": "cannot be told apart"}


def list_measures(comparison: Mapping[str, Any]) -> str:
    """Each measure beside sampled accuracy with both values and its verdict, as text; empty where none was compared."""
    parts = []
    for name, one in (comparison.get("measures") or {}).items():
        ours, theirs = (f"{100 * value:.1f}" for value in one["values"])
        parts.append(f"{name} {ours} against {theirs}, {UNLIKE[one['verdict']]}")
    return "; ".join(parts)


def weigh_measures(comparison: Mapping[str, Any]) -> str:
    """What follows from sampled accuracy and all other measures together; empty where nothing does, or no other was compared.

    pass@k is the chance that k tries solve a problem, so it says what a model can reach; sampled accuracy rises as well where a model
    only becomes surer of what it reached before ("sharper").
    """
    measures = comparison.get("measures") or {}
    if not measures:
        return ""
    verdicts = {name: one["verdict"] for name, one in measures.items()}
    sampled = comparison["verdict"]
    if sampled not in ("better", "worse"):
        moved = [name for name, verdict in verdicts.items() if verdict in ("better", "worse")]
        return f"only {' and '.join(moved)} moved" if moved else ""
    opposite = {"better": "worse", "worse": "better"}[sampled]
    if against := [name for name, verdict in verdicts.items() if verdict == opposite]:
        return f"the measures disagree, {' and '.join(against)} moved the other way"
    if all(verdict == sampled for verdict in verdicts.values()):
        return f"{sampled} by every measure"
    reach = next((verdict for name, verdict in verdicts.items() if name.startswith("pass@")), sampled)
    if sampled == "better" and reach != sampled:
        if full := [
            name for name, one in measures.items() if name.startswith("pass@") and min(one["values"]) >= CEILING
        ]:
            return f"sharper; {full[0]} is too near 100 to show whether it is abler"
        return f"sharper, not {'abler' if reach == 'tied' else 'shown to be abler'}"
    without = [name for name, verdict in verdicts.items() if verdict != sampled]
    return f"not shown to be {sampled} by {' and '.join(without)}"


def decide(comparison: Mapping[str, Any]) -> str:
    """The verdict of `difference`, `ci95`, `ci90` and `p_corrected`: `better`, `worse`, `tied` or `cannot tell`."""
    low, high = comparison["ci95"]
    if comparison["p_corrected"] <= 1 - LEVEL and not low <= 0 <= high:
        return "better" if comparison["difference"] > 0 else "worse"
    return "tied" if max(abs(limit) for limit in comparison["ci90"]) <= TIE else "cannot tell"


def judge(comparison: Mapping[str, Any]) -> dict[str, str]:
    """The verdict: `verdict` is `better`, `worse`, `tied`, `cannot tell` or `not compared`; `words` says it with its figures."""
    if not comparison["problems"]:
        return {"verdict": "not compared", "words": "not compared: no problem that both models answered"}
    difference, (low, high) = comparison["difference"], comparison["ci95"]
    verdict = decide(comparison)
    if verdict in ("better", "worse"):
        span = sorted((abs(low), abs(high)))
        words = f"{verdict} by {_points(abs(difference))} points ({_points(span[0])} to {_points(span[1])})"
        return {"verdict": verdict, "words": words + _in_form(comparison) + _left_out(comparison)}
    if verdict == "tied":
        bound = max(abs(limit) for limit in comparison["ci90"])
        return {
            "verdict": verdict,
            "words": f"tied within ±{_up(bound)} point{'s' * (_up(bound) > 1)} (90% interval)" + _left_out(comparison),
        }
    return {"verdict": verdict, "words": f"cannot tell: {_size(comparison)}" + _left_out(comparison)}


def _left_out(comparison: Mapping[str, Any]) -> str:
    missing = comparison["missing"]
    return f"; left out: {missing} problem{'s' * (missing > 1)} that one model alone answered" if missing else ""


def _size(comparison: Mapping[str, Any]) -> str:
    fewest, most = comparison["samples"]
    samples = f"{most} sample{'s' * (most > 1)}" if fewest == most else f"{fewest} to {most} samples"
    words = f"{comparison['problems']} problem{'s' * (comparison['problems'] > 1)} with {samples} show differences from {_points(comparison['detectable'])} points"
    needed = comparison.get("needed")
    if not needed or not needed["problems"]:
        return words
    words += f"; the {_points(needed['difference'])} seen would need {_round_up(needed['problems']):,} problems"
    return words + (f" or {needed['samples']:,} samples" if needed["samples"] else "")


def _in_form(comparison: Mapping[str, Any]) -> str:
    """How much of a difference is gone in the lenient reading, where that much is more than chance."""
    form, lenient = comparison["form"], comparison["lenient"]
    if form["ci95"][0] <= 0 <= form["ci95"][1] or form["difference"] * comparison["difference"] < 0:
        return ""
    found = f"read leniently the difference is {lenient['difference'] * 100:+z.1f} points"
    if lenient["ci95"][0] <= 0 <= lenient["ci95"][1]:
        return f", in form alone: {found}"
    return f", {_points(abs(form['difference']))} of them in form: {found}"


def _form_gain(strict: Paired, lenient: Paired) -> Paired:
    """Per problem, the strict difference less the lenient one."""
    sides = strict.differences, lenient.differences, strict.samples, strict.other_samples
    return Paired(*sides, are_shares=False, clusters=strict.clusters)


def _mean_interval(each: Sequence[Paired], level: float) -> dict[str, Any]:
    middle, variance, freedom = mean_difference(each)
    return {"difference": middle, "ci95": list(around(middle, variance, freedom, level))}


def scale_p(chance: float, level: float) -> float:
    """A p-value that is tested at 1 - `level`, as one that is tested at 5%."""
    return min(1.0, chance * (1 - LEVEL) / (1 - level))


def _correct(family: Sequence[tuple[dict[str, Any], list[Paired], float]], level: float) -> None:
    """Add what depends on the other tests of the family: `p_corrected`, and what could have been found at the level left.

    Args:
        family: comparisons, with the benchmarks that each is of and its weight.
        level: of the tests together.
    """
    compared = [entry for entry in family if entry[1]]
    weights = [weight for *_, weight in compared]
    corrected = holm([scale_p(comparison["p"], level) for comparison, *_ in compared], weights)
    for (comparison, each, _), chance, alpha in zip(compared, corrected, holm_levels(corrected, weights), strict=True):
        own = 1 - alpha * (1 - level) / (1 - LEVEL)
        comparison |= {"p_corrected": chance, "detectable": detectable(each, own)}
        if "gained" in comparison:
            [paired], seen = each, comparison["difference"]
            comparison["detectable_at_best"] = detectable_at_best(paired, own)
            comparison["needed"] = {
                "difference": abs(seen),
                "problems": needed_problems(paired, seen, own),
                "samples": needed_samples(paired, seen, own),
            }


def _marks(samples: pa.Table, column: str, *, greedy: bool = False) -> dict[str, dict[str, dict[str, list[Any]]]]:
    """Model, benchmark and problem to a column's values of the sampled responses, or of the greedy one."""
    found: dict[str, dict[str, dict[str, list[Any]]]] = {}
    rows = zip(
        *(samples.column(name).to_pylist() for name in ("model", "benchmark", "id", "greedy", column)), strict=True
    )
    for model, benchmark, name, is_greedy, value in rows:
        marks = found.setdefault(model, {}).setdefault(benchmark, {})
        if bool(is_greedy) == greedy:  # null: not known
            marks.setdefault(name, []).append(value)
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
