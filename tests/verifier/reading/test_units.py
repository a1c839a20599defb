"""Units of measurement."""

from __future__ import annotations

import pytest

from compass.verifier.reading.units import named_unit, spelled, split, unit_of

UNITS = [
    ("cm", "cm"),
    ("Centimetres", "cm"),
    ("square feet", "ft^2"),
    ("sq ft", "ft^2"),
    ("cubic cm", "cm^3"),
    ("cu in", "in^3"),
    ("miles per hour", "mi/h"),
    ("m / s", "m/s"),
    ("m ^2", "m^2"),
    ("cookies", "cookie"),
    ("bus", "bus"),
    ("gas", "gas"),
    ("times", "time"),
    ("times more", None),
    ("not cm", None),
    ("about", None),
    ("USD", "dollar"),
    ("deg", "degree"),
    ("ft.", "ft"),
    ("b c d e", "b c d e"),
    ("b c d e f", None),
    ("a a a a a a a a a a a a a", None),
    ("m ^2 b c", "m^2 b c"),
    ("", None),
    ("solution", None),
    ("units", "unit"),
    ("square units", "unit^2"),
    ("pounds", "pound"),
    ("quid", "gbp"),
    ("meters per second squared", "m/s^2"),
    ("m s ^-2", "m/s^2"),
    ("kg m / s ^2", "kg m/s^2"),
    ("J / ( mol K )", "J/mol/K"),
    ("J / mol K", "J K/mol"),
    ("per hour", "/h"),
    ("inches squared", "in^2"),
    ("in", "in"),
    ("sq in", "in^2"),
    ("in ^2", "in^2"),
    ("people in line", "person line"),
    ("different ways", "way"),
    ("red balls", "red ball"),
    ("negative", None),
    ("mod", None),
    ("mph", "mi/h"),
    ("^2", None),
]


@pytest.mark.parametrize(("words", "unit"), UNITS)
def test_words_after_a_number_name_a_unit(words: str, unit: str | None) -> None:
    assert unit_of(words.split()) == unit


NAMES = [
    ("kJ", "kJ"), ("kilojoules", "kJ"), ("KM", "km"), ("Kg", "kg"), ("ml", "mL"), ("ML", "ML"), ("millilitres", "mL"), ("us", "μs"), ("μm", "μm"), ("HZ", "Hz"),
    ("hertz", "Hz"), ("ohms", "ohm"), ("min", "min"), ("ms", "ms"), ("MW", "MW"), ("mW", "mW"), ("cookies", None), ("x", None), ("", None), ("Rs", "rupee"),
]  # fmt: skip


@pytest.mark.parametrize(("word", "unit"), NAMES)
def test_names_and_symbols_with_their_prefixes(word: str, unit: str | None) -> None:
    assert named_unit(word) == unit


def test_the_canonical_form_is_read_back() -> None:
    for unit in ("m", "kg m/s^2", "/s", "m^2/s/kg^3"):
        assert spelled(split(unit)) == unit
    assert spelled([("m", 1), ("s", -1), ("m", 1), ("s", 1)]) == "m^2"
