"""What converts, and by which factor."""

from __future__ import annotations

import pytest
from flint import fmpq

from compass.verifier.reading.units import conversion, is_vague, temperature

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
    ("L", "mL", "1000"),
    ("dollar", "cent", "100"),
    ("year", "month", "12"),
    ("m^2", "cm^2", "10000"),
    ("ft^3", "in^3", "1728"),
    ("m", "cm^2", None),
    ("m", "s", None),
    ("cookie", "cookie", "1"),
    ("cookie", "cm", None),
    ("m/s", "km/h", "18/5"),
    ("month", "day", None),
    ("/m", "/cm", "1/100"),
    ("mm", "km", "1/1000000"),
    ("N", "kg m/s^2", "1"),
    ("J", "N m", "1"),
    ("kWh", "MJ", "18/5"),
    ("Wh", "h", None),
    ("kPa", "N/m^2", "1000"),
    ("L", "cm^3", "1000"),
    ("Hz", "/s", "1"),
    ("g/cm^3", "kg/m^3", "1000"),
    ("kohm", "ohm", "1000"),
    ("μm", "nm", "1000"),
    ("J/mol", "J", None),
    ("pound", "gbp", "1"),
    ("gbp", "dollar", None),
    ("dollar/h", "dollar/day", "24"),
    ("cookie", "cookie^2", None),
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


def test_a_noun_agrees_with_itself_in_other_company() -> None:
    assert is_vague("ball", "red ball") is True
    assert (
        is_vague("red ball", "ball")
        is is_vague("red ball", "blue ball")
        is is_vague("red", "red ball")
        is is_vague("m", "s m")
        is False
    )


def test_temperatures_convert_with_their_zeros() -> None:
    assert temperature("celsius", "fahrenheit") == (fmpq(9, 5), fmpq(32))
    assert temperature("celsius", "K") == (fmpq(1), fmpq(27315, 100))
    assert temperature("celsius", "m") is temperature("m", "K") is None
