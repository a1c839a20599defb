"""The report's sections from a run: the conclusion, scores, form and problems here; `run_sections` has how the run came about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compass.page.blocks import Bullets, Caution, Fold, Note, Part, Section, Table
from compass.report.cautions import limits, warnings
from compass.report.figures import draw_chart, heat_figure, scores_figure
from compass.report.gains import gained_and_lost
from compass.report.headline import AVERAGE, best_model, conclude, find_comparison, format_gap, percent
from compass.report.run import Run
from compass.report.run_sections import (
    cost_section,
    data_section,
    details_section,
    planted_section,
    ran_section,
    training_section,
)
from compass.report.tallies import shares_by_benchmark

MEASURES = {
    "accuracy": "avg@k %",
    "ci95": "95% interval",
    "greedy": "greedy %",
    "lenient": "lenient %",
    "boxed": "in a box %",
    "unextracted": "answer not extracted %",
    "unreadable": "unreadable %",
    "truncated": "cut off %",
    "looped": "loops %",
    "length": "tokens per response",
    "tokens": "tokens per problem",
    "seconds": "seconds per problem",
    "cost": "cost per problem",
    "similar": "resembling a training row",
    "problems": "problems",
    "samples": "samples",
}
"""Keys of a score that the long table shows, in this order, with `pass@k` and `maj@k` after `greedy`."""


def report_sections(run: Run, *, linked: Mapping[str, list[int]] | None = None) -> list[Section]:
    """Every section of a run's report, the conclusion first.

    Args:
        run: the run.
        linked: RL stage to iterations whose rollouts the page can show.
    """
    return [
        conclusion_section(run),
        scores_section(run),
        form_section(run),
        problems_section(run),
        training_section(run, linked or {}),
        data_section(run),
        planted_section(run),
        cost_section(run),
        ran_section(run),
        details_section(run),
    ]


def conclusion_section(run: Run) -> Section:
    """Which model is better, by how much, how sure; the warnings; and why it might be wrong."""
    found = conclude(run)
    parts: list[Part] = [Note(found.headline, "headline"), *found.more]
    if seen := warnings(run):
        parts += [
            Note(f"{len(seen)} warning{'s' * (len(seen) > 1)}", "label"),
            *(Caution(text) for text in seen),
        ]
    if run.models:
        parts += [Note("Why this might be wrong all the same", "label"), Bullets(limits(run))]
    return Section("Conclusion", parts, "conclusion")


def scores_section(run: Run) -> Section:
    """Accuracy of every model on every benchmark, the paired verdicts, and all measures in a fold."""
    scores = run.results.scores
    if not scores:
        return Section("Scores", [])
    samples = sorted(
        {score["samples"] for scored in scores.values() for score in scored.values() if "samples" in score}
    )
    counts = "/".join(map(str, samples))
    names = list(dict.fromkeys(name for scored in scores.values() for name in scored))
    names.sort(key=lambda name: name != AVERAGE)
    rows = [[name, *(_cell(scored.get(name)) for scored in scores.values())] for name in names]
    parts: list[Part] = [
        Note(
            f"Accuracy in percent with its 95% interval: the mean share of right responses among {counts or '?'} sampled per problem (avg@k), "
            "strict reading of answers. Intervals of single models may overlap although the paired comparison below is sure: it uses that all "
            "models answered the same problems."
        ),
        *draw_chart(
            "scores",
            "Accuracy of every model on every benchmark with 95% intervals",
            lambda width: scores_figure(run.results, width),
        ),
        Table(["benchmark", *scores], rows),
        *_verdicts(run, names),
        Fold("All measures", [_measures(scores)]),
    ]
    return Section("Scores", parts, "scores")


def form_section(run: Run) -> Section:
    """Strict against lenient: what is ability and what is form."""
    rows = []
    for model, scored in run.results.scores.items():
        score = scored.get(AVERAGE, {})
        if "lenient" in score:
            more = 100 * (score["lenient"] - score["accuracy"])
            rows.append(
                [
                    model,
                    percent(score["accuracy"]),
                    percent(score["lenient"]),
                    f"{more:+.1f}",
                    percent(score.get("boxed")),
                ]
            )
    if not rows:
        return Section("Strict and lenient", [])
    parts: list[Part] = [
        Note(
            "Strict counts an answer in the form that was asked for; lenient counts any final answer. A gain in the strict column alone is a gain in form."
        ),
        Table(["model", "strict %", "lenient %", "difference", "in a box %"], rows),
    ]
    best = best_model(run)
    found = find_comparison(run, best, run.models[0]) if best != run.models[0] else None
    if found and "form" in found:
        low, high = (percent(limit) for limit in found["form"]["ci95"])
        parts.append(
            f"Of the {percent(found['difference'])} points between {best} and {run.models[0]}, {percent(found['form']['difference'])} "
            f"({low} to {high}) are form, and {percent(found['lenient']['difference'])} remain when any final answer counts."
        )
    return Section("Strict and lenient", parts, "form")


def problems_section(run: Run) -> Section:
    """Per-problem heat map, and problems gained and lost with their answers side by side."""
    if not run.items:
        return Section("Problems", [])
    shares = shares_by_benchmark(run.items, run.models)
    note = "Each column is a problem, each row a model: blue is solved in all samples, red in none. Problems stand from hard to easy."
    parts: list[Part] = [Note(note), *draw_chart("problems", note, lambda width: heat_figure(shares, width))]
    if len(run.models) > 1:
        parts += gained_and_lost(run)
    return Section("Problems", parts, "problems")


def _verdicts(run: Run, names: list[str]) -> Iterator[Part]:
    """Paired verdicts of the best model against each other one."""
    best = best_model(run)
    others = [model for model in run.models if model != best]
    for place, other in enumerate(others):
        found = {name: find_comparison(run, best, other, name) for name in names}
        rows = [
            [name, one["verdict"], format_gap(one) if "ci95" in one else "", one["words"]]
            for name, one in found.items()
            if one
        ]
        if rows:
            part = [Table(["benchmark", "verdict", f"{best} less {other}", "in words, paired by problem"], rows)]
            yield part[0] if place == 0 else Fold(f"{best} against {other}", part)


def _measures(scores: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Table:
    every = [score for scored in scores.values() for score in scored.values()]
    names = [name for name in MEASURES if any(name in score for score in every)]
    at_k = sorted({name for score in every for name in score if name.startswith(("pass@", "maj@"))}, key=_by_k)
    place = names.index("greedy") + 1 if "greedy" in names else 2
    names[place:place] = at_k
    rows = [
        [model, benchmark, *(_measure(name, score.get(name)) for name in names)]
        for model, scored in scores.items()
        for benchmark, score in scored.items()
    ]
    return Table(["model", "benchmark", *(MEASURES.get(name, f"{name} %") for name in names)], rows)


def _by_k(name: str) -> tuple[str, int]:
    kind, _, k = name.partition("@")
    return (kind != "pass", int(k)) if k.isdigit() else (True, 0)


def _measure(name: str, value: Any) -> Any:
    if value is None:
        return ""
    if name == "ci95":
        return f"{percent(value[0])} to {percent(value[1])}"
    if name in ("length", "tokens", "seconds", "cost"):
        return f"{value:,.4g}"
    return value if isinstance(value, int) else percent(value)


def _cell(score: Mapping[str, Any] | None) -> str:
    if not score:
        return ""
    low, high = score["ci95"]
    return f"{percent(score['accuracy'])} ({percent(low)} to {percent(high)})"
