"""Sections as Markdown: hostile text is shown as it is, and figures are files beside the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from compass.files import write_text
from compass.page.blocks import Bars, Bullets, Caution, Chart, Code, Fold, Note, Part, Section, Table
from compass.page.html import shown

FIGURES = "figures/"
"""What the name of a figure's file begins with: a folder next to the Markdown file."""

# What could open HTML, a link, an image, a table cell, emphasis, code, or a reference.
_SPECIAL = re.compile(r"([\\`*\[\]<>|~#&!$]|(?<!\w)_|_(?!\w))")


def write_markdown(path: Path, title: str, sections: Iterable[Section], *, top: str = "") -> list[Path]:
    """Write sections into a Markdown file, and their figures next to it; returns the files' paths.

    Args:
        path: the file.
        title: its heading.
        sections: its content.
        top: what comes before the heading, such as front matter; written as it is.
    """
    sections = list(sections)
    texts = {path: top + to_markdown(title, sections)}
    for chart in charts(part for section in sections for part in section.parts):
        # On a page of another colour the figure needs a ground of its own.
        drawn = chart.wide.replace("<svg ", "<svg style='background: white; color: black' ", 1)
        texts[path.parent / f"{FIGURES}{chart.name}.svg"] = drawn
    for file, text in texts.items():
        write_text(file, text)
    return list(texts)


def to_markdown(title: str, sections: Iterable[Section]) -> str:
    """Sections as one Markdown text."""
    lines = [f"# {plain(title)}", ""]
    for section in sections:
        inner = [line for part in section.parts for line in _part(part)]
        if inner:
            lines += [f"## {plain(section.title)}", "", *inner]
    return "\n".join(lines).rstrip() + "\n"


def plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def charts(parts: Iterable[Part]) -> Iterator[Chart]:
    """Every chart among parts, those in folds included."""
    for part in parts:
        if isinstance(part, Chart):
            yield part
        elif isinstance(part, Fold):
            yield from charts(part.parts)


def _part(part: Part) -> list[str]:
    match part:
        case str():
            return [plain(part), ""]
        case Note():
            text = plain(part.text)
            return [f"**{text}**" if part.tone == "headline" else text, ""]
        case Caution():
            return [f"> {plain(part.text)}", ""]
        case Bullets():
            return [*(f"- {plain(line)}" for line in part.lines), ""]
        case Chart():
            return [f"![{plain(part.text)}]({FIGURES}{part.name}.svg)", ""]
        case Table():
            rows = [[plain(shown(value)) for value in row] for row in part.rows]
            lines = [f"| {' | '.join(map(plain, part.head))} |", f"|{' --- |' * len(part.head)}"]
            return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]
        case Fold():
            return [f"### {plain(part.title)}", "", *(line for one in part.parts for line in _part(one))]
        case Code() | Bars():  # bars stand beside a table of the same numbers
            return []
        case _:
            raise TypeError(f"{type(part).__name__} is a block of the live page; Markdown has no form for it")
