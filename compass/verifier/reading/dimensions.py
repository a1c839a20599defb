"""What units measure: the size and the dimensions of each, and the factors between those that measure the same."""

from __future__ import annotations

from functools import lru_cache

from flint import fmpq

from compass.verifier.reading.units import split

_PREFIX_POWERS = {
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "m": -3,
    "μ": -6,
    "n": -9,
    "p": -12,
    "c": -2,
    "d": -1,
    "h": 2,
    "f": -15,
}
_BASE = {
    "m": ("1", "m"), "g": ("1/1000", "kg"), "s": ("1", "s"), "A": ("1", "A"), "K": ("1", "K"), "mol": ("1", "mol"), "cd": ("1", "cd"), "L": ("1/1000", "m^3"),
    "N": ("1", "kg m/s^2"), "J": ("1", "kg m^2/s^2"), "W": ("1", "kg m^2/s^3"), "Wh": ("3600", "kg m^2/s^2"), "V": ("1", "kg m^2/s^3/A"),
    "Hz": ("1", "/s"), "Pa": ("1", "kg/m/s^2"), "ohm": ("1", "kg m^2/s^3/A^2"), "C": ("1", "A s"), "F": ("1", "A^2 s^4/kg/m^2"), "T": ("1", "kg/s^2/A"),
    "H": ("1", "kg m^2/s^2/A^2"), "Wb": ("1", "kg m^2/s^2/A"), "eV": ("1602176634/10000000000000000000000000000", "kg m^2/s^2"),
    "cal": ("4184/1000", "kg m^2/s^2"), "bar": ("100000", "kg/m/s^2"), "atm": ("101325", "kg/m/s^2"), "Bq": ("1", "/s"), "lm": ("1", "cd"), "lx": ("1", "cd/m^2"),
    "in": ("254/10000", "m"), "ft": ("3048/10000", "m"), "yd": ("9144/10000", "m"), "mi": ("1609344/1000", "m"), "nmi": ("1852", "m"),
    "min": ("60", "s"), "h": ("3600", "s"), "day": ("86400", "s"), "week": ("604800", "s"),
    "month": ("1", "month"), "year": ("12", "month"), "decade": ("120", "month"), "century": ("1200", "month"),
    "lb": ("45359237/100000000", "kg"), "pound": ("45359237/100000000", "kg"), "oz": ("45359237/1600000000", "kg"), "t": ("1000", "kg"), "tonne": ("1000", "kg"),
    "gal": ("3785411784/1000000000000", "m^3"), "qt": ("946352946/1000000000000", "m^3"), "pt": ("473176473/1000000000000", "m^3"),
    "acre": ("40468564224/10000000", "m^2"), "ha": ("10000", "m^2"), "dollar": ("1", "dollar"), "cent": ("1/100", "dollar"), "pence": ("1/100", "gbp"),
    "paisa": ("1/100", "rupee"), "jiao": ("1/10", "yuan"), "arcminute": ("1/60", "degree"), "arcsecond": ("1/3600", "degree"), "byte": ("8", "bit"), "B": ("8", "bit"),
}  # fmt: skip
"""Size and dimensions of each unit; one that is missing is a dimension of its own."""
_TEMPERATURES = {
    "celsius": (fmpq(1), fmpq(27315, 100)),
    "K": (fmpq(1), fmpq(0)),
    "fahrenheit": (fmpq(5, 9), fmpq(45967, 180)),
}
"""Size of a degree in kelvin, and the zero of the scale in kelvin."""

Dimensions = frozenset[tuple[str, int]]


@lru_cache(maxsize=1024)
def measure(unit: str) -> tuple[fmpq, Dimensions]:
    """The size of a canonical unit and its dimensions with their powers."""
    size, powers = fmpq(1), {}
    for name, power in split(unit):
        own, dimensions = _base(name)
        size *= own**power
        for dimension, exponent in dimensions:
            powers[dimension] = powers.get(dimension, 0) + power * exponent
    return size, frozenset((name, power) for name, power in powers.items() if power)


def _base(name: str) -> tuple[fmpq, list[tuple[str, int]]]:
    size, known = fmpq(1), _BASE.get(name)
    if known is None and name[:1] in _PREFIX_POWERS and name[1:] in _BASE:
        size, known = fmpq(10) ** _PREFIX_POWERS[name[0]], _BASE[name[1:]]
    if known is None:
        return size, [(name, 1)]
    top, _, bottom = known[0].partition("/")
    return size * fmpq(int(top), int(bottom or 1)), split(known[1])


def conversion(unit: str, other: str) -> fmpq | None:
    """The factor that turns a value in `unit` into one in `other`; None where the two measure different things."""
    if unit == other or {unit, other} == {"pound", "gbp"}:  # "pounds" are a mass or money
        return fmpq(1)
    (size, dimensions), (size_other, dimensions_other) = measure(unit), measure(other)
    return size / size_other if dimensions == dimensions_other else None


def temperature(unit: str, other: str) -> tuple[fmpq, fmpq] | None:
    """Factor and offset that turn a temperature in `unit` into one in `other`; None where one of them is no scale of temperature."""
    if unit not in _TEMPERATURES or other not in _TEMPERATURES:
        return None
    (size, zero), (size_other, zero_other) = _TEMPERATURES[unit], _TEMPERATURES[other]
    return size / size_other, (zero - zero_other) / size_other


_VAGUE = frozenset(["unit", "way", "time"])


def is_vague(unit: str, other: str) -> bool:
    """Whether `unit` names a scale without saying which (`units`), and so agrees with `other`.

    `square units` agree with `cm^2`, not with `cm`; and a noun agrees with itself in other company: `balls` with `red balls`.
    """
    if unit in _VAGUE:
        return True
    base, _, power = unit.partition("^")
    if base in _VAGUE:
        return other.partition("^")[2] == power
    own, others = set(split(unit)), set(split(other))
    return (
        set() < own < others  # a unit to the power 0 names nothing
        and all(name.isalpha() and name not in _BASE for name, _ in others - own)
        and split(unit)[-1] == split(other)[-1]
    )
