"""One HTML page: its frame and style, sections and tables. Every text is escaped; a page loads nothing.

A page runs no script but those that `document` is given, and those by their digest alone.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --paper: #fff; --muted: #59636e; --line: #d8dee4; --soft: #f4f6f8;
  --link: #0a58ca; --good: #1a7f37; --bad: #c62f2f; --warn: #9a6700; --warn-soft: #fff6dd; --good-soft: #d8f5df; --bad-soft: #ffe1de }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --paper: #14171b; --muted: #9aa4af; --line: #343b44; --soft: #1e2329;
  --link: #79b0ff; --good: #58c274; --bad: #ff8a80; --warn: #e3b341; --warn-soft: #2f2711; --good-soft: #173823; --bad-soft: #46201f } }
* { box-sizing: border-box }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 64rem; margin: 0 auto;
  padding: 1.2rem 1rem 4rem; overflow-wrap: break-word }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .4rem 0 } h2 { font-size: 1.25rem; margin: 2.4rem 0 .5rem }
h3 { font-size: 1.02rem; margin: 1.4rem 0 .3rem } p { margin: .5rem 0 } a { color: var(--link) }
.scroll, .figure { overflow-x: auto; max-width: 100% }
table { border-collapse: collapse; margin: .6rem 0; font-size: .9rem } td, th { padding: .25rem .6rem; border-bottom: 1px solid var(--line) }
th { text-align: left; font-weight: 600; vertical-align: bottom } td { vertical-align: top; min-width: 2.5rem }
td:first-child, th:first-child { position: sticky; left: 0; background: var(--paper) } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
svg { max-width: 100%; height: auto; color: var(--ink) } svg text { fill: currentColor } .note { color: var(--muted); font-size: .93rem }
pre { background: var(--soft); padding: .6rem; overflow: auto; font-size: .82rem } summary { cursor: pointer; padding: .25rem 0 }
.narrow { display: none }
@media (max-width: 44rem) { body { font-size: 15px; padding: .6rem .7rem 3rem } .narrow { display: block } .wide { display: none }
  td, th { padding: .22rem .4rem } }
@media print { :root { color-scheme: light; --ink: #000; --paper: #fff; --muted: #444; --line: #bbb; --soft: #f4f4f4; --link: #000;
  --good: #1a7f37; --bad: #b02525; --warn: #7a5200; --warn-soft: #fff6dd; --good-soft: #d8f5df; --bad-soft: #ffe1de }
  body { max-width: none; padding: 0; font-size: 10.5pt } .scroll, .figure { overflow: visible } .screen { display: none }
  h2, h3 { break-after: avoid } tr, svg, .item { break-inside: avoid } }
"""


_RIGHT = " class='n'"


def document(title: str, parts: Iterable[str], *, style: str = "", scripts: Sequence[str] = ()) -> str:
    """A whole page from a title and parts that are HTML; empty parts are left out.

    Args:
        title: the page's title and first heading.
        parts: HTML.
        style: CSS beside `STYLE`.
        scripts: JavaScript to run at the page's end; no other script runs, whatever the parts hold.
    """
    hashes = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    policy += f"; script-src {hashes}" if hashes else ""
    frame = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        f"<meta http-equiv='Content-Security-Policy' content=\"{policy}\">",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        "<meta name='color-scheme' content='light dark'><meta name='generator' content='compass-report'><link rel='icon' href='data:,'>",
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head><body><h1>{escape(title)}</h1>",
        *parts,
        *(f"<script>{script}</script>" for script in scripts),
        "</body></html>",
    ]
    return "\n".join(part for part in frame if part) + "\n"


def section(title: str, note: str, *parts: str | None, anchor: str = "") -> str:
    """A heading, a note (a list where its lines begin with `- `), and parts that are HTML; nothing where all are empty."""
    inner = [part for part in parts if part]
    if note.startswith("- "):
        inner.insert(0, bullets(line.removeprefix("- ") for line in note.splitlines()))
    elif note:
        inner.insert(0, f"<p class='note'>{escape(note)}</p>")
    heading = f"<h2 id='{escape(anchor)}'>" if anchor else "<h2>"
    return "\n".join([f"{heading}{escape(title)}</h2>", *inner]) if inner else ""


def bullets(lines: Iterable[str]) -> str:
    """A list, one item per line of text."""
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; columns that hold nothing but numbers, and texts that begin with a digit or a sign and a digit, stand at the right."""
    rows = list(rows)
    right = [_numbers([row[place] for row in rows if place < len(row)]) for place in range(len(head))]
    names = "".join(_cell("th", name, is_right) for name, is_right in zip(head, right, strict=True))
    lines = ["<tr>" + "".join(_cell("td", *pair) for pair in zip(row, right, strict=False)) + "</tr>" for row in rows]
    body = "\n".join(lines)
    return f"<div class='scroll'><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>"


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
    """A value as text: thousands of a number are set apart by commas, a fraction has six digits at most; None is empty."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _numbers(values: Sequence[Any]) -> bool:
    """Whether a column holds numbers alone; cells that are empty or a dash say nothing."""
    texts = [text for value in values if (text := shown(value)) not in ("", "-")]
    return bool(texts) and all(text.lstrip("+-−")[:1].isdigit() for text in texts)


def _cell(kind: str, value: Any, right: bool) -> str:
    return f"<{kind}{_RIGHT if right else ''}>{escape(shown(value))}</{kind}>"


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
