"""What a run found, in sentences: which model is better, by how much, and how sure that is.

All figures are those of `metrics/evaluate.json` and of the paired comparisons; words and thresholds are those of
`compass.evaluation.comparisons`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compass.evaluation.comparisons import TIE, decide, judge, list_measures, weigh_measures
from compass.evaluation.looks import describe_looks
from compass.report.run import Run

AVERAGE = "average"

NAME_THE_GAP = ("better", "worse", "not compared")
"""Verdicts whose words have the difference, or that have none."""

RARE = 0.05
"""Share of responses below which right (or wrong) ones are too rare to teach."""


@dataclass(frozen=True)
class Conclusion:
    """`headline` alone answers which model is better, by how much, how sure; `more` says what stands behind it."""

    headline: str
    more: list[str]


def conclude(run: Run) -> Conclusion:
    """The conclusion of a run: the headline's two models, then the best of the others."""
    models = _averaged(run)
    if not models:
        return Conclusion("No model has been scored.", [])
    lead, rival = headline_pair(run)
    strictly = " in the strict reading" if run.given else ""
    headline = f"{lead} has an accuracy of {format_accuracy(run, lead)}{strictly} on {format_benchmarks(run, lead)}"
    if not rival:
        return Conclusion(f"{headline}. No other model was scored, so there is nothing to compare it with.", [])
    first, best = models[0], max(models, key=lambda model: accuracy(run, model))
    if best == first:
        kind = "trained" if first == "base" else "other"  # the models of an evaluation need not come from its first
        headline = f"No {kind} model beats {first}: {headline}"
    headline += f"; {rival} has {format_accuracy(run, rival)}."
    verdict = find_comparison(run, lead, rival)
    if idle := explain_idle_training(run):
        headline = f"{idle} {headline}"
    if verdict:
        headline += f" On the same problems {lead} against {rival}{format_verdict(run, verdict)}."
    more = []
    others = [model for model in models if model not in (lead, rival)]
    if others:
        second = max(others, key=lambda model: accuracy(run, model))
        explored = (
            "Not the comparison that decides (a stricter test, since there are several): "
            if run.comparisons.get("primary")
            else ""
        )
        highest = ", the highest" if second == best else ""
        if against := find_comparison(run, second, lead) if highest else find_comparison(run, lead, second):
            names = f"{second} against {lead}" if highest else f"{lead} against {second}"
            pair = f"{second} has {format_accuracy(run, second)}{highest}. {explored}{names}{format_verdict(run, against)}."
            more.append(f"{pair} {format_measures(against)}".rstrip())
    if looks := run.comparisons.get("looks"):
        more.append(
            f"{describe_looks(looks)} Every test and interval of a difference here is at that limit's level, so that looking more than once finds no more "
            "differences that are not there."
        )
    if verdict and verdict.get("measures"):
        more.insert(0, format_measures(verdict))
        more.insert(1, explain_measures(verdict["measures"], headline + " ".join(more), given=bool(run.given)))
    more += explain_certainty(run, lead, rival)
    return Conclusion(headline, more)


def explain_idle_training(run: Run) -> str:
    """That training had next to nothing to learn from, and why: for the iterations without any gradient; empty where most had one."""
    curves = [curve for curve in run.results.curves.values() if curve.get("grad_norm")]
    total = sum(len(curve["grad_norm"]) for curve in curves)
    idle = sum(norm == 0 for curve in curves for norm in curve["grad_norm"])
    if 2 * idle <= total:
        return ""
    right = sum(sum(curve["accuracy"]) for curve in curves) / total
    cause = (
        "hardly any response was right"
        if right < RARE
        else "hardly any response was wrong"
        if right > 1 - RARE
        else "the responses to a problem were all right or all wrong"
    )
    return f"Training had next to nothing to learn from: {idle:,} of {total:,} iterations had no gradient, because {cause}."


