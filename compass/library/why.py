"""`compass.why`: the history of one problem, or the rows and benchmark items that a query names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compass.report.find import Found
    from compass.report.outputs import Outputs

MOST = 20
"""Benchmark items that are given, and matches that `compass why` lists."""

_ID = re.compile(r"[0-9a-f]{16}")


def why(query: str, data: str | Path = "data") -> dict[str, Any]:
    """What every stage did with the rows that a query names; what `compass why --json` prints.

    Args:
        query: an id or its first digits, SOURCE:ROW, a source's own id, BENCHMARK:ITEM, or a problem's text or a piece of it.
        data: a pipeline's data folder, or one that `compass curate` or `compass.curate` wrote.

    Returns:
        `how` the query names them; `rows`, each with id, source, source_id, problem, answer and `stages` (stage to `fate`, and where it was
        dropped `reason` and `evidence`); benchmark `items`, each with `scores` per model and `similar` rows.

    Raises:
        RecordError: nothing is named so, no collected problem is like the text, or the folder holds no rows.
    """
    from compass.records import RecordError
    from compass.report.evidence import COLUMNS, read_evidence
    from compass.report.item_history import item_scores, similar_rows
    from compass.report.outputs import search

    outputs, found = find_problem(query, data)
    text = query.strip()
    if found is None:
        similar = search(outputs.collected(["id", "source", "problem"]), text)
        if not similar:
            raise RecordError(f"no collected problem is like that text in {outputs.folder}")
        ids, how, items = [id_ for _, id_, _ in similar], "problems most like that text", []
    else:
        ids, how, items = [row["id"] for row in found.rows], found.how, found.items
    rows = []
    for id_ in ids:
        stages = outputs.find(id_)
        first = next(iter(stages.values()))[1]
        fates: dict[str, Any] = {
            stage: {"fate": fate}
            | ({} if fate == "kept" else {"reason": row["reason"], "evidence": read_evidence(row["evidence"])})
            for stage, (fate, row) in stages.items()
        }
        rows.append({name: first[name] for name in COLUMNS} | {"stages": fates})
    shown = [
        {name: item[name] for name in COLUMNS}
        | {"scores": item_scores(outputs.folder, item), "similar": similar_rows(outputs, item)}
        for item in items[:MOST]
    ]
    return {"how": how, "rows": rows, "items": shown}


def find_problem(query: str, data: str | Path) -> tuple[Outputs, Found | None]:
    """The outputs in a folder, and what a query names there; None where it is a text that no row has.

    Raises:
        RecordError: the query is empty, or an id or a source's row that is not there, or the folder holds no rows.
    """
    from compass.records import RecordError
    from compass.report.find import find
    from compass.report.outputs import open_outputs

    text = query.strip()
    if not text:
        raise RecordError("nothing to look for; give an id, SOURCE:ROW, or a problem's text")
    outputs = open_outputs(Path(data))
    found = find(outputs, text)
    if found is None and _ID.fullmatch(text):
        raise RecordError(f"no row has the id {text!r} in {data}; give the problem's text to search for it")
    if found is None:
        _check_row(outputs, text)
    return outputs, found


def _check_row(outputs: Outputs, query: str) -> None:
    """Refuse SOURCE:ROW of a source that has no such row.

    Raises:
        RecordError: it has none; the message shows how its rows are named.
    """
    import pyarrow.compute as pc

    from compass.records import RecordError

    source, _, row = query.partition(":")
    rows = outputs.collected(["source", "source_id"])
    names = rows.filter(pc.equal(rows["source"], source))["source_id"].slice(0, 3).to_pylist()
    if row and names:
        raise RecordError(
            f"source {source!r} has no row {row!r}; its rows are named {', '.join(names)}, … (numbers count from 0)"
        )
