"""Numbers as they are written. A plain number, read without a parser, settles a third of all comparisons."""

from __future__ import annotations

import re
from typing import NamedTuple

from flint import fmpq

from compass.verifier.tree import Number, OverBudget

MAX_DIGITS = 1000
MAX_DECIMAL_EXPONENT = 400

_INTEGER = re.compile(r"[+-]?\d{1,300}")
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)"
    r"(?:(?P<whole>[1-9]\d{0,2}(?:(?:,\d{3})+|(?:[ ']\d{3})+|(?:\.\d{3}){2,})|\d{1,300})?(?:\.(?P<decimals>\d{0,300}))?)"
    r"(?:(?:e(?P<exponent>[+-]?\d{1,3})|(?:\\times|\\cdot)\s?10\^\{?(?P<power>[+-]?\d{1,3})\}?))?"
    r"(?P<mark>\\?%|\^\{?\\circ\}?)?"
)
_FRACTION = re.compile(
    r"(?P<sign>-?)(?:(?P<whole>\d{1,100})(?:\s?(?=\\frac)|\s(?=\d{1,100}/\d)))?"
    r"(?:\\frac(?:\{(?P<top>-?\d{1,100})\}|\s?(?P<top1>\d))\s?(?:\{(?P<bottom>-?\d{1,100})\}|(?P<bottom1>\d))"
    r"|(?P<top2>\d{1,100})/(?P<bottom2>\d{1,100}))"
)


_ARC = re.compile(
    r"(?P<degrees>\d{1,3})\^\{?\\circ\}?\s?(?P<minutes>\d{1,2})(?:'|\^\{?\\prime\}?)"
    r"(?:\s?(?P<seconds>\d{1,2}(?:\.\d{1,9})?)(?:''|\"|\^\{\\prime\s?\\prime\}))?"
)


_SEPARATORS = re.compile(r"[,.' ]")


class PlainNumber(NamedTuple):
    """A number as read: its exact value, `%` or `°` after it, and its decimal text where it was written as one."""

    value: fmpq
    mark: str = ""
    literal: str | None = None


def read(text: str) -> PlainNumber | None:
    """The number that normalised text is, or None where it is anything more."""
    if _INTEGER.fullmatch(text):
        return PlainNumber(fmpq(int(text)))
    match = _NUMBER.fullmatch(text)
    if match is not None:
        return _decimal(match)
    match = _FRACTION.fullmatch(text)
    if match is not None:
        return _fraction(match)
    match = _ARC.fullmatch(text) if "circ" in text else None
    return None if match is None else _arc(match)


def _decimal(match: re.Match[str]) -> PlainNumber | None:
    sign, whole, decimals, exponent, power, mark = match.groups()
    if not (whole or decimals):
        return None
    whole, decimals = _SEPARATORS.sub("", whole or ""), decimals or ""
    value = fmpq(int(sign + (whole + decimals)), 10 ** len(decimals))
    shift = int(exponent or power or 0)
    if shift:
        value = value * fmpq(10) ** shift
    literal = None
    if decimals or shift:
        literal = f"{sign}{whole}.{decimals}" + (f"e{shift}" if shift else "")
    return PlainNumber(value, "" if mark is None else "%" if "%" in mark else "°", literal)


def _arc(match: re.Match[str]) -> PlainNumber:
    """Degrees, minutes and seconds of arc, in degrees."""
    whole, _, decimals = (match.group("seconds") or "0").partition(".")
    seconds = fmpq(int(whole + decimals), 10 ** len(decimals))
    return PlainNumber(fmpq(int(match.group("degrees"))) + fmpq(int(match.group("minutes")), 60) + seconds / 3600, "°")


def _fraction(match: re.Match[str]) -> PlainNumber | None:
    sign, whole, top, top1, bottom, bottom1, top2, bottom2 = match.groups()
    below = int(bottom or bottom1 or bottom2)
    if below == 0:
        return None
    value = fmpq(int(top or top1 or top2), below)
    if whole is not None:
        if not 0 < value < 1 or below < 0:
            return None  # an improper fraction after a number is a product
        value += int(whole)
    return PlainNumber(-value if sign else value)


def times_100(side: PlainNumber) -> PlainNumber:
    """A number as a percentage; a decimal text keeps its digits."""
    text = side.literal
    if text is not None:
        mantissa, _, exponent = text.lower().partition("e")
        text = f"{mantissa}e{int(exponent or 0) + 2}"
    return PlainNumber(side.value * 100, side.mark, text)


def literal(text: str) -> Number:
    """The number of a token, exactly: digits, perhaps with a point and an exponent.

    Raises:
        OverBudget: more than `MAX_DIGITS` digits, or an exponent beyond `MAX_DECIMAL_EXPONENT`.
    """
    if len(text) <= MAX_DIGITS and text.isdigit():
        return Number(fmpq(int(text)))
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or (exponent and abs(int(exponent)) > MAX_DECIMAL_EXPONENT):
        raise OverBudget(f"a number of {len(text)} digits")
    whole, _, decimals = mantissa.partition(".")
    value = fmpq(int(whole + decimals or "0"), 10 ** len(decimals))
    if exponent:
        value *= fmpq(10) ** int(exponent)
    return Number(value, text if decimals or exponent else None)