def format_verdict(run: Run, found: Mapping[str, Any]) -> str:
    """What all measures say of two models, to follow their names: `, sampled at temperature 1: better by 4.2 points (1.9 to 6.4); sharper, not abler`,
    or `: +1.1 points (95% interval -3.4 to +5.7), tied within ±5 points (90% interval)`."""
    temperatures = {setup.get("sampling", {}).get("temperature") for setup in run.setups.values()} - {None}
    at = f", sampled at temperature {temperatures.pop():g}" if len(temperatures) == 1 else ""
    gap = "" if found["verdict"] in NAME_THE_GAP else f"{format_gap(found)}, "
    follows = weigh_measures(found)
    return f"{at}: {gap}{found['words']}" + (f"; {follows}" if follows else "")


def format_measures(found: Mapping[str, Any]) -> str:
    """The other measures as a sentence: `By other measures: greedy 90.0 against 92.3, tied.`; empty where there are none."""
    return f"By other measures: {measures}." if (measures := list_measures(found)) else ""


def headline_pair(run: Run) -> tuple[str, str]:
    """The two models that the headline compares: those whose comparison decides.

    Where none decides, as among responses that were made elsewhere, they are the model with the highest average accuracy (of equals the
    earliest) and the first one, or the next best where the first is the best. The second is empty where there is one model alone.
    """
    models, decides = _averaged(run) or run.models, run.comparisons.get("primary")
    if decides and not run.given and {*decides} <= {*models}:
        return decides[0], decides[1]
    best, *others = sorted(models, key=lambda model: -accuracy(run, model))
    return best, "" if not others else others[0] if best == models[0] else models[0]


def _averaged(run: Run) -> list[str]:
    """The models that have an average over benchmarks."""
    return [model for model in run.models if AVERAGE in run.results.scores[model]]


def headline_model(run: Run) -> str:
    """The model that the headline is about: the first of `headline_pair`."""
    return headline_pair(run)[0]


def accuracy(run: Run, model: str) -> float:
    """A model's average accuracy, 0..1; -1 where it has none."""
    return run.results.averages[model].get("accuracy", -1.0)


def format_accuracy(run: Run, model: str) -> str:
    """A model's average accuracy with its interval, as text."""
    score = run.results.scores[model][AVERAGE]
    return f"{percent(score['accuracy'])}% (95% interval {format_interval(score['ci95'])})"


def format_benchmarks(run: Run, model: str) -> str:
    """How many benchmarks and problems a model's average is over, as text."""
    scored = run.results.scores[model]
    if run.given:
        return f"{scored[AVERAGE]['problems']:,} problems"
    count = sum(name != AVERAGE for name in scored)
    problems = scored.get(AVERAGE, {}).get("problems")
    made = "generated " if run.parameters.get("collect", {}).get("generate") else ""
    name = f"average over {count} {made}benchmarks" if count != 1 else f"the benchmark {next(iter(scored))}"
    return name + (f" ({problems:,} problems)" if problems else "")


def find_comparison(run: Run, model: str, other: str, benchmark: str = AVERAGE) -> Mapping[str, Any] | None:
    """The comparison of `model` with `other`, turned round where it was made the other way; None where there is none."""
    for pair, turn in ((run.pair(model, other), False), (run.pair(other, model), True)):
        if pair:
            found = pair[AVERAGE] if benchmark == AVERAGE else pair["benchmarks"].get(benchmark)
            return reverse_comparison(found) if found and turn else found
    return None


def reverse_comparison(found: Mapping[str, Any]) -> dict[str, Any]:
    """A comparison seen from the other model."""
    result = _negate(found)
    result |= {name: _negate(found[name]) for name in ("lenient", "form") if found.get(name)}
    measures = {name: _negate(one) for name, one in found.get("measures", {}).items()}
    result |= {"measures": {name: one | {"verdict": decide(one)} for name, one in measures.items()}} if measures else {}
    if "gained" in found:
        result |= {"gained": found["lost"], "lost": found["gained"]}
    return result | judge(result)


def format_gap(found: Mapping[str, Any]) -> str:
    """A comparison's difference in points, signed, with its interval: `-1.7 points (95% interval -3.5 to +0.1)`."""
    return f"{format_points(found['difference'])} points (95% interval {format_points(*found['ci95'])})"


def percent(share: float | None) -> str:
    """A share as a percentage with one digit; empty for None."""
    return "" if share is None else f"{100 * share:.1f}"


def format_interval(limits: Sequence[float]) -> str:
    """An interval of shares in percent: `68.1 to 73.6`."""
    return " to ".join(map(percent, limits))


