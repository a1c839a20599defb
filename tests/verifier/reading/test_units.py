"""Units of measurement."""

from __future__ import annotations

import pytest
from flint import fmpq

from compass.verifier.reading.units import conversion, is_vague, unit_of

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
    ("a a a a", "aaaa"),
    ("a a a a a", None),
    ("a a a a a a a a a a a a a", None),
    ("m ^2 a b c", "m^2abc"),
    ("", None),
    ("solution", None),
    ("units", "unit"),
    ("square units", "unit^2"),
    ("pounds", "lb"),
    ("quid", "pound"),
]


@pytest.mark.parametrize(("words", "unit"), UNITS)
def test_words_after_a_number_name_a_unit(words: str, unit: str | None) -> None:
    assert unit_of(words.split()) == unit


FACTORS = [
    ("cm", "cm", "1"),
    ("m", "cm", "100"),
    ("cm", "m", "1/100"),
    ("km", "m", "1000"),
    ("in", "cm", "127/50"),
    ("ft", "in", "12"),
    ("yd", "ft", "3"),
    ("mi", "ft", "5280"),
    ("h", "min", "60"),
    ("min", "s", "60"),
    ("day", "h", "24"),
    ("week", "day", "7"),
    ("kg", "g", "1000"),
    ("g", "mg", "1000"),
    ("l", "ml", "1000"),
    ("dollar", "cent", "100"),
    ("year", "month", "12"),
    ("m^2", "cm^2", "10000"),
    ("ft^3", "in^3", "1728"),
    ("m", "cm^2", None),
    ("m", "s", None),
    ("cookie", "cookie", "1"),
    ("cookie", "cm", None),
    ("m/s", "km/h", None),
    ("month", "day", None),
    ("m^-1", "cm^-1", "100"),
    ("mm", "km", "1/1000000"),
]


@pytest.mark.parametrize(("unit", "other", "factor"), FACTORS)
def test_units_of_one_dimension_convert(unit: str, other: str, factor: str | None) -> None:
    found = conversion(unit, other)
    assert (None if found is None else str(found)) == factor
    back = conversion(other, unit)
    assert (found is None) is (back is None)
    assert found is None or found * back == fmpq(1)


def test_a_vague_unit_agrees_with_any_of_its_power() -> None:
    assert is_vague("unit", "cm") is is_vague("unit^2", "cm^2") is is_vague("way", "cm^2") is True
    assert is_vague("unit^2", "cm") is is_vague("cm", "unit") is is_vague("cm^2", "cm^2") is False
