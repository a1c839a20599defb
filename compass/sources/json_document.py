"""The rows in a JSON document that is not one row per line: lists, tables by column, `{id: row}`, and rows inside an object.

    document_rows([{"version": 1, "data": [{"problem": "1 + 1?"}]}], path)   -> [{"problem": "1 + 1?"}]

Decided by what the document holds and never by its keys: rows are objects that share their fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compass.errors import SourceError

FEWEST = 10
"""Rows that an object inside of an object holds; fewer are a part of one row, such as its responses."""


def document_rows(values: Sequence[Any], path: Path) -> list[Any]:
    """The rows of the values that follow each other in a file; an object of `{id: row}` gives each row its key as `_id`.

    Raises:
        SourceError: an object holds several lists of rows.
    """
    if len(values) != 1:
        return list(values)
    document = values[0]
    if isinstance(document, list):
        return _without_header(document)
    if not isinstance(document, dict):
        return [document]
    return _rows_inside(document, path) or [document]


def _rows_inside(document: dict[str, Any], path: Path) -> list[Any]:
    """The rows that an object holds; none where it is a row itself."""
    if columns := _columns(document):
        names, cells = columns
        return [dict(zip(names, row, strict=True)) for row in cells]
    lists = {key: value for key, value in document.items() if _are_rows(value)}
    if len(lists) > 1:
        held = ", ".join(
            f"`{key}` ({len(rows)} rows, the first with {_fields(rows[0])})" for key, rows in lists.items()
        )
        longest = max(lists, key=lambda key: len(lists[key]))
        raise SourceError(
            f"{path}: its object holds several lists of rows: {held}",
            f"write the one to read into a file of its own: `jq '.[\"{longest}\"]' {path.name} > {longest}.json`",
        )
    if lists and not _is_part(lists, document, path):
        return next(iter(lists.values()))
    inner = [value for value in document.values() if isinstance(value, dict)]
    if len(inner) == len(document) > 1 and _share_fields(inner):
        return [row if "id" in row else {"_id": key, **row} for key, row in document.items()]
    deeper = [value for value in inner if any(_are_rows(rows) and len(rows) >= FEWEST for rows in value.values())]
    return _rows_inside(deeper[0], path) if len(deeper) == 1 else []


def _is_part(lists: dict[str, Any], document: dict[str, Any], path: Path) -> bool:
    """Whether a short list is a part of the one row that an object is, such as its responses: in a file of one row per line, next to other
    fields."""
    (rows,) = lists.values()
    return ".jsonl" in path.suffixes and len(document) > 1 and len(rows) < FEWEST


def _are_rows(value: Any) -> bool:
    """Whether a value is a list of objects that share their fields; messages and choices, which a row itself holds, are not."""
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) for row in value):
        return False
    names = {str(name).lower() for row in value for name in row}
    is_of_a_row = bool(names & {"role", "from"}) or (
        len(value) <= 10 and names <= {"label", "text", "key", "value", "content"}
    )
    return not is_of_a_row and _share_fields(value)


def _share_fields(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether half of all rows' fields are in most rows."""
    counts: dict[str, int] = {}
    for row in rows:
        for name in row:
            counts[name] = counts.get(name, 0) + 1
    return bool(counts) and 2 * sum(2 * count > len(rows) for count in counts.values()) >= len(counts)


def _columns(document: dict[str, Any]) -> tuple[list[str], list[list[Any]]] | None:
    """Names and rows of a table written by column, as pandas writes it: lists, objects by row number, or names apart from rows."""
    names, cells = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(cells, list) and all(isinstance(row, list) for row in cells):
        whole = bool(cells) and all(len(row) == len(names) for row in cells)
        return ([str(name) for name in names], cells) if whole else None
    values = list(document.values())
    if len(values) < 2:
        return None
    is_lists = all(isinstance(value, list) for value in values)
    if is_lists and len({len(value) for value in values}) == 1 < len(values[0]):
        flat = not any(isinstance(cell, dict) for value in values for cell in value)
        return (list(document), [list(row) for row in zip(*values, strict=True)]) if flat else None
    if all(isinstance(value, dict) and len(value) > 1 and all(key.isdigit() for key in value) for value in values):
        keys = list(values[0])
        if all(list(value) == keys for value in values):
            return list(document), [[value[key] for value in values] for key in keys]
    return None


def _without_header(rows: list[Any]) -> list[Any]:
    """A list of lists whose first one holds nothing but different short names is a table with a header."""
    is_table = len(rows) > 1 and all(isinstance(row, list) and len(row) == len(rows[0]) > 1 for row in rows)
    if not is_table or any(isinstance(cell, dict | list) for row in rows for cell in row):
        return rows
    header = rows[0]
    is_header = all(isinstance(cell, str) and cell.isidentifier() for cell in header) and len({*header}) == len(header)
    return [dict(zip(header, row, strict=True)) for row in rows[1:]] if is_header else rows


def _fields(row: dict[str, Any]) -> str:
    return ", ".join(f"`{name}`" for name in list(row)[:6])
