"""A page of the documentation with a part that a script writes, between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""

from __future__ import annotations

from pathlib import Path


def write_part(page: Path, name: str, text: str) -> None:
    """Put a text between the two marks of a name.

    Raises:
        SystemExit: the page lacks a mark; nothing is written.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{page}: no {begin} … {end}")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
