"""What a view is made of: plain dictionaries that `page.js` draws, one function per kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Block = dict[str, Any]

POINTS = 400
"""Points of a chart; more iterations than these are drawn as means of neighbours."""

DIGITS = 5
"""Significant digits of a chart's values: no screen shows more."""


def note(text: str, command: str = "") -> Block:
    """A sentence, and a command that the reader can copy."""
    return {"kind": "note", "text": text, "command": command}


def warning(text: str, details: str = "") -> Block:
    """What went wrong, and lines that are shown on demand."""
    return {"kind": "warning", "text": text, "details": details}


def figures(*items: tuple[str, str, str]) -> Block:
    """Figures at a glance: (name, value, what it is of)."""
    return {"kind": "figures", "items": [dict(zip(("name", "value", "note"), item, strict=True)) for item in items]}


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]], text: str = "") -> Block:
    """A table; numbers stand at the right."""
    return {"kind": "table", "title": title, "head": list(head), "rows": [list(row) for row in rows], "text": text}


def bars(title: str, items: Iterable[tuple[str, float, str]], text: str = "") -> Block:
    """Horizontal bars: (name, size, what is written beside it)."""
    return {"kind": "bars", "title": title, "text": text, "items": [list(item) for item in items]}


def charts(items: Iterable[Mapping[str, Any] | None]) -> Block:
    """Charts side by side; those that have nothing to show are left out."""
    return {"kind": "charts", "items": [item for item in items if item]}


def chart(
    title: str,
    steps: Sequence[int],
    series: Mapping[str, Sequence[float | None]],
    *,
    text: str = "",
    last: int | None = None,
    percent: bool = False,
    stacked: bool = False,
    zero: bool = True,
) -> dict[str, Any] | None:
    """A chart over iterations; None where no series has a value.

    Args:
        title: what is drawn, with its unit.
        steps: iterations, rising.
        series: name to a value per iteration; None where there is none.
        text: what a reader should know of it.
        last: the iteration at which the axis ends.
        percent: values are shares from 0 to 1, shown as percents.
        stacked: the series are parts of one whole.
        zero: whether the axis of values begins at 0.
    """
    shown = {name: values for name, values in series.items() if any(finite(value) for value in values)}
    if not shown:
        return None
    size = max(1, math.ceil(len(steps) / POINTS))
    return {
        "title": title,
        "text": text,
        "steps": [steps[min(low + size, len(steps)) - 1] for low in range(0, len(steps), size)],
        "last": last or (steps[-1] if steps else 1),
        "percent": percent,
        "stacked": stacked,
        "zero": zero,
        "series": [{"name": name, "values": _means(values, size)} for name, values in shown.items()],
    }


def finite(value: Any) -> bool:
    """Whether a value is a number that can be drawn."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _means(values: Sequence[Any], size: int) -> list[float | None]:
    means: list[float | None] = []
    for low in range(0, len(values), size):
        known = [value for value in values[low : low + size] if finite(value)]
        means.append(float(f"{sum(known) / len(known):.{DIGITS}g}") if known else None)
    return means


def percent(share: float | None) -> str:
    """A share as text: `34.2%`."""
    return "–" if share is None or not math.isfinite(share) else f"{100 * share:.1f}%"


def number(value: Any, digits: int = 3) -> str:
    """A number as text; a dash where there is none."""
    if not finite(value):
        return "–"
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"
