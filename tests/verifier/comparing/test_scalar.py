"""When a decimal stands for a number that it does not equal."""

from __future__ import annotations

import pytest
from flint import arb, fmpq

from compass.verifier.comparing.scalar import answer_is_rounded, decimal_parts, gold_is_rounded, terminates


@pytest.mark.parametrize(
    ("literal", "digits", "last"),
    [
        ("2.33", 3, -2), ("0.033", 2, -3), ("-2.330", 4, -3), ("+12.", 2, 0), ("2.5e3", 2, 2), ("2.5E-3", 2, -4), (".5", 1, -1), ("0.0", 0, -1),
        ("100", 3, 0),
    ],
)  # fmt: skip
def test_significant_digits_and_the_place_of_the_last(literal: str, digits: int, last: int) -> None:
    assert decimal_parts(literal) == (digits, last)


def test_fractions_of_twos_and_fives_terminate() -> None:
    assert [bottom for bottom in range(1, 21) if terminates(fmpq(1, bottom))] == [1, 2, 4, 5, 8, 10, 16, 20]


@pytest.mark.parametrize(
    ("gold", "answer", "answer_literal", "rounded"),
    [
        ("2.33", fmpq(7, 3), None, True),
        ("2.33", fmpq(233, 100), None, False),  # a finite decimal is itself or nothing
        ("2.3", fmpq(7, 3), None, False),  # two significant digits
        ("0.0233", fmpq(7, 300), None, True),
        ("233.", fmpq(700, 3), None, False),
        ("2.33e2", fmpq(700, 3), None, False),  # whole
        ("2.333e2", fmpq(700, 3), None, True),
        ("2.33", fmpq(23333, 10000), "2.3333", True),
        ("2.33", fmpq(2333, 1000), "2.333", False),  # one digit more
        ("2.33", fmpq(2335, 1000), "2.3350", True),  # half a unit of the last place
        ("2.33", fmpq(23351, 10000), "2.3351", False),
        ("2.33", fmpq(2325, 1000), "2.3250", True),
        ("2.33", fmpq(23249, 10000), "2.3249", False),
        ("12.5", fmpq(12547, 1000), "12.547", False),  # halves and quarters are exact
        ("2.25", fmpq(22512, 10000), "2.2512", False),
        ("1.00", fmpq(9999, 10000), "0.9999", False),
        ("2.25", fmpq(9, 4) + fmpq(1, 700), None, True),
        ("3.14", arb.pi(), None, True),
        ("3.15", arb.pi(), None, False),
    ],
)
def test_a_gold_may_be_rounded(gold: str, answer: fmpq | arb, answer_literal: str | None, rounded: bool) -> None:
    mantissa, _, exponent = gold.partition("e")
    whole, _, decimals = mantissa.partition(".")
    value = fmpq(int(whole + decimals), 10 ** len(decimals)) * fmpq(10) ** int(exponent or 0)
    assert gold_is_rounded(value, gold, answer, answer_literal) is rounded


@pytest.mark.parametrize(
    ("gold", "answer", "rounded"),
    [
        (fmpq(7, 3), "2.3333333", True),  # eight significant digits
        (fmpq(7, 3), "2.333333", False),
        (fmpq(7, 3), "2.3333334", False),
        (fmpq(7, 300), "0.023333333", True),
        (fmpq(5, 2), "2.50000001", False),
        (arb.pi(), "3.1415927", True),
        (arb.pi(), "3.1415926", False),
        (fmpq(70000000, 3), "23333333.", False),
        (fmpq(700000001, 300000000), "2.00000000", False),  # a whole number is no rounding
    ],
)
def test_a_long_answer_may_be_rounded(gold: fmpq | arb, answer: str, rounded: bool) -> None:
    whole, _, decimals = answer.partition(".")
    assert answer_is_rounded(gold, fmpq(int(whole + decimals), 10 ** len(decimals)), answer) is rounded
