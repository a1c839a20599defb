"""Units of measurement: their spellings, and the factors between those of one dimension."""

# ruff: noqa: SIM905 - a word list reads better as words
from __future__ import annotations

from flint import fmpq

_SPELLINGS = {
    "cm": "cm centimeter centimeters centimetre centimetres", "mm": "mm millimeter millimeters millimetre millimetres",
    "m": "m meter meters metre metres", "km": "km kilometer kilometers kilometre kilometres",
    "in": "in inch inches", "ft": "ft foot feet", "yd": "yd yard yards", "mi": "mi mile miles",
    "s": "s sec secs second seconds", "min": "min mins minute minutes", "h": "h hr hrs hour hours",
    "day": "day days", "week": "week weeks", "month": "month months", "year": "year years yr yrs",
    "g": "g gram grams", "kg": "kg kilogram kilograms", "mg": "mg milligram milligrams", "lb": "lb lbs pound pounds", "oz": "oz ounce ounces",
    "l": "l liter liters litre litres", "ml": "ml milliliter milliliters", "gal": "gal gallon gallons",
    "dollar": "dollar dollars usd bucks", "cent": "cent cents", "euro": "euro euros eur", "pound": "gbp quid",
    "degree": "degree degrees deg", "radian": "rad radian radians", "percent": "percent pct percentage",
    "mph": "mph", "kph": "kph", "n": "newton newtons", "j": "j joule joules", "w": "watt watts", "hz": "hz hertz",
    "k": "kelvin", "pa": "pascal pascals", "mol": "mol mole moles", "v": "volt volts", "unit": "unit units",
}  # fmt: skip
UNIT_NAMES = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings.split()}

_SCALES = {
    "mm": ("length", fmpq(1, 1000)), "cm": ("length", fmpq(1, 100)), "m": ("length", fmpq(1)), "km": ("length", fmpq(1000)),
    "in": ("length", fmpq(254, 10000)), "ft": ("length", fmpq(3048, 10000)), "yd": ("length", fmpq(9144, 10000)),
    "mi": ("length", fmpq(1609344, 1000)), "s": ("time", fmpq(1)), "min": ("time", fmpq(60)), "h": ("time", fmpq(3600)),
    "day": ("time", fmpq(86400)), "week": ("time", fmpq(604800)), "mg": ("mass", fmpq(1, 1000)), "g": ("mass", fmpq(1)),
    "kg": ("mass", fmpq(1000)), "ml": ("volume", fmpq(1, 1000)), "l": ("volume", fmpq(1)), "cent": ("money", fmpq(1, 100)),
    "dollar": ("money", fmpq(1)), "month": ("calendar", fmpq(1)), "year": ("calendar", fmpq(12)),
}  # fmt: skip

LETTERS = frozenset("mgshl")
"""Units of one letter, which in plain text reads as a variable: `5 m`."""

UNIT_WORDS = frozenset(UNIT_NAMES) | frozenset(
    "square cubic sq cu per units ways people students apples books cookies balls marbles times points pieces books boys girls "
    "men women children games pages tickets cards coins questions problems integers numbers digits sides edges "
    "vertices triangles squares rectangles am pm a.m p.m mph hours tons tonnes gallons pints quarts cups dozen eggs".split()
)

_REFUSED = frozenset(
    "not no none more less than least most approximately about around between from to minus plus but except if when where then "
    "correct answer wrong either neither is are equal equals over under above below maybe possibly undefined error the "
    "solution times".split()
)
"""Words that change what an answer says: a number followed by one of them is not a number with a unit."""


def unit_of(words: list[str]) -> str | None:
    """The unit that the words after a number name, in a canonical spelling; None where they say something else.

    `["square", "feet"]` -> `ft^2`; an unknown noun stands for itself: `["cookies"]` -> `cookie`.
    """
    if not words or len(words) > 12:
        return None
    power, parts = "", []
    for word in words:
        lower = word.lower().strip(".")
        if lower in _REFUSED and not (lower == "times" and len(words) == 1):
            return None
        if lower in ("square", "sq"):
            power = "^2"
        elif lower in ("cubic", "cu"):
            power = "^3"
        elif lower in ("/", "per"):
            parts.append("/")
        elif lower.startswith("^"):
            parts.append(lower)
        else:
            name = UNIT_NAMES.get(lower) or (lower[:-1] if lower.endswith("s") and len(lower) > 3 else lower)
            parts.append(name + power)
            power = ""
    if sum(part[0] not in "^/" for part in parts) > 4:
        return None
    return "".join(parts)


def conversion(unit: str, other: str) -> fmpq | None:
    """The factor that turns a value in `unit` into one in `other`; None where the two don't convert."""
    if unit == other:
        return fmpq(1)
    base, _, power = unit.partition("^")
    base_other, _, power_other = other.partition("^")
    scale, scale_other = _SCALES.get(base), _SCALES.get(base_other)
    if scale is None or scale_other is None or scale[0] != scale_other[0] or power != power_other:
        return None
    exponent = int(power) if power.isdigit() else 1
    return (scale[1] / scale_other[1]) ** exponent


_VAGUE = frozenset(["unit", "way", "time"])


def is_vague(unit: str, other: str) -> bool:
    """Whether `unit` names a scale without saying which (`units`), and so agrees with `other`.

    `square units` agree with `cm^2`, not with `cm`.
    """
    if unit in _VAGUE:
        return True
    base, _, power = unit.partition("^")
    return base in _VAGUE and other.partition("^")[2] == power
