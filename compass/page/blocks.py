"""What pages and cards are made of: sections of paragraphs, tables, figures, charts and responses, whatever they are written as."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

POINTS = 400
"""Points of a curve; more iterations than these are drawn as means of neighbours."""

DIGITS = 5
"""Significant digits of a curve's values: no screen shows more."""


@dataclass(frozen=True)
class Note:
    """A paragraph in the page's quiet colour, or of the tone `headline` or `label`; and a command that the reader can copy."""

    text: str
    tone: str = "note"
    command: str = ""
    kind: ClassVar = "note"


@dataclass(frozen=True)
class Caution:
    """What went wrong or limits a result, and lines that are shown on demand."""

    text: str
    details: str = ""
    kind: ClassVar = "warning"


@dataclass(frozen=True)
class Link:
    """An address within the page or its server: a block, or a table's cell."""

    text: str
    url: str
    kind: ClassVar = "link"

    def __str__(self) -> str:
        """What is shown of a cell where nothing can be linked."""
        return self.text


@dataclass(frozen=True)
class Figures:
    """Figures at a glance: each with `name`, `value` and `note`, what it is of."""

    items: Sequence[Mapping[str, str]]
    kind: ClassVar = "figures"


@dataclass(frozen=True)
class Table:
    """A table by its header and rows; cells are text, numbers or links."""

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    text: str = ""
    kind: ClassVar = "table"


@dataclass(frozen=True)
class Bars:
    """Horizontal bars: (name, size, text next to it)."""

    title: str
    items: Sequence[Sequence[Any]]
    text: str = ""
    kind: ClassVar = "bars"


@dataclass(frozen=True)
class Chart:
    """A drawn figure: `name` for its file, `text` for those who do not see it, its SVG for a desk and for a phone."""

    name: str
    text: str
    wide: str
    narrow: str = ""
    kind: ClassVar = "chart"


@dataclass(frozen=True)
class Curves:
    """Charts over iterations, side by side, that a browser or a terminal draws: each is what `curve` returns."""

    items: Sequence[Mapping[str, Any]]
    kind: ClassVar = "charts"


@dataclass(frozen=True)
class Guards:
    """Guards with `name`, `level`, and the iterations in which each `fired`."""

    items: Sequence[Mapping[str, Any]]
    kind: ClassVar = "guards"


@dataclass(frozen=True)
class Responses:
    """Problems with responses to read; `choices` are the iterations that can be shown, `chosen` the one that is."""

    title: str
    text: str = ""
    choices: Sequence[int] = ()
    chosen: int | None = None
    problems: Sequence[Mapping[str, Any]] = ()
    kind: ClassVar = "responses"


@dataclass(frozen=True)
class Bullets:
    """A list of texts."""

    lines: Sequence[str]
    kind: ClassVar = "bullets"


@dataclass(frozen=True)
class Fold:
    """Parts that a reader opens."""

    title: str
    parts: Sequence[Part]
    kind: ClassVar = "fold"


@dataclass(frozen=True)
class Code:
    """A long text as it is, that a reader opens; on the page alone."""

    title: str
    text: str
    kind: ClassVar = "code"


Block = Note | Caution | Link | Figures | Table | Bars | Chart | Curves | Guards | Responses | Bullets | Fold | Code
Part = str | Block


@dataclass(frozen=True)
class Section:
    """A heading and its parts; shown where there are any. `anchor` is the heading's id in the page."""

    title: str
    parts: Sequence[Part]
    anchor: str = ""


def as_json(block: Block) -> dict[str, Any]:
    """A block as a JSON object, with its `kind`, the name of its template, and so the blocks in it."""
    return {one.name: _plain(getattr(block, one.name)) for one in fields(block)} | {"kind": block.kind}


def _plain(value: Any) -> Any:
    if isinstance(value, Block):
        return as_json(value)
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def response(
    name: str, text: str, *, right: bool | None, answer: str | None = None, facts: Iterable[str | None] = ()
) -> dict[str, Any]:
    """A response as `Responses` and the report's viewer hold it; `right` is None where it has not been judged yet."""
    return {"name": name, "right": right, "answer": answer, "facts": [fact for fact in facts if fact], "text": text}


def figures(*items: tuple[str, str, str]) -> Figures:
    """Figures of (name, value, what it is of)."""
    return Figures([dict(zip(("name", "value", "note"), item, strict=True)) for item in items])


def curve(
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


def format_share(share: float | None) -> str:
    """A share as text: `34.2%`."""
    return "–" if share is None or not math.isfinite(share) else f"{100 * share:.1f}%"


def format_number(value: Any, digits: int = 3) -> str:
    """A number as text; a dash where there is none."""
    if not finite(value):
        return "–"
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def format_short(number: float) -> str:
    """A large number in three digits: `19.7 G`."""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f}"


def format_hours(hours: float) -> str:
    """A duration: `474.3 h`, `40 min`."""
    return f"{hours:,.1f} h" if hours >= 1 else f"{60 * hours:.0f} min"


def _means(values: Sequence[Any], size: int) -> list[float | None]:
    means: list[float | None] = []
    for low in range(0, len(values), size):
        known = [value for value in values[low : low + size] if finite(value)]
        means.append(float(f"{sum(known) / len(known):.{DIGITS}g}") if known else None)
    return means
