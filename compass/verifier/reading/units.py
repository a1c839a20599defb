"""Units: their names and spellings, what they are made of, and the factors between them."""

# ruff: noqa: SIM905 - a word list reads better as words
from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from flint import fmpq

_PREFIXED = {
    "m": "meter metre", "g": "gram gramme", "s": "second", "L": "liter litre", "N": "newton", "J": "joule", "W": "watt", "V": "volt", "A": "ampere amp",
    "Hz": "hertz", "Pa": "pascal", "mol": "mole", "ohm": "ohm", "C": "coulomb", "F": "farad", "T": "tesla", "H": "henry", "Wb": "weber", "cal": "calorie",
    "eV": "electronvolt", "Wh": "", "bit": "", "byte": "", "lm": "lumen", "lx": "lux", "cd": "candela", "Bq": "becquerel", "Sv": "sievert", "bar": "",
    "B": "", "ton": "", "pc": "parsec", "tonne": "",
}  # fmt: skip
"""Symbols that take the prefixes of the SI, and the words for them."""
_PREFIXES = {"k": "kilo", "M": "mega", "G": "giga", "T": "tera", "m": "milli", "μ": "micro", "u": "micro", "µ": "micro", "n": "nano", "p": "pico",
             "c": "centi", "d": "deci", "h": "hecto", "f": "femto"}  # fmt: skip
_SYMBOL_OF_PREFIX = {word: sign for sign, word in reversed(_PREFIXES.items())}
_SPELLINGS = {
    "in": "inch inches", "ft": "foot feet", "yd": "yard yards yds", "mi": "mile miles", "nmi": "", "ly": "lightyear lightyears", "AU": "",
    "min": "mins minute minutes", "h": "hr hrs hour hours", "s": "sec secs", "day": "days", "week": "weeks wk wks", "month": "months mo",
    "year": "years yr yrs", "decade": "decades", "century": "centuries", "lb": "lbs", "pound": "pounds", "oz": "ounce ounces",
    "t": "tonnes", "gal": "gallon gallons", "qt": "quart quarts", "pt": "pint pints", "cup": "cups", "acre": "acres", "ha": "hectare hectares",
    "dollar": "dollars usd bucks buck", "cent": "cents", "euro": "euros eur", "gbp": "quid sterling", "pence": "penny pennies", "yen": "jpy",
    "rupee": "rupees rs inr", "paisa": "paise", "yuan": "cny rmb", "jiao": "", "won": "krw", "ruble": "rubles roubles rouble rub", "franc": "francs chf",
    "degree": "degrees deg", "radian": "rad radians rads", "arcminute": "arcminutes", "arcsecond": "arcseconds", "rev": "revolution revolutions rotations",
    "percent": "pct percentage", "permille": "promille", "ppm": "", "ppb": "", "celsius": "centigrade", "fahrenheit": "", "K": "kelvin kelvins", "unit": "units", "decibel": "decibels", "atm": "atmosphere atmospheres",
    "mL": "ml", "cL": "cl", "dL": "dl", "L": "l", "kL": "kl", "kHz": "", "kg": "kgs", "mmHg": "", "M_sun": "", "R_sun": "", "L_sun": "",
    "person": "people persons", "child": "children", "man": "men", "woman": "women",
}  # fmt: skip
_COMPOUNDS = {"dB": "decibel", "mph": "mi/h", "kph": "km/h", "kmph": "km/h", "kmh": "km/h", "fps": "ft/s", "rpm": "rev/min", "mpg": "mi/gal", "cc": "cm^3", "sqft": "ft^2", "sqm": "m^2",
              "bps": "bit/s", "psi": "psi"}  # fmt: skip
_SYMBOLS = {name: name for name in (*_PREFIXED, *_SPELLINGS, "Ω", "K")} | {"Ω": "ohm", "l": "L", "t": "t", "u": "u"}
_WORDS = {
    word: name
    for name, words in _SPELLINGS.items()
    for word in (*([name.lower()] if len(name) > 1 else []), *words.split())
} | {form: symbol for symbol, words in _PREFIXED.items() for word in words.split() for form in (word, f"{word}s")}
for _same in ("hertz", "lux", "henry"):
    _WORDS.pop(f"{_same}s", None)
_LOWER = {symbol.lower(): symbol for symbol in "cm mm km kg mg mL Hz kHz MHz kW kJ kPa mol dm kWh".split()}
"""Symbols that are often written in other cases: `KM`, `Kg`, `HZ`."""

LETTERS = frozenset("mgshlLJNWVACKFTHt")
"""Units of one letter, which in plain text reads as a variable: `5 m`."""
UPRIGHT_LETTERS = frozenset("JNWVAKCFTHL")
"""Capitals that are units where they are set upright after a number: `12\\text{ N}`."""

