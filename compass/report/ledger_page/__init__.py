"""The ledger's page: the funnel, the counts by reason, and rows to read, which its script filters and shows.

Totals count every row. The rows to read are a sample: of each group (stage, reason and source; for kept rows with doubts,
the doubt's reason and source) those with the lowest seeded hashes, as many as the page holds, from every group in turn. A reader's labels leave the page as the file that
`compass label --rows` reads. The page loads nothing and runs no scripts but its own: a filter is a name in `fields` of browse.js. Texts of the data reach it as escaped HTML or
as text nodes, never as markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from compass.evaluation.label_files import row_key
from compass.files import write_text
from compass.ledger import KEPT_BY_MARKS, Reason
from compass.page.blocks import Link, Note, Section, Table
from compass.page.html import block_html, document, section_html, sections_html
from compass.page.packed import element, pack
from compass.report.evidence import Span, find_pieces, find_quotes, find_related, named_texts, parts, read_evidence
from compass.report.history import explain_reason
from compass.report.outputs import DECIDES, Outputs, count_values, find_doubtful, read_table
from compass.report.printable import as_text
from compass.seeded_draw import draw_key

SCRIPT = Path(__file__).parent / "browse.js"

ROWS = """<noscript><p>Reading and filtering rows needs JavaScript; the counts above do not.</p></noscript>
<div id='rows'>Unpacking the rows …</div>"""
"""The place of the rows to read, which the script fills."""

MOST_ROWS = 6_000
"""Rows to read on a page: filtering them takes a browser a few hundredths of a second."""

LARGEST = 15_000_000
"""Bytes of a page; with long texts it holds fewer rows."""

LONGEST_TEXT, LONGEST_VALUE = 4_000, 400
"""Characters of a problem, and of another value, that the page holds."""

Group = tuple[str, str, str]
"""Stage, reason and source; the stage is `DOUBTFUL` for kept rows."""

DOUBTFUL = "kept, doubtful"


def write_page(outputs: Outputs, path: Path, *, seed: int = 0, most_rows: int = MOST_ROWS) -> tuple[int, int]:
    """Write the page.

    Args:
        outputs: where the rows are.
        path: the file.
        seed: another one shows other rows.
        most_rows: rows to read at most.

    Returns:
        Rows that were dropped, and rows to read on the page.
    """
    of_group, doubts = groups(outputs)
    counts = {group: len(ids) for group, ids in of_group.items()}
    parts = [*_tables(*funnel(outputs), counts), section_html("Rows to read", ROWS, anchor="browse")]
    while True:
        rows = shown_rows(outputs, of_group, doubts, most_rows, seed)
        data = pack({"counts": [[*group, count] for group, count in counts.items()], "rows": rows})
        page = document(
            f"Ledger of {outputs.folder.name or 'the data'}",
            [*parts, element("ledger-rows", data)],
            scripts=[SCRIPT.read_text(encoding="utf-8")],
        )
        if len(page.encode()) <= LARGEST or most_rows <= 1:
            break
        most_rows = min(most_rows, len(rows)) // 2
    write_text(path, page)
    return sum(count for (stage, *_), count in counts.items() if stage != DOUBTFUL), len(rows)


def _tables(stages: list[str], sources: dict[str, list[tuple[int, int]]], counts: dict[Group, int]) -> list[str]:
    """The page's sentences and tables; their numbers lead to rows."""
    totals = [tuple(map(sum, zip(*column, strict=True))) for column in zip(*sources.values(), strict=True)]
    lines = [("all sources", "", totals)] if len(sources) > 1 else []
    lines += [(source, source, row) for source, row in sources.items()]
    funnel = [
        [
            name,
            sum(row[0]),
            *(cell for stage, cells in zip(stages, row, strict=True) for cell in _cells(stage, source, *cells)),
        ]
        for name, source, row in lines
    ]
    by_reason: Counter[tuple[str, str]] = Counter()
    for (stage, reason, _), count in counts.items():
        by_reason[stage, reason] += count
    order = list(dict.fromkeys(stage for stage, _ in by_reason))
    reasons = [
        [stage, _link(reason, stage=stage, reason=reason), count, explain_reason(reason)]
        for (stage, reason), count in sorted(by_reason.items(), key=lambda one: (order.index(one[0][0]), -one[1]))
    ]
    read, kept = sum(sum(row[0]) for row in sources.values()), sum(row[-1][0] for row in sources.values())
    doubtful = " Some kept rows are doubtful." if DOUBTFUL in order else ""
    head = ["source", "read", *(name for stage in stages for name in (stage, "−"))]
    return [
        block_html(f"{read:,} rows were read from {len(sources):,} source{'s' * (len(sources) != 1)}; {kept:,} are kept, {read - kept:,} were dropped.{doubtful}"),
        *sections_html([
            Section("Stages by source", [
                Note("Rows that each stage kept of those it read, and under − those it dropped. Choose a number to read such rows."),
                Table(head, funnel),
            ]),
            Section("Reasons", [
                Note("Every dropped row has one reason. Choose one to read such rows."),
                Table(["stage", "reason", "rows", "what it means"], reasons),
            ]),
        ]),
    ]  # fmt: skip


def _cells(stage: str, source: str, kept: int, dropped: int) -> tuple[int, Link | int]:
    return kept, _link(f"−{dropped:,}", stage=stage, source=source) if dropped else 0


