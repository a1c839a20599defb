"""What a page is made of, whatever it is written as: sections of paragraphs, lists, tables and charts.

`to_html` writes them for the page; `compass.report.markdown` writes the same for a repository. Texts are plain: both escape them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from compass.report import html


@dataclass(frozen=True)
class Table:
    """A table by its header and rows; cells are text or numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Chart:
    """A figure: `name` for its file, `text` for those who do not see it, its SVG for a desk and for a phone."""

    name: str
    text: str
    wide: str
    narrow: str = ""


@dataclass(frozen=True)
class Bullets:
    """A list of texts."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Note:
    """A paragraph in the page's quiet colour, or, of the kind `warning` or `headline`, in one that is seen."""

    text: str
    kind: str = "note"


@dataclass(frozen=True)
class Fold:
    """Parts that a reader opens."""

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Raw:
    """HTML of the page alone; Markdown leaves it out."""

    html: str


Part = str | Table | Chart | Bullets | Note | Fold | Raw


@dataclass(frozen=True)
class Section:
    """A heading and its parts; shown where there are any. `anchor` is the heading's id in the page."""

    title: str
    parts: Sequence[Part]
    anchor: str = ""


def chart(name: str, text: str, draw: Callable[[float], str | None]) -> list[Chart]:
    """A figure drawn in both widths, as a list; an empty one where there is nothing to draw.

    Args:
        name: of its file.
        text: what it shows.
        draw: makes the SVG of a width in inches.
    """
    from compass.report.figures import NARROW, WIDE

    wide = draw(WIDE)
    return [Chart(name, text, wide, draw(NARROW) or "")] if wide else []


def to_html(sections: Iterable[Section]) -> list[str]:
    """Each section as HTML; sections without parts are left out."""
    return [
        html.section(section.title, "", *(part_html(part) for part in section.parts), anchor=section.anchor)
        for section in sections
        if section.parts
    ]


def part_html(part: Part) -> str:
    """One part as HTML."""
    match part:
        case str():
            return f"<p>{escape(part)}</p>"
        case Table():
            return html.table(part.head, part.rows)
        case Chart():
            label = escape(part.text, quote=True)
            wide = f"<div class='figure wide' role='img' aria-label=\"{label}\">{part.wide}</div>"
            narrow = f"<div class='figure narrow' role='img' aria-label=\"{label}\">{part.narrow}</div>"
            return wide + narrow if part.narrow else wide.replace("figure wide", "figure")
        case Bullets():
            return html.bullets(part.lines)
        case Note():
            return f"<p class='{part.kind}'>{escape(part.text)}</p>"
        case Fold():
            inner = "\n".join(part_html(one) for one in part.parts)
            return f"<details><summary>{escape(part.title)}</summary>{inner}</details>"
        case Raw():
            return part.html
