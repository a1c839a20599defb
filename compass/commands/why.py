"""`compass why QUERY`: the history of one problem, or the rows that a query names."""

from __future__ import annotations

import json as json_lines
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.library.why import MOST

if TYPE_CHECKING:
    from compass.report.find import Found
    from compass.report.outputs import Outputs


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
    from compass.library.why import why as look_up
    from compass.report.find import find_problem
    from compass.report.history import history

    text = " ".join(query)
    if json:
        print(json_lines.dumps(look_up(text, data), ensure_ascii=False, indent=2))
        return 0
    outputs, found = find_problem(text, data)
    if found.alike:
        lines = _similar(outputs, found)
    elif len(found.rows) == 1 and (not found.items or found.is_text):
        lines = history(outputs, found.rows[0]["id"])
    elif len(found.items) == 1 and not found.rows:
        lines = _item(outputs, found.items[0])
    else:
        lines = _choice(outputs, found)
    print("\n".join(lines))
    return 0


def _similar(outputs: Outputs, found: Found) -> Iterator[str]:
    """The history of the problem most like a text."""
    from compass.report.history import history

    best, *others = zip(found.rows, found.alike, strict=True)
    yield f"No row has exactly these words; the most similar one (word trigrams, {best[1]:.2f}):\n"
    yield from history(outputs, best[0]["id"])
    if others:
        yield "\nAlso similar: " + ", ".join(f"{row['id']} ({row['source']}, {alike:.2f})" for row, alike in others)


def _item(outputs: Outputs, item: dict[str, Any]) -> Iterator[str]:
    """A benchmark's item: scores by model, trained rows that resemble it, and the rows that were dropped for it."""
    from compass.report.find import in_items
    from compass.report.item_history import item_lines

    yield from item_lines(outputs, item)
    rows = in_items(outputs, item)
    yield f"dropped rows that hold it or a share of it: {len(rows):,}"
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