UNIT_WORDS = frozenset(_WORDS) | frozenset(_COMPOUNDS) | frozenset(_LOWER) | frozenset(
    "square cubic sq cu per units ways people students apples books cookies balls marbles times points pieces books boys girls "
    "men women children games pages tickets cards coins questions problems integers numbers digits sides edges "
    "vertices triangles squares rectangles am pm a.m p.m mph hours tons tonnes gallons pints quarts cups dozen eggs".split()
)  # fmt: skip
PLAIN_SYMBOLS = frozenset(
    "kJ MJ kPa MPa kW MW GW kV mV kHz MHz GHz mA kN kWh mL dL kL eV keV MeV GeV μm km cm mm kg mg Hz Pa".split()
)
"""Symbols that in plain text are no product of variables."""
CURRENCY_WORDS = frozenset("USD EUR GBP JPY INR CNY RMB Rs rs Rupees rupees CHF KRW".split())
"""Words that may stand before an amount."""

_RELATING = frozenset(
    "not no none than least most approximately about around between from to minus plus but except if when where then "
    "wrong either neither is are equals over under above below maybe possibly undefined error "
    "times mod modulo root choose divided multiplied raised base power trillionth infinity half halves pi point eighth bn "
    "divides doubled tripled halved twice thrice sine cosine tangent log reciprocal reversed "
    "rounded mistaken incorrectly unless versus vs isn never without or and incorrect false unknown".split()
)
"""Words that change what an answer says, wherever they come: a number before one of them is not a number with a unit."""
_MODIFYING = frozenset(
    "more less correct answer equal the solution negative positive inverse cube greater smaller larger complement conjugate opposite "
    "remainder exponent only sqrt imaginary repeating recurring".split()
)
"""Words that change a number as the last ones, and only describe the noun that follows: `5 negative`, `5 negative roots`."""
_FILLERS = frozenset(
    "different distinct possible total such altogether remaining each of in the a an these all long wide tall high deep thick old away apart".split()
)
"""Words that say nothing about what is counted, after another word or before the last."""
MAX_WORDS, MAX_FACTORS = 12, 4
_SHARES = {
    "/cent": "percent", "/hundred": "percent", "part/hundred": "percent", "/mille": "permille", "/thousand": "permille", "part/thousand": "permille",
    "/million": "ppm", "part/million": "ppm", "/billion": "ppb", "part/billion": "ppb",
}  # fmt: skip
"""Shares that words with "per" spell: `5 per cent`, `5 parts per million`."""

POWER_WORDS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_POWERED = {"squared": 2, "cubed": 3}


@lru_cache(maxsize=2048)
def find_unit(word: str) -> str | None:
    """The canonical unit that one word or symbol names; None for a word that names none."""
    found = _SYMBOLS.get(word) or _COMPOUNDS.get(word)
    if found is not None:
        return found
    if word[:1] in _PREFIXES and word[1:] in _PREFIXED:
        prefix = "μ" if word[0] in "uµ" else word[0]
        return f"{prefix}{word[1:]}"
    lower = word.lower()
    found = _WORDS.get(lower) or _COMPOUNDS.get(lower)
    if found is not None:
        return found
    if lower in _LOWER:
        return _LOWER[lower]
    for prefix, sign in _SYMBOL_OF_PREFIX.items():
        if lower.startswith(prefix) and (symbol := _WORDS.get(lower[len(prefix) :])) in _PREFIXED:
            return f"{sign}{symbol}"
    return None


def read_unit(words: Iterable[str]) -> str | None:
    """The unit that the words and signs after a number name, in its canonical form; None where they say something else.

    `["square", "feet"]` -> `ft^2`, `["m", "s", "^-1"]` -> `m/s`; an unknown noun stands for itself: `["cookies"]` -> `cookie`.
    """
    words = _join_metric(_head_last([part for word in words for part in _parts(word.strip(".") or word)]))
    if not 0 < len(words) <= MAX_WORDS:
        return None
    factors: list[tuple[str, int]] = []
    power, sign, open_groups = 1, 1, 0
    for at, word in enumerate(words):
        lower = word.lower()
        if lower in _RELATING and not (lower == "times" and len(words) == 1):
            return None
        if lower in _MODIFYING and at + 1 == len(words):
            return None
        if lower in POWER_WORDS and at + 1 < len(words):
            power = POWER_WORDS[lower]
        elif lower in ("/", "per"):
            sign = -1
        elif word in "()":
            open_groups += 1 if word == "(" else -1
        elif word.startswith("^") or lower in _POWERED:
            if not factors:
                return None
            raised = _POWERED.get(lower) or int(word[1:])
            name, exponent = factors[-1]
            factors[-1] = (name, exponent * raised)
        elif word in _FILLERS and not _is_inch(words, at):
            continue
        else:
            factors += [(name, sign * power * exponent) for name, exponent in _factors_of(word)]
            power = 1
            if not open_groups:
                sign = 1
    if factors[:1] == [("degree", 1)] and factors[1:] and factors[1][0] in ("celsius", "fahrenheit"):
        del factors[0]
    if not factors or len(factors) > MAX_FACTORS:
        return None
    unit = spell_unit(factors)
    return _SHARES.get(unit, unit)


