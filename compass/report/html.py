"""One HTML page: its frame and style, sections and tables. Every text is escaped; a page runs no script and loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.15rem; margin-top: 2.2rem }
table { border-collapse: collapse; margin: .6rem 0 } td, th { padding: .2rem .7rem; border-bottom: 1px solid #ddd }
th { text-align: left; font-weight: 600 } td.n { text-align: right; font-variant-numeric: tabular-nums }
svg { max-width: 100%; height: auto } .note { color: #666 } pre { background: #f6f6f6; padding: .6rem; overflow: auto }
@media (prefers-color-scheme: dark) { body { background: #fff } }
"""


def document(title: str, parts: Iterable[str]) -> str:
    """A whole page from a title and parts that are HTML; empty parts are left out."""
    frame = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        "<meta name='viewport' content='width=device-width'>",
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><h1>{escape(title)}</h1>",
        *parts,
        "</body></html>",
    ]
    return "\n".join(part for part in frame if part) + "\n"


def section(title: str, note: str, *parts: str | None) -> str:
    """A heading, a note (a list where its lines begin with `- `), and parts that are HTML; nothing where all are empty."""
    inner = [part for part in parts if part]
    if note.startswith("- "):
        lines = "".join(f"<li>{escape(line.removeprefix('- '))}</li>" for line in note.splitlines())
        inner.insert(0, f"<ul>{lines}</ul>")
    elif note:
        inner.insert(0, f"<p class='note'>{escape(note)}</p>")
    return "\n".join([f"<h2>{escape(title)}</h2>", *inner]) if inner else ""


def table(head: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers, and texts that begin with a digit, stand at the right of their column."""
    lines = ["<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in rows]
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f"<table><tr>{names}</tr>" + "\n".join(lines) + "</table>"


def links(addresses: Mapping[str, str]) -> str:
    """Links by their text; an address of another scheme than http and https, or an empty one, is shown and not linked."""
    shown = []
    for text, address in addresses.items():
        # An address from elsewhere could be `javascript:`. Without a colon there is no scheme.
        linked = address.startswith(("http://", "https://")) or (address and ":" not in address)
        label = escape(text if linked else f"{text} {address}".strip())
        shown.append(f"<a href='{escape(address)}'>{label}</a>" if linked else label)
    return f"<p>{' · '.join(shown)}</p>" if shown else ""


def shown(value: Any) -> str:
    """A value as text; thousands of a number are set apart by commas."""
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def _cell(value: Any) -> str:
    text = escape(shown(value))
    number = isinstance(value, int | float) or text[:1].isdigit()
    return f"<td class='n'>{text}</td>" if number else f"<td>{text}</td>"
