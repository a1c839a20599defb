"""The level that a problem trains at: graded, or its source's own where the settings allow."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from compass.records import SOLVE_RATE

LEVELS = (1, 2, 3, 4, 5)

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def source_levels(sources: Sequence[str], published: Sequence[str | None]) -> list[int | None]:
    """Levels 1-5 from what sources publish, None where nothing can be read.

    A source whose difficulties are all whole numbers from 1 to 5 is taken as it is ("Level 3" is 3). Any other
    scale (AIME's 2.0-7.5, HARP's 6-9) is ranked within its source into five parts of about equal size; equal
    difficulties share a level, that of the middle one. Solve rates are ranked the other way: what is solved least is hardest.

    Args:
        sources: each problem's source.
        published: each problem's difficulty as published.
    """
    values = [_value(text) for text in published]
    scales: dict[str, list[float]] = {}
    for source, value in zip(sources, values, strict=True):
        if value is not None:
            scales.setdefault(source, []).append(value)
    ranked = {source: sorted(scale) for source, scale in scales.items() if not all(value in LEVELS for value in scale)}
    return [
        None if value is None else _quantile(ranked[source], value) if source in ranked else int(value)
        for source, value in zip(sources, values, strict=True)
    ]


def _value(text: str | None) -> float | None:
    text = text or ""
    match = _NUMBER.search(text)
    if match is None:
        return None
    return -float(match[0]) if text.startswith(SOLVE_RATE) else float(match[0])


def _quantile(scale: list[float], value: float) -> int:
    """The fifth of a sorted scale in which the middle one of the values equal to `value` lies."""
    middle = (bisect_left(scale, value) + bisect_right(scale, value) - 1) / 2
    return min(5, int(5 * middle / len(scale)) + 1)