def _head_last(words: list[str]) -> list[str]:
    """`pairs of shoes` counts pairs: what comes before "of" goes to the end, where the noun that is counted is in `red shoes`."""
    at = words.index("of") if "of" in words else 0
    return [*words[at + 1 :], *words[:at]] if 0 < at < len(words) - 1 else words


def _join_metric(words: list[str]) -> list[str]:
    """A metric ton is a tonne; a ton alone may be another."""
    at = [word.lower() for word in words].index("metric") if "metric" in words else len(words)
    return [*words[:at], "tonne", *words[at + 2 :]] if [*words, ""][at + 1 : at + 2] in (["ton"], ["tons"]) else words


def _parts(word: str) -> list[str]:
    """The words of `sq.in`, where spaces were lost."""
    parts = word.split(".")
    return parts if len(parts) > 1 and all(part in POWER_WORDS or find_unit(part) for part in parts) else [word]


def _is_inch(words: list[str], at: int) -> bool:
    """Whether "in" among words is a length: alone, or next to a power or a slash."""
    before, after = words[at - 1].lower() if at else "", words[at + 1].lower() if at + 1 < len(words) else ""
    if words[at].lower() != "in":
        return False
    return (not before or before in POWER_WORDS or before in ("/", "per")) and (
        not after or after[0] in "^/" or after in (*_POWERED, "per")
    )


def _factors_of(word: str) -> list[tuple[str, int]]:
    name = find_unit(word)
    if name is None:
        lower = word.lower()
        name = lower[:-1] if lower.endswith("s") and len(lower) > 3 else lower
    return split_unit(name)


@lru_cache(maxsize=2048)
def split_unit(unit: str) -> list[tuple[str, int]]:
    """The factors of a canonical unit with their powers; not to be changed by the caller."""
    factors = []
    for sign, part in re.findall(r"(/|^| )([^ /]+)", unit):
        name, _, power = part.partition("^")
        factors.append((name, (-1 if sign == "/" else 1) * int(power or 1)))
    return factors


def spell_unit(factors: Iterable[tuple[str, int]]) -> str:
    """The canonical form of factors; those of the same name are joined."""
    powers: dict[str, int] = {}
    for name, power in factors:
        powers[name] = powers.get(name, 0) + power
    above = " ".join(name if power == 1 else f"{name}^{power}" for name, power in powers.items() if power > 0)
    below = "".join(f"/{name}" if power == -1 else f"/{name}^{-power}" for name, power in powers.items() if power < 0)
    return above + below


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
    "permille": ("1/10", "percent"), "ppm": ("1/10000", "percent"), "ppb": ("1/10000000", "percent"),
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
    for name, power in split_unit(unit):
        own, dimensions = _base(name)
        size *= own**power
        for dimension, exponent in dimensions:
            powers[dimension] = powers.get(dimension, 0) + power * exponent
    return size, frozenset((name, power) for name, power in powers.items() if power)


def _is_known(name: str) -> bool:
    """Whether a name is a unit with a size, with a prefix or without, and no noun."""
    return name in _BASE or (name[:1] in _PREFIX_POWERS and name[1:] in _BASE)


def _base(name: str) -> tuple[fmpq, list[tuple[str, int]]]:
    size, known = fmpq(1), _BASE.get(name)
    if known is None and name[:1] in _PREFIX_POWERS and name[1:] in _BASE:
        size, known = fmpq(10) ** _PREFIX_POWERS[name[0]], _BASE[name[1:]]
    if known is None:
        return size, [(name, 1)]
    top, _, bottom = known[0].partition("/")
    return size * fmpq(int(top), int(bottom or 1)), split_unit(known[1])


def conversion_factor(unit: str, other: str) -> fmpq | None:
    """The factor that turns a value in `unit` into one in `other`; None where the two measure different things."""
    if unit == other or {unit, other} == {"pound", "gbp"}:  # "pounds" are a mass or money
        return fmpq(1)
    (size, dimensions), (size_other, dimensions_other) = measure(unit), measure(other)
    return size / size_other if dimensions == dimensions_other else None


def convert_temperature(unit: str, other: str) -> tuple[fmpq, fmpq] | None:
    """Factor and offset that turn a temperature in `unit` into one in `other`; None where one of them is no scale of temperature."""
    if unit not in _TEMPERATURES or other not in _TEMPERATURES:
        return None
    (size, zero), (size_other, zero_other) = _TEMPERATURES[unit], _TEMPERATURES[other]
    return size / size_other, (zero - zero_other) / size_other


def share_of(unit: str) -> fmpq | None:
    """What one of a unit is of a whole: 1/100 for percent, 1/1000 for permille; None for a unit of anything else."""
    size, dimensions = measure(unit)
    return size / 100 if dimensions == _SHARE else None


_SHARE = measure("percent")[1]
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
    own, others = set(split_unit(unit)), set(split_unit(other))
    return (
        set() < own < others  # a unit to the power 0 names nothing
        and all(name.isalpha() and not _is_known(name) for name, _ in others - own)
        and split_unit(unit)[-1] == split_unit(other)[-1]
    )
