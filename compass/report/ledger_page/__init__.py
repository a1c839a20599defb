"""The ledger's page: the funnel, the counts by reason, and rows to read, which its script filters and shows.

Totals count every row. The rows to read are a sample: of each group (stage, reason and source; for kept rows with doubts,
the doubt's reason and source) those with the lowest seeded hashes, as many per group as the page holds. A reader's labels leave the page as the file that `compass label --rows` reads. The page loads nothing and
runs no scripts but its own: a filter is a `<select>` in page.html and a name in `fields` of browse.js. Texts of the data reach it as escaped HTML or as text nodes, never as markup.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from compass.evaluation.row_labels import row_key
from compass.files import atomic_path
from compass.page.html import document, template_html
from compass.page.packed import element, pack
from compass.report.evidence import Span, find_pieces, find_quotes, find_related, named_texts, parts, read_evidence
from compass.report.history import MEANING
from compass.report.outputs import DECIDES, Outputs, find_doubtful, read_columns
from compass.seeded_draw import draw_key

HERE = Path(__file__).parent

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
    tables = _tables(*funnel(outputs), counts)
    name = outputs.folder.name or "the data"
    while True:
        rows = shown_rows(outputs, of_group, doubts, most_rows, seed)
        data = {"counts": [[*group, count] for group, count in counts.items()], "rows": rows}
        page = document(
            f"Ledger of {name}",
            [tables, element("ledger-rows", pack(data))],
            style=(HERE / "browse.css").read_text(encoding="utf-8"),
            scripts=[(HERE / "browse.js").read_text(encoding="utf-8")],
        )
        if len(page.encode()) <= LARGEST or most_rows <= 1:
            break
        most_rows = min(most_rows, len(rows)) // 2
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return sum(count for (stage, *_), count in counts.items() if stage != DOUBTFUL), len(rows)


def _tables(stages: list[str], sources: dict[str, list[tuple[int, int]]], counts: dict[Group, int]) -> str:
    """The page's sentences, tables and filter."""
    totals = [tuple(map(sum, zip(*column, strict=True))) for column in zip(*sources.values(), strict=True)]
    lines = [("all sources", "", totals)] if len(sources) > 1 else []
    by_reason: Counter[tuple[str, str]] = Counter()
    for (stage, reason, _), count in counts.items():
        by_reason[stage, reason] += count
    order = list(dict.fromkeys(stage for stage, _ in by_reason))
    reasons = [(*group, count) for group, count in by_reason.items()]
    return template_html(
        HERE / "page.html",
        read=sum(sum(row[0]) for row in sources.values()),
        kept=sum(row[-1][0] for row in sources.values()),
        doubtful=any(group[0] == DOUBTFUL for group in counts),
        stages=stages,
        sources=sources,
        funnel=[*lines, *((source, source, row) for source, row in sources.items())],
        reasons=sorted(reasons, key=lambda row: (order.index(row[0]), -row[2])),
        most=max(by_reason.values(), default=1),
        meaning=MEANING,
    )


def groups(outputs: Outputs) -> tuple[dict[Group, list[str]], list[dict[str, Any]]]:
    """The ids of every group, and the kept rows with doubts."""
    found: dict[Group, list[str]] = {}
    for path_stage, path in outputs.dropped.items():
        columns = read_columns(path, ["reason", "source", "id"])
        for reason, source, id_ in zip(
            *(columns[name].to_pylist() for name in ("reason", "source", "id")), strict=True
        ):
            found.setdefault((path_stage, reason, source), []).append(id_)
    doubts = find_doubtful(outputs) if DECIDES in outputs.kept else []
    for row in doubts:
        for reason in dict.fromkeys(finding["reason"] for finding in row["findings"]):
            found.setdefault((DOUBTFUL, reason, row["source"]), []).append(row["id"])
    return found, doubts


def sizes(groups: Mapping[Group, Sequence[str]], most_rows: int) -> int:
    """The most rows per group with which all groups together have at most `most_rows` rows, at least 1."""
    low, high = 1, max(1, most_rows)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(middle, len(ids)) for ids in groups.values()) <= most_rows:
            low = middle
        else:
            high = middle - 1
    return low


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
    most = sizes(groups, most_rows)
    # With more groups than rows, the largest ones have a row.
    largest = sorted(groups, key=lambda group: (-len(groups[group]), group))[:most_rows]
    chosen = {group: sorted(groups[group], key=lambda id_: draw_key(id_, seed))[:most] for group in largest}
    rows = []
    for stage, path in outputs.dropped.items():
        wanted = {id_ for group, ids in chosen.items() if group[0] == stage for id_ in ids}
        columns = ["id", "source", "source_id", "problem", "answer", "reason", "evidence"]
        for row in read_columns(path, columns, sorted(wanted)).to_pylist():
            if row["id"] in chosen.get((stage, row["reason"], row["source"]), ()):
                rows.append({**row, "stage": stage, "evidence": read_evidence(row["evidence"])})
    for row in doubts:
        for finding in row["findings"]:
            if row["id"] in chosen.get((DOUBTFUL, finding["reason"], row["source"]), ()):
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
            counted = read_columns(path, ["source"])["source"].value_counts().to_pylist()
            for entry in counted:
                counts.setdefault(entry["values"], {}).setdefault(stage, [0, 0])[fate] = entry["counts"]
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
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return said if len(said) <= LONGEST_VALUE else said[:LONGEST_VALUE] + "…"
