"""Numbers as they are written."""

from __future__ import annotations

import pytest
from flint import fmpq

from compass.verifier.reading.numbers import read_literal, read_plain_number
from compass.verifier.tree import Number, OverBudget

NUMBERS = [
    ("5", ("5", "", None)),
    ("-5", ("-5", "", None)),
    ("+5", ("5", "", None)),
    ("007", ("7", "", None)),
    ("1.50", ("3/2", "", "1.50")),
    ("-1.5", ("-3/2", "", "-1.5")),
    ("5.", ("5", "", None)),
    (".5", ("1/2", "", ".5")),
    (".", None),
    ("", None),
    ("1,000", ("1000", "", None)),
    ("12,345,678", ("12345678", "", None)),
    ("1,00", None),
    ("1000,000", None),
    ("1 000", ("1000", "", None)),
    ("1'000", ("1000", "", None)),
    ("1.000", ("1", "", "1.000")),
    ("1.234.567", ("1234567", "", None)),
    ("1,000.5", ("2001/2", "", "1000.5")),
    ("1e5", ("100000", "", "1.e5")),
    ("1e-5", ("1/100000", "", "1.e-5")),
    ("1.5e3", ("1500", "", "1.5e3")),
    ("1E5", None),
    (r"1\times10^5", ("100000", "", "1.e5")),
    (r"1.5\times10^{-3}", ("3/2000", "", "1.5e-3")),
    (r"2\cdot 10^3", ("2000", "", "2.e3")),
    ("50%", ("50", "%", None)),
    (r"50\%", ("50", "%", None)),
    (r"90^\circ", ("90", "°", None)),
    (r"90^{\circ}", ("90", "°", None)),
    (r"1.5\%", ("3/2", "%", "1.5")),
    ("1/2", ("1/2", "", None)),
    ("-1/2", ("-1/2", "", None)),
    ("4/2", ("2", "", None)),
    ("1/0", None),
    (r"\frac12", ("1/2", "", None)),
    (r"\frac{1}{2}", ("1/2", "", None)),
    (r"-\frac{1}{2}", ("-1/2", "", None)),
    (r"\frac{-1}{2}", ("-1/2", "", None)),
    (r"\frac{1}{-2}", ("-1/2", "", None)),
    (r"\frac1{23}", ("1/23", "", None)),
    (r"\frac{1}2", ("1/2", "", None)),
    (r"\frac{1}{0}", None),
    (r"3\frac12", ("7/2", "", None)),
    (r"3\frac{3}{2}", None),
    (r"3\frac{2}{2}", None),
    ("3 1/4", ("13/4", "", None)),
    ("3 5/4", None),
    (r"-3\frac12", ("-7/2", "", None)),
    (r"3\frac{1}{-2}", None),
    (r"3\frac{0}{2}", None),
    (r"1^\circ30'", ("3/2", "°", None)),
    (r"1^\circ30'36''", ("151/100", "°", None)),
    (r"1^{\circ}30^{\prime}", ("3/2", "°", None)),
    (r"10^\circ 0'30.5''", ("72061/7200", "°", None)),
    ("x", None),
    ("5x", None),
    ("1e", None),
    ("--5", None),
    (r"\frac123", None),
    ("1" * 300, (str("1" * 300), "", None)),
    ("1" * 301, None),
]


@pytest.mark.parametrize(("text", "number"), NUMBERS)
def test_plain_numbers(text: str, number: tuple[str, str, str | None] | None) -> None:
    plain = read_plain_number(text)
    assert (None if plain is None else (str(plain.value), plain.mark, plain.literal)) == number


@pytest.mark.parametrize(
    ("text", "value", "written"),
    [
        ("12", fmpq(12), None),
        ("1.50", fmpq(3, 2), "1.50"),
        (".5", fmpq(1, 2), ".5"),
        ("2e3", fmpq(2000), "2e3"),
        ("2.5E-1", fmpq(1, 4), "2.5E-1"),
        ("1e0", fmpq(1), "1e0"),
    ],
)
def test_a_token_is_a_number_with_the_text_of_a_decimal(text: str, value: fmpq, written: str | None) -> None:
    assert read_literal(text) == Number(value, written)


def test_digits_and_exponents_are_bounded() -> None:
    assert read_literal("1" * 1000).value == fmpq(int("1" * 1000))
    assert read_literal("1." + "1" * 998).literal == "1." + "1" * 998
    assert read_literal("1e400").value == fmpq(10) ** 400
    assert read_literal("1e-400").value == 1 / fmpq(10) ** 400
    for text in ("1" * 1001, "1." + "1" * 999, "1e401", "1e-401"):
        with pytest.raises(OverBudget, match=f"a number of {len(text)} digits"):
            read_literal(text)
