"""Times of day and dates."""

from __future__ import annotations

import re
from typing import NamedTuple

from compass.verifier.leniency import Leniency, lean
from compass.verifier.reading.wording import wording

_MONTHS = {
    month: number
    for number, names in enumerate(
        ["january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug", "september sept sep", "october oct", "november nov", "december dec"], 1
    )
    for month in names.split()
}  # fmt: skip
_MARKUP = re.compile(r"\\(?:text|textbf|textrm|mathrm|mbox)\s*(?=\{)|[{}\\]")
_TIME = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?\s*(?:(?P<half>[ap])\.?\s*m\.?)?|(?P<hour12>\d{1,2})\s*(?P<half12>[ap])\.?\s*m\.?|(?P<clock>\d{1,2})\s*o'?\s?clock|12(?::00)?\s?(?P<named>noon|midnight)",
    re.IGNORECASE,
)
_NAMED = {"noon": (12, 0, 0), "midnight": (0, 0, 0)}
_ISO = re.compile(r"(\d{4})([-/.])(0?[1-9]|1[0-2])\2(0?[1-9]|[12]\d|3[01])")
_LAST = frozenset("mM.}ktn")
"""What a time without a colon ends with: `9 am`, `8 o'clock`, `noon`."""
_SUFFIX = "stndrh"


class Time(NamedTuple):
    """A time of day; `half` is `a`, `p` or, where it is not said, empty."""

    hour: int
    minute: int
    second: int
    half: str = ""


def time(text: str) -> Time | None:
    """The time of day that a text is, or None: `4:30 p.m.`, `16:30`, `9 am`, `noon`. Two digits stand after the colon."""
    if (":" not in text and text[-1:] not in _LAST) or (not text[:1].isdigit() and text[:1] not in "\\nNmM"):
        return None
    plain = _MARKUP.sub("", text).strip()
    named = _NAMED.get(plain.lower())
    if named is not None:
        return Time(*named, "p" if named[0] else "a")
    match = _TIME.fullmatch(plain)
    if match is None:
        return None
    if match["named"]:
        return time(match["named"])
    hour, minute, second = (
        int(match["hour"] or match["hour12"] or match["clock"]),
        int(match["minute"] or 0),
        int(match["second"] or 0),
    )
    half = (match["half"] or match["half12"] or "").lower()
    if hour > 24 or minute > 59 or second > 59 or (half and not 1 <= hour <= 12):
        return None
    return Time(hour % 12 + (12 if half == "p" else 0) if half else hour, minute, second, half)


def same_time(one: Time, two: Time) -> bool:
    """Whether two times are the same; one without `am` or `pm` up to 12 o'clock may be either."""
    if one[:3] == two[:3]:
        if one.half != two.half and min(one.hour, two.hour) <= 12:
            lean(Leniency.WORDING)
        return True
    bare = next((time for time in (one, two) if not time.half), None)
    if bare is None or one.half == two.half or not 1 <= bare.hour <= 12 or one[1:3] != two[1:3]:
        return False
    lean(Leniency.WORDING)
    return (one.hour - two.hour) % 12 == 0


class Date(NamedTuple):
    """A date, of which a part may be missing."""

    year: str
    month: int
    day: str


def is_iso(text: str) -> bool:
    """Whether text is a date in digits, the year first: `2021-03-05`."""
    return text[:1].isdigit() and _ISO.fullmatch(text) is not None


def date(text: str) -> Date | None:
    """The date that a text is, its month in words or the year first; None for any other text."""
    match = _ISO.fullmatch(text) if text[:1].isdigit() else None
    if match is not None:
        return Date(match[1], int(match[3]), match[4].lstrip("0"))
    parts = wording(text).split()
    months = [part for part in parts if part in _MONTHS]
    numbers = [part.rstrip(_SUFFIX) for part in parts if part not in _MONTHS and part != "of"]
    if len(months) != 1 or not 1 <= len(numbers) <= 2 or not all(part.isdigit() for part in numbers):
        return None
    years = [part for part in numbers if len(part) == 4]
    days = [part.lstrip("0") for part in numbers if len(part) < 3]
    if len(years) > 1 or len(days) > 1 or len(years) + len(days) != len(numbers):
        return None
    return Date(years[0] if years else "", _MONTHS[months[0]], days[0] if days else "")


def same_date(one: Date, two: Date) -> bool:
    """Whether two dates agree in every part."""
    return one == two
