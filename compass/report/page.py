"""`reports/index.html`: one self-contained page with the scores, the learning curves and the story of the data.

Every text on it is escaped, since problems, names and reasons come from data that others wrote; the page runs no
script and loads nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from compass.report.figures import curves_figure, funnel_figure, scores_figure
from compass.report.results import Results, funnel

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
table { border-collapse: collapse; margin: .6rem 0 } td, th { padding: .2rem .7rem; border-bottom: 1px solid #ddd }
th { text-align: left; font-weight: 600 } td.n { text-align: right; font-variant-numeric: tabular-nums }
svg { max-width: 100%; height: auto } .note { color: #666 } pre { background: #f6f6f6; padding: .6rem; overflow: auto }
@media (prefers-color-scheme: dark) { body { background: #fff } }
"""


def render(results: Results, *, title: str, facts: dict[str, str], links: dict[str, str]) -> str:
    """The page as HTML.

    Args:
        results: what the stages measured.
        title: heading.
        facts: what ran, shown as name and value (profile, seed, commit).
        links: text to address, of the web or of a file beside the page; an empty address shows the text alone.
    """
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        "<meta name='viewport' content='width=device-width'>",
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><h1>{escape(title)}</h1>",
        "<p class='note'>" + " · ".join(f"{escape(name)} {escape(value)}" for name, value in facts.items()) + "</p>",
        _links(links),
        _scores(results),
        _section(
            "Learning",
            "Share of right responses and mean response length of every training step.",
            curves_figure(results),
        ),
        _funnel(results),
        _planted(results),
        _details(results),
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _scores(results: Results) -> str:
    if not results.scores:
        return ""
    found = [score for scored in results.scores.values() for score in scored.values()]
    counts = sorted({score["samples"] for score in found})
    others = ["greedy", *(f"{name}@{count}" for name in ("pass", "maj") for count in counts)]
    others = [name for name in others if any(name in score for score in found)]
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
    return _section("Scores", note, scores_figure(results), _table(head, rows))


def _funnel(results: Results) -> str:
    rows = []
    for row in funnel(results):
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in row["dropped"].items())
        rows.append([row["stage"], row["read"], row["kept"], row["read"] - row["kept"], reasons])
    if not rows:
        return ""
    note = "Rows each stage read, kept and dropped. `compass why ID` tells one problem's story."
    head = ["stage", "read", "kept", "dropped", "reasons"]
    return _section("Data", note, funnel_figure(results), _table(head, rows))


def _planted(results: Results) -> str:
    if not results.planted:
        return ""
    rows = [
        [kind, found["planted"], found["dropped"], found["right"], f"{100 * found['recall']:.1f}"]
        for kind, found in results.planted["kinds"].items()
    ]
    clean = results.planted["clean"]
    note = (
        "Defects that were planted in the generated sources, against what curation did. "
        f"Of {clean['rows']:,} clean rows {clean['dropped']:,} were dropped ({100 * clean['lost']:.2f}%)."
    )
    head = ["kind", "planted", "dropped", "for the right reason", "recall %"]
    return _section("Planted truth", note, _table(head, rows))


def _details(results: Results) -> str:
    found = [
        f"<details><summary>{escape(stage)}</summary><pre>"
        f"{escape(json.dumps(summary.get('metrics', summary), indent=2, ensure_ascii=False)[:20_000])}</pre></details>"
        for stage, summary in results.summaries.items()
    ]
    return _section("What every stage measured", "", *found)


def _links(links: dict[str, str]) -> str:
    shown = []
    for text, address in links.items():
        # Of schemes only these two: an address from elsewhere could be `javascript:`. Without a colon there is none.
        linked = address.startswith(("http://", "https://")) or (address and ":" not in address)
        label = escape(text if linked else f"{text} {address}".strip())
        shown.append(f"<a href='{escape(address)}'>{label}</a>" if linked else label)
    return f"<p>{' · '.join(shown)}</p>" if shown else ""


def _section(title: str, note: str, *parts: str | None) -> str:
    inner = "\n".join(part for part in parts if part)
    return f"<h2>{escape(title)}</h2>\n<p class='note'>{escape(note)}</p>\n{inner}" if inner else ""


def _table(head: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    def cell(value: Any) -> str:
        number = isinstance(value, int | float)
        text = f"{value:,}" if number else escape(str(value))
        return f"<td class='n'>{text}</td>" if number or text[:1].isdigit() else f"<td>{text}</td>"

    lines = ["<tr>" + "".join(cell(value) for value in row) + "</tr>" for row in rows]
    return (
        "<table><tr>" + "".join(f"<th>{escape(name)}</th>" for name in head) + "</tr>" + "\n".join(lines) + "</table>"
    )


def percent(fraction: float | None) -> str:
    """A fraction as a percentage with one digit; empty where it was not measured."""
    return "" if fraction is None else f"{100 * fraction:.1f}"
