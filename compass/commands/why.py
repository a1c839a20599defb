"""`compass why QUERY`: the history of one problem, or the rows that a query names."""

from __future__ import annotations

import json as json_lines
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compass.report.find import Found
    from compass.report.outputs import Outputs

MOST = 20
"""Matches that are listed."""

_ID = re.compile(r"[0-9a-f]{16}")


def why(query: list[str], /, *, data: Path = Path("data"), json: bool = False) -> int:
    """Show the history of one problem, by its id or its text.

    One match is shown whole: of a row, what each stage did with it; of a benchmark's item, how each model does on it, and which trained rows resemble it, with the
    stages and iterations that trained on them. Of several, each is listed in a line with what became of it; any of the ids shows the rest.

    Args:
        query: an id or its first digits, SOURCE:ROW, a source's own id, BENCHMARK:ITEM, or a problem's text or a piece of it;
            after `--` where it begins with a minus.
        data: a pipeline's data folder, or one of `compass curate`.
        json: print one JSON object: how the query was read, and each match with what every stage did with it.

    Raises:
        RecordError: nothing is named so, and no collected problem is like the text.

    Examples:
        compass why 8c4aec2152759cf0            by its id, or the first digits of one
        compass why numina:12                   by source and row, as the history prints them
        compass why math-500:12                 a benchmark's item: scores, and trained rows like it
        compass why test/algebra/4.json         by the source's own id, or a benchmark's of an item
        compass why "Let x, y and z all"        by its text, or a piece of it
    """
    from compass.records import RecordError
    from compass.report.find import find
    from compass.report.history import history
    from compass.report.outputs import open_outputs

    text = " ".join(query).strip()
    if not text:
        raise RecordError("nothing to look for; give an id, SOURCE:ROW, or a problem's text")
    outputs = open_outputs(data)
    found = find(outputs, text)
    if found is None and _ID.fullmatch(text):
        raise RecordError(f"no row has the id {text!r} in {data}; give the problem's text to search for it")
    if json:
        lines = iter([json_lines.dumps(_as_json(outputs, text, found), ensure_ascii=False, indent=2)])
    elif found is None:
        lines = _similar(outputs, text, data)
    elif len(found.rows) == 1 and (not found.items or found.is_text):
        lines = history(outputs, found.rows[0]["id"])
    elif len(found.items) == 1 and not found.rows:
        lines = _item(outputs, found.items[0])
    else:
        lines = _choice(outputs, found)
    print("\n".join(lines))
    return 0


def _as_json(outputs: Outputs, text: str, found: Found | None) -> dict[str, Any]:
    """`how` the query names `rows` and benchmark `items`; each row with the `stages` that kept or dropped it, each item with `scores` and `similar` rows."""
    from compass.records import RecordError
    from compass.report.evidence import read_evidence
    from compass.report.item_history import item_scores, similar_rows
    from compass.report.outputs import search

    names = ("id", "source", "source_id", "problem", "answer")
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
        rows.append({name: first[name] for name in names} | {"stages": fates})
    shown = [
        {name: item[name] for name in names}
        | {"scores": item_scores(outputs.folder, item), "similar": similar_rows(outputs, item)}
        for item in items[:MOST]
    ]
    return {"how": how, "rows": rows, "items": shown}


def _similar(outputs: Outputs, query: str, data: Path) -> Iterator[str]:
    """The history of the problem most like a text."""
    from compass.records import RecordError
    from compass.report.history import history
    from compass.report.outputs import search

    matches = search(outputs.collected(["id", "source", "problem"]), query)
    if not matches:
        raise RecordError(f"no collected problem is like that text in {data}")
    score, best, _ = matches[0]
    yield f"No row has exactly these words; the most similar one (word trigrams, {score:.2f}):\n"
    yield from history(outputs, best)
    if others := matches[1:]:
        yield "\nAlso similar: " + ", ".join(f"{id_} ({source}, {score:.2f})" for score, id_, source in others)


def _item(outputs: Outputs, item: dict[str, Any]) -> Iterator[str]:
    """A benchmark's item: scores by model, trained rows that resemble it, and the rows that were dropped for it."""
    from compass.report.find import in_items
    from compass.report.item_history import item_lines

    yield from item_lines(outputs, item)
    rows = in_items(outputs, item)
    yield f"{len(rows):,} rows were dropped that hold it or a share of it" + (":" if rows else "")
    yield from _lines(outputs, rows)


def _choice(outputs: Outputs, found: Found) -> Iterator[str]:
    """Several matches, a line each."""
    from compass.report.evidence import item_name
    from compass.report.printable import printable

    count = len(found.rows) + len(found.items)
    yield f"{count:,} matches: {found.how}"
    yield from _lines(outputs, found.rows)
    for item in found.items[:MOST]:
        yield f"  {item['id']}  {printable(item_name(item))}  a benchmark's item  {printable(item['problem'], 60)}"
    first = [*found.rows, *found.items][0]
    yield f"\nGive one of them, for example: compass why {printable(first['id'])} --data {outputs.folder}"


def _lines(outputs: Outputs, rows: list[dict[str, Any]]) -> Iterator[str]:
    """A row per line, with what became of it."""
    from compass.report.evidence import item_name
    from compass.report.find import fates
    from compass.report.printable import printable

    said = fates(outputs, [row["id"] for row in rows[:MOST]])
    for row in rows[:MOST]:
        yield f"  {row['id']}  {printable(item_name(row))}  {said[row['id']]}  {printable(row['problem'], 60)}"
    if len(rows) > MOST:
        yield f"  and {len(rows) - MOST:,} more; give more of the text"
