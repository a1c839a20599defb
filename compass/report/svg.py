"""Bar charts as SVG text: the same bytes for the same numbers, and readable in any browser without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

_WIDTH, _LABEL, _ROW = 720, 210, 22


def bars(title: str, values: Mapping[str, float], unit: str = "") -> str:
    """A horizontal bar for each value, in the order given; labels are escaped and cut to 32 characters."""
    top = max(values.values(), default=0) or 1
    height = 34 + _ROW * max(len(values), 1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}" font-family="sans-serif" font-size="12">',
        f'<text x="4" y="18" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for number, (label, value) in enumerate(values.items()):
        y = 30 + _ROW * number
        width = round((_WIDTH - _LABEL - 100) * value / top, 1)
        short = label if len(label) <= 32 else f"{label[:31]}…"
        lines.append(f'<text x="{_LABEL - 6}" y="{y + 14}" text-anchor="end">{escape(short)}</text>')
        lines.append(f'<rect x="{_LABEL}" y="{y + 2}" width="{width}" height="{_ROW - 6}" fill="#3b6ea5"/>')
        lines.append(f'<text x="{_LABEL + width + 5}" y="{y + 14}">{_figure(value)}{escape(unit)}</text>')
    if not values:
        lines.append(f'<text x="{_LABEL}" y="44">no rows</text>')
    return "\n".join([*lines, "</svg>", ""])


def _figure(value: float) -> str:
    return f"{value:,}" if float(value).is_integer() else f"{value:,.3g}"