def format_score(score: Mapping[str, Any] | None, interval: str = "ci95") -> str:
    """An accuracy with its interval in percent: `70.9 (68.1 to 73.6)`; empty where there is none."""
    if not score or interval not in score:
        return ""
    return f"{percent(score['accuracy'])} ({format_interval(score[interval])})"


def format_points(*shares: float) -> str:
    """A signed difference in points, or the two ends of an interval: `-3.5 to +0.1`."""
    return " to ".join(f"{100 * share:+z.1f}" for share in shares)


def explain_certainty(run: Run, best: str, rival: str) -> list[str]:
    """How sure the comparison of two models is, in sentences: chance, power, verdicts per benchmark, and the verifier's measured error."""
    found = find_comparison(run, best, rival)
    if not found or "p" not in found:
        return []
    fewest, most = found["samples"]
    samples = f"{most}" if fewest == most else f"{fewest} to {most}"
    chance = found["p"]
    lines = [
        f"How sure: if {best} and {rival} were equally good, a difference as large as theirs would come up {_often(chance)} by chance "
        f"(sign-flip test over {found['problems']:,} problems with {samples} samples each). Of two such models, a true difference of "
        f"{percent(found['detectable'])} points would be found in 4 of 5 repetitions."
    ]
    verdicts = Counter()
    for name in run.results.scores[best]:
        if name != AVERAGE and (one := find_comparison(run, best, rival, name)):
            verdicts[one["verdict"]] += 1
    if verdicts and not run.given:
        parts = ", ".join(f"{verdict} on {count}" for verdict, count in verdicts.most_common())
        lines.append(
            f"{best} against {rival} per benchmark, with Holm's correction for the benchmarks of all pairs: {parts}."
        )
    if run.verifier.get("error") is not None:
        low, high = run.verifier["ci95"]
        lines.append(
            f"The verifier is wrong on {100 * run.verifier['error']:.2g}% of these responses ({100 * low:.2g}% to {100 * high:.2g}%), by "
            f"{run.verifier['labelled']} judged by people: {100 * run.verifier['accepted_wrong']:.2g}% wrong answers called right, "
            f"{100 * run.verifier['refused_right']:.2g}% right ones called wrong."
        )
    return lines


def explain_measures(measures: Mapping[str, Any], said: str, *, given: bool = False) -> str:
    """What the names of measures mean, for readers who do not know them; `said` is the text that uses them, `given` that responses were made elsewhere."""
    sampled = " (drawn at random by the model's own probabilities, as they are at temperature 1)"
    parts = [f"accuracy, the mean share of right responses among those {'given' if given else f'sampled{sampled}'}"]
    for name in measures:
        kind, _, k = name.partition("@")
        meaning = {
            "greedy": "greedy, the one response that takes the likeliest word each time",
            "maj": f"{name}, the answer that most of {k} samples give",
            "pass": f"{name}, whether any of {k} samples is right",
        }
        parts.append(meaning[kind])
    sharper = (
        " “Sharper” means that a model finds more surely what it found before: accuracy rose and pass@k did not."
        if "sharper" in said
        else ""
    )
    tied = f" “Tied” means that the 90% interval of the difference lies within {100 * TIE:g} points of 0."
    unclear = " “Cannot be told apart” means that there are too few problems or samples to say."
    return (
        f"The measures: {'; '.join(parts)}. All are in percent of problems; intervals in brackets are of 95%.{sharper}"
        f"{tied if 'tied' in said else ''}{unclear if 'told apart' in said else ''}"
    )


def _negate(found: Mapping[str, Any]) -> dict[str, Any]:
    """A difference with its intervals, and both models' values, the other way round."""
    turned = {name: [-limit for limit in reversed(found[name])] for name in ("ci95", "ci90") if name in found}
    turned |= {"values": found["values"][::-1]} if "values" in found else {}
    return {**found, **turned, **({"difference": -found["difference"]} if "difference" in found else {})}


def _often(chance: float) -> str:
    if chance < 0.001:
        return "in fewer than 1 of 1,000 cases"
    return f"in {100 * chance:.1f}% of cases" if chance < 0.9995 else "in nearly all cases"
