"""`reports/index.html`: one self-contained page with the scores, the learning curves and what became of the data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from compass.report import html
from compass.report.figures import curves_figure, funnel_figure, scores_figure
from compass.report.html import document, section, table
from compass.report.results import Results

LONGEST_DETAIL = 20_000
"""Characters shown of what a stage measured."""


def render(results: Results, *, title: str, facts: dict[str, str], links: dict[str, str]) -> str:
    """The page as HTML.

    Args:
        results: what the stages measured.
        title: heading.
        facts: what ran, shown as name and value (profile, seed, commit).
        links: text to address, of the web or of a file beside the page; an empty address shows the text alone.
    """
    return document(
        title,
        [
            "<p class='note'>"
            + " · ".join(f"{escape(name)} {escape(value)}" for name, value in facts.items())
            + "</p>",
            html.links(links),
            _scores(results),
            _learning(results),
            _funnel(results),
            _planted(results),
            _details(results),
        ],
    )


def _scores(results: Results) -> str:
    if not results.scores:
        return ""
    scores = [score for scored in results.scores.values() for score in scored.values()]
    counts = sorted({score["samples"] for score in scores})
    others = ["greedy", *(f"{name}@{count}" for name in ("pass", "maj") for count in counts)]
    others = [name for name in others if any(name in score for score in scores)]
    rows: list[Sequence[Any]] = []
    for model, scored in results.scores.items():
        for benchmark, score in scored.items():
            low, high = score["ci95"]
            shown = [f"{100 * score['accuracy']:.1f}", f"{100 * low:.1f} – {100 * high:.1f}"]
            shown += [percent(score.get(name)) for name in others]
            rows.append([model, benchmark, *shown, score.get("problems", ""), score.get("samples", "")])
    head = [
        "model",
        "benchmark",
        "accuracy %",
        "95% interval",
        *(f"{name} %" for name in others),
        "problems",
        "samples",
    ]
    note = "Accuracy is the mean over samples of each problem (avg@k)."
    return section("Scores", note, scores_figure(results), table(head, rows))


def _learning(results: Results) -> str:
    if not results.curves:
        return ""
    note = "Share of right responses and mean response length of every training step."
    return section("Learning", note, curves_figure(results))


def _funnel(results: Results) -> str:
    if not results.counts:
        return ""
    rows = [
        [counts.stage, counts.read, counts.kept, counts.read - counts.kept, counts.reasons()]
        for counts in results.counts
    ]
    note = "Rows each stage read, kept and dropped. `compass why ID` shows the history of one problem."
    head = ["stage", "read", "kept", "dropped", "reasons"]
    return section("Data", note, funnel_figure(results.counts), table(head, rows))


def _planted(results: Results) -> str:
    if not results.planted:
        return ""
    rows = [
        [kind, rows["planted"], rows["dropped"], rows["right"], percent(rows["recall"])]
        for kind, rows in results.planted["kinds"].items()
    ]
    clean = results.planted["clean"]
    note = (
        "Defects that were planted in the generated sources, against what curation did. "
        f"Of {clean['rows']:,} clean rows {clean['dropped']:,} were dropped ({100 * clean['lost']:.2f}%)."
    )
    head = ["kind", "planted", "dropped", "for the right reason", "recall %"]
    return section("Planted truth", note, table(head, rows))


def _details(results: Results) -> str:
    parts = []
    for stage, summary in results.summaries.items():
        measured = json.dumps(summary.get("metrics", summary), indent=2, ensure_ascii=False)[:LONGEST_DETAIL]
        parts.append(f"<details><summary>{escape(stage)}</summary><pre>{escape(measured)}</pre></details>")
    return section("What every stage measured", "", *parts)


def percent(fraction: float | None) -> str:
    """A fraction as a percentage with one digit; empty where it was not measured."""
    return "" if fraction is None else f"{100 * fraction:.1f}"