def _link(text: str, **chosen: str) -> Link:
    """A text that leads to the rows of a stage, reason or source, for the page's script."""
    return Link(text, f"#{urlencode({name: value for name, value in chosen.items() if value})}")


def groups(outputs: Outputs) -> tuple[dict[Group, list[str]], list[dict[str, Any]]]:
    """The ids of every group, and the kept rows with doubts."""
    found: dict[Group, list[str]] = {}
    for path_stage, path in outputs.dropped.items():
        for row in read_table(path, ["reason", "source", "id"]).to_pylist():
            found.setdefault((path_stage, row["reason"], row["source"]), []).append(row["id"])
    doubts = find_doubtful(outputs) if DECIDES in outputs.kept else []
    for row in doubts:
        for reason in dict.fromkeys(finding["reason"] for finding in row["findings"]):
            found.setdefault((DOUBTFUL, reason, row["source"]), []).append(row["id"])
    return found, doubts


def shown_rows(
    outputs: Outputs, groups: Mapping[Group, Sequence[str]], doubts: Iterable[dict[str, Any]], most_rows: int, seed: int
) -> list[dict[str, Any]]:
    """The rows to read, as the page's script takes them.

    Args:
        outputs: where the rows are.
        groups: from `groups`.
        doubts: from `groups`.
        most_rows: how many rows at most.
        seed: another one draws other rows.
    """
    ranked = [
        (rank, -len(ids), group, id_)
        for group, ids in groups.items()
        for rank, id_ in enumerate(sorted(ids, key=lambda id_: draw_key(id_, seed)))
    ]
    chosen = {(group, id_) for *_, group, id_ in sorted(ranked)[:most_rows]}
    rows = []
    columns = ["id", "source", "source_id", "problem", "answer", "reason", "evidence"]
    for stage, path in outputs.dropped.items():
        wanted = sorted({id_ for group, id_ in chosen if group[0] == stage})
        for row in read_table(path, columns, ids=wanted).to_pylist():
            if ((stage, row["reason"], row["source"]), row["id"]) in chosen:
                rows.append({**row, "stage": stage, "evidence": read_evidence(row["evidence"])})
    for row in doubts:
        for finding in row["findings"]:
            if ((DOUBTFUL, finding["reason"], row["source"]), row["id"]) in chosen:
                evidence = {"strength": finding["strength"], **finding["evidence"]}
                rows.append({**row, "stage": DOUBTFUL, "reason": finding["reason"], "evidence": evidence})
    rows.sort(key=lambda row: draw_key(row["id"], seed))
    texts = named_texts(outputs, [row["evidence"] for row in rows])
    return [_row(row, texts) for row in rows]


def funnel(outputs: Outputs) -> tuple[list[str], dict[str, list[tuple[int, int]]]]:
    """The stages, and for each source the rows that each stage kept and dropped; the most rows first."""
    counts: dict[str, dict[str, list[int]]] = {}
    for fate, files in enumerate((outputs.kept, outputs.dropped)):
        for stage, path in files.items():
            for (source,), rows in count_values([path], "source").items():
                counts.setdefault(source, {}).setdefault(stage, [0, 0])[fate] = rows
    stages = list(outputs.kept)
    table = {
        source: [(kept, dropped) for kept, dropped in (of_stage.get(stage, [0, 0]) for stage in stages)]
        for source, of_stage in counts.items()
    }
    return stages, dict(sorted(table.items(), key=lambda item: (-sum(item[1][0]), item[0])))


def _row(row: Mapping[str, Any], texts: Any) -> dict[str, Any]:
    problem, evidence = row["problem"] or "", row["evidence"]
    others = find_related(problem, evidence, texts)
    here = others[0].here if others else find_quotes(problem, evidence)
    answer = row["answer"] or ""
    return {
        "id": row["id"],
        "source": row["source"],
        "row": row["source_id"],
        "digest": row_key(row)[1],
        "stage": row["stage"],
        "reason": row["reason"],
        "can_be_kept": row["stage"] in (DOUBTFUL, *KEPT_BY_MARKS) or row["reason"] == Reason.MARKED_UNFIT,
        "problem": _cut(problem, here),
        "answer": _cut(answer, _of_answer(answer, evidence), LONGEST_VALUE),
        "evidence": [[name, _text(value)] for name, value in evidence.items() if name != "span"],
        "beside": [
            {
                "kind": other.kind,
                "name": other.name,
                "id": other.id,
                "problem": _cut(other.problem, other.there),
                "answer": other.answer[:LONGEST_VALUE],
            }
            for other in others
        ],
    }


def _of_answer(answer: str, evidence: Mapping[str, Any]) -> list[Span]:
    """What is marked in the gold: what the evidence quotes of it, where it speaks of the gold alone."""
    if {"twin", "benchmark"} & evidence.keys():
        return []
    if evidence.get("field") == "answer" and "span" in evidence:
        return [tuple(evidence["span"])]
    return find_pieces(answer, [value for name in ("answer", "gold") if isinstance(value := evidence.get(name), str)])


def _cut(text: str, spans: Sequence[Span], longest: int = LONGEST_TEXT) -> list[str]:
    """A text's parts, every second one marked, of at most so many characters."""
    if len(text) > longest:
        spans = [(start, min(end, longest)) for start, end in spans if start < longest]
        text = text[:longest] + "…"
    return parts(text, spans)


def _text(value: Any) -> str:
    said = as_text(value)
    return said if len(said) <= LONGEST_VALUE else said[:LONGEST_VALUE] + "…"
