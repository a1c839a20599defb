"""Blocks and whole pages as HTML, by the templates of this folder. Every text is escaped; a page loads nothing.

A page runs no scripts but those that `document` is given, and those by their digests alone. Characters that change the direction of
text, or are not seen, are shown by their numbers.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from compass.page.blocks import Link, Part, Section, Table

HERE = Path(__file__).parent

LARGEST_FILE = 5_000_000
"""Bytes up to which a file is embedded in a page."""

LONG_TEXT = 40
"""Characters above which a table's cell is a text that wraps."""

ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""Characters that a terminal would obey, that change the direction of text, or that are not seen."""


def document(title: str, parts: Iterable[str], *, scripts: Sequence[str] = ()) -> str:
    """A whole page from a title and parts that are HTML; empty parts are left out.

    Args:
        title: the page's title and first heading.
        parts: HTML.
        scripts: JavaScript to run at the page's end, after `page.js`; no other script runs, whatever the parts hold.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    if scripts:
        scripts = [(HERE / "page.js").read_text(encoding="utf-8"), *scripts]
        digests = (f"'sha256-{_sha256(script)}'" for script in scripts)
        policy += f"; script-src {' '.join(digests)}"
    return _ENVIRONMENT.get_template("page.html").render(
        title=title,
        policy=Markup(policy),
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        parts=[Markup(part) for part in parts if part],
        scripts=[Markup(script) for script in scripts],
    )


def sections_html(sections: Iterable[Section]) -> list[str]:
    """Each section as HTML; sections without parts are left out."""
    return [
        section_html(section.title, *map(block_html, section.parts), anchor=section.anchor)
        for section in sections
        if section.parts
    ]


def section_html(title: str, *parts: str, anchor: str = "") -> str:
    """A heading and parts that are HTML."""
    heading = Markup("<h2 id='{}'>{}</h2>").format(anchor, title) if anchor else Markup("<h2>{}</h2>").format(title)
    return "\n".join([heading, *(part for part in parts if part)])


def block_html(block: Part) -> Markup:
    """A block as HTML."""
    return Markup(_ENVIRONMENT.get_template("blocks.html").module.block(block)).strip()


def links_html(addresses: Mapping[str, str | Path]) -> str:
    """Links by their text, in which `backticks` mark code; an address of another scheme than http and https, or an empty one, is shown and not linked.

    A file is embedded, for the reader to save, so that the page can be sent alone; one of more than `LARGEST_FILE` bytes is named only.
    """
    shown = []
    for text, address in addresses.items():
        if isinstance(address, Path):
            shown.append(_embedded_file(text, address))
            continue
        # An address from elsewhere could be `javascript:`. Without a colon there is no scheme.
        linked = address.startswith(("http://", "https://")) or (address and ":" not in address)
        template = "<a href='{1}'>{0}</a>" if linked else "{0} {1}"
        shown.append(Markup(template).format(_prose(text), address).strip())
    return f"<p>{' · '.join(shown)}</p>" if shown else ""


def _embedded_file(text: str, path: Path) -> Markup:
    if path.stat().st_size > LARGEST_FILE:
        return Markup("{}: {} beside this page").format(text, path.name)
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return Markup("<a download='{}' href='data:application/octet-stream;base64,{}'>{}</a>").format(
        path.name, data, text
    )


def shown(value: Any) -> str:
    """A value as text: thousands of a number are set apart by commas, a fraction has six digits at most; None is empty."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def cell_html(value: Any) -> Any:
    """A table's cell: a link within the page, else the value as text."""
    if isinstance(value, Link) and value.url.startswith("#"):
        return Markup("<a href='{}'>{}</a>").format(value.url, visible(value.text))
    return shown(value)


def visible(value: Any) -> Markup:
    """A text escaped, with each odd character shown by its number; markup stays."""
    if isinstance(value, Markup):
        return value
    found = ODD.sub(lambda one: f"<span class='odd'>⟨U+{ord(one[0]):04X}⟩</span>", str(escape(value)))
    return Markup(found)


def _prose(text: str) -> Markup:
    """A text of ours, in which `backticks` mark code."""
    pieces = [
        Markup("<code>{}</code>").format(visible(piece)) if n % 2 else visible(piece)
        for n, piece in enumerate(text.split("`"))
    ]
    return Markup("").join(pieces)


def number_columns(table: Table) -> list[bool]:
    """Which columns hold nothing but numbers, and short texts that begin with a digit or a sign and a digit: they are aligned at the right."""
    columns = [[shown(row[place]) for row in table.rows if place < len(row)] for place in range(len(table.head))]
    known = [[text for text in column if text not in ("", "-", "–")] for column in columns]
    return [bool(texts) and all(map(_begins_with_number, texts)) for texts in known]


def _begins_with_number(text: str) -> bool:
    return text.lstrip("+-−")[:1].isdigit() and len(text) <= LONG_TEXT


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(HERE),
    autoescape=True,
    finalize=visible,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_ENVIRONMENT.globals["LONG_TEXT"] = LONG_TEXT
_ENVIRONMENT.filters |= {"shown": shown, "cell": cell_html, "prose": _prose, "number_columns": number_columns}
