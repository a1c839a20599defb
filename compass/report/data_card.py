"""The data card of a curated set: what is in it, what was dropped and why, and what it is not good for.

`card.md` (with `card-*.svg`) for a repository or a hub page, `card.html` alone for reading: one page, no scripts, every text
escaped. All figures come from the summary and the rows; the same rows give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from compass.files import atomic_path
from compass.report.svg import bars
from compass.report.text import printable

if TYPE_CHECKING:
    from compass.report.rows import Outputs

LENGTHS = (0, 50, 100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 4_000)
"""Lower ends of the classes of problem length, in characters."""

LIMITS = (
    "Golds are published answers that the verifier can read; it cannot know that they are right. Without graded rollouts "
    "no gold was compared with what models answer.",
    "Decontamination finds items in the same words or nearly the same; a translation or a free retelling passes.",
    "Near-duplicates are found by their words: the same task in another wording, or with other names of variables, "
    "counts as another problem.",
    "Language, noise and quality are judged by rules, whose precision and recall docs/sources.md and docs/curation.md give.",
    "Licences are those the sources state for themselves.",
)


@dataclass(frozen=True)
class Section:
    """A heading, a paragraph, a table (its first row is the header), and a chart as SVG; each may be empty."""

    title: str
    text: str = ""
    table: Sequence[Sequence[Any]] = ()
    chart: str = ""


def write_card(folder: Path, summary: Mapping[str, Any], kept: pa.Table, dropped: pa.Table) -> list[Path]:
    """Write `card.md`, `card-*.svg` and `card.html`; returns their paths."""
    sections = card(summary, kept, dropped)
    written = []
    charts = {
        section.title: f"card-{section.title.lower().replace(' ', '-')}.svg" for section in sections if section.chart
    }
    pages = {name: section.chart for section in sections if (name := charts.get(section.title))}
    pages |= {"card.md": _markdown(sections, charts), "card.html": _html(sections)}
    for name, text in pages.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written


def pipeline_card(outputs: Outputs, folder: Path) -> list[Path]:
    """Write the card of a pipeline's data: the rows that the last data stage kept; returns the card's paths."""
    from compass.ledger import count_reasons
    from compass.records import read_records

    tables = {stage: read_records(path) for stage, path in outputs.kept.items()}
    kept, dropped = list(tables.values())[-1], outputs.ledger()
    stages, sources = {}, {}
    for stage, rows in tables.items():
        gone = _of_stage(dropped, stage)
        reasons = count_reasons(gone.column("reason").to_pylist())
        stages[stage] = {"read": rows.num_rows + gone.num_rows, "kept": rows.num_rows, "dropped": reasons}
    collected = pa.concat_tables(
        [tables["collect"].select(["source", "licence"]), _of_stage(dropped, "collect").select(["source", "licence"])]
    )
    kept_of = _counts(kept, "source")
    licences = dict(zip(collected["source"].to_pylist(), collected["licence"].to_pylist(), strict=True))
    for name, read in _counts(collected, "source").items():
        sources[name] = {"licence": licences[name], "read": read, "kept": kept_of.get(name, 0)}
    benchmarks = outputs.folder / "collect" / "benchmarks.parquet"
    summary = {
        "read": collected.num_rows,
        "kept": kept.num_rows,
        "stages": stages,
        "sources": sources,
        "benchmarks": _counts(read_records(benchmarks), "source") if benchmarks.exists() else {},
    }
    folder.mkdir(parents=True, exist_ok=True)
    return write_card(folder, summary, kept, dropped)


def _of_stage(dropped: pa.Table, stage: str) -> pa.Table:
    return dropped.filter(pc.equal(dropped.column("stage"), stage))


def card(summary: Mapping[str, Any], kept: pa.Table, dropped: pa.Table) -> list[Section]:
    """The card's sections.

    Args:
        summary: as `curate` returns it.
        kept: the kept rows (`RECORD`).
        dropped: the dropped rows (`LEDGER`).
    """
    reasons = _counts(dropped, "reason")
    return [
        Section("Summary", _summary_text(summary, kept)),
        _composition(summary),
        Section(
            "Dropped rows",
            "Every row that was read is kept or stands in `dropped.parquet` with stage, reason and evidence.",
            [("stage", "reason", "rows"), *_drop_rows(summary)],
            bars("Dropped rows by reason", reasons),
        ),
        _counted(
            "Levels", "Difficulty as the sources publish it; scales differ from source to source.", kept, "source_level"
        ),
        _counted("Graded levels", "Difficulty 1 (easy) to 5 by a grader's solve rate.", kept, "level"),
        _counted("Answer types", "What kind of object the gold is, as the verifier reads it.", kept, "answer_type"),
        _lengths(kept),
        _contamination(summary, dropped),
        _duplicates(kept, dropped),
        Section("Known limits", "\n".join(f"- {limit}" for limit in LIMITS)),
    ]


def _summary_text(summary: Mapping[str, Any], kept: pa.Table) -> str:
    licences = ", ".join(f"{name} ({count:,})" for name, count in _counts(kept, "licence").items())
    return (
        f"{summary['kept']:,} problems with verifiable answers, of {summary['read']:,} rows read from "
        f"{len(summary['sources'])} sources. Licences of the kept rows: {licences or 'none'}."
    )


def _composition(summary: Mapping[str, Any]) -> Section:
    sources = summary["sources"]
    rows = [
        (name, fact["licence"], fact["read"], fact["kept"], _share(fact["kept"], fact["read"]))
        for name, fact in sources.items()
    ]
    chart = bars("Kept rows by source", {name: fact["kept"] for name, fact in sources.items()})
    return Section("Composition", "", [("source", "licence", "read", "kept", "share kept"), *rows], chart)


def _drop_rows(summary: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    return [
        (stage, reason, count)
        for stage, facts in summary["stages"].items()
        for reason, count in facts["dropped"].items()
    ]


def _counted(title: str, text: str, kept: pa.Table, column: str) -> Section:
    counts = _counts(kept, column)
    known = {label: count for label, count in counts.items() if label not in ("", "None")}
    if not known:
        return Section(title, f"{text} Not known for any row.")
    shown = dict(list(known.items())[:20])
    text += f" Known for {sum(known.values()):,} of {kept.num_rows:,} rows."
    if len(known) > len(shown):
        text += f" The {len(shown)} most frequent of {len(known)}."
    rows = [(label, count, _share(count, kept.num_rows)) for label, count in shown.items()]
    return Section(title, text, [(column, "rows", "share"), *rows], bars(title, shown))


def _lengths(kept: pa.Table) -> Section:
    lengths = pc.utf8_length(kept.column("problem")).to_numpy()
    labels = [f"{low:,} to {high - 1:,}" for low, high in pairwise(LENGTHS)]
    counts = dict.fromkeys([*labels, f"{LENGTHS[-1]:,} and more"], 0)
    for label, low, high in zip(counts, LENGTHS, [*LENGTHS[1:], 1 << 62], strict=True):
        counts[label] = int(((lengths >= low) & (lengths < high)).sum())
    middle = f" Median {int(sorted(lengths)[len(lengths) // 2]):,}." if len(lengths) else ""
    return Section(
        "Problem length",
        f"In characters.{middle}",
        [("characters", "rows"), *counts.items()],
        bars("Problem length", counts),
    )


def _contamination(summary: Mapping[str, Any], dropped: pa.Table) -> Section:
    if not summary["benchmarks"]:
        return Section("Contamination", "No benchmark was given: nothing was checked.")
    hits = dict.fromkeys(summary["benchmarks"], 0)
    for evidence in _evidence(dropped, "contaminated"):
        hits[evidence["benchmark"]] = hits.get(evidence["benchmark"], 0) + 1
    rows = [(name, items, hits[name]) for name, items in summary["benchmarks"].items()]
    text = "Rows that are a benchmark's item, or hold a share of it; the evidence in `dropped.parquet` names the item."
    return Section(
        "Contamination", text, [("benchmark", "items", "rows dropped"), *rows], bars("Contaminated rows", hits)
    )


def _duplicates(kept: pa.Table, dropped: pa.Table) -> Section:
    sizes = {int(size): count for size, count in _counts(kept, "cluster_size").items() if size != "None"}
    shown = {f"{size} rows" if size > 1 else "1 row": sizes[size] for size in sorted(sizes)[:12]}
    text = (
        "How many rows stood for each kept problem. "
        f"{len(_evidence(dropped, 'answer_conflict')):,} rows were dropped for an answer that others contradict."
    )
    table = [("cluster size", "problems"), *shown.items()]
    return Section("Duplicates", text, table, bars("Problems by cluster size", shown))


def _evidence(dropped: pa.Table, reason: str) -> list[dict[str, Any]]:
    import json

    chosen = dropped.filter(pc.equal(dropped.column("reason"), reason))
    return [json.loads(text) for text in chosen.column("evidence").to_pylist()]


def _counts(table: pa.Table, column: str) -> dict[str, int]:
    """How often each value occurs, the most frequent first, equals by name; control characters are left out."""
    counts: dict[str, int] = {}
    for entry in pc.value_counts(table.column(column).combine_chunks()).to_pylist():
        name = printable(str(entry["values"]), 80)
        counts[name] = counts.get(name, 0) + entry["counts"]
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _markdown(sections: Sequence[Section], charts: Mapping[str, str]) -> str:
    lines = ["# Data card", ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        if section.text:
            lines += [section.text, ""]
        if section.title in charts:
            lines += [f"![{section.title}]({charts[section.title]})", ""]
        if section.table:
            header, *rows = section.table
            lines += [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
            lines += [f"| {' | '.join(_plain(_cell(value)) for value in row)} |" for row in rows] + [""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """A cell of a Markdown table that shows hostile text as it is."""
    return escape(text).replace("|", "\\|").replace("\n", " ").replace("[", "\\[").replace("`", "\\`")


_STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left}"
    "td.n{text-align:right}svg{max-width:100%;height:auto}"
)


def _html(sections: Sequence[Section]) -> str:
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Data card</title>',
        f"<style>{_STYLE}</style></head><body><h1>Data card</h1>",
    ]
    for section in sections:
        parts.append(f"<h2>{escape(section.title)}</h2>")
        if section.text.startswith("- "):
            items = "".join(f"<li>{escape(line[2:])}</li>" for line in section.text.splitlines())
            parts.append(f"<ul>{items}</ul>")
        elif section.text:
            parts.append(f"<p>{escape(section.text)}</p>")
        parts.append(section.chart)
        if section.table:
            header, *rows = section.table
            parts.append("<table><tr>" + "".join(f"<th>{escape(name)}</th>" for name in header) + "</tr>")
            for row in rows:
                cells = (f"<td{' class=n' if isinstance(v, int) else ''}>{escape(_cell(v))}</td>" for v in row)
                parts.append(f"<tr>{''.join(cells)}</tr>")
            parts.append("</table>")
    return "\n".join([*parts, "</body></html>", ""])
