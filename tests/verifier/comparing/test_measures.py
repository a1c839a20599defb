"""Units, percent and degree signs, taken off a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from compass.verifier.comparing.measures import Measured, in_one_unit, peel, read_letters
from compass.verifier.tree import Node, number

Read = Callable[[str], Node]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("5", "5", None), (r"5\text{ cm}", "5", "cm"), (r"50\%", "50", "percent"), (r"90^\circ", "90", "degree"), (r"5\text{ cm}\%", "5", "cm percent"),
        (r"-(5\text{ cm})", "neg(5)", "cm"), ("-x", "neg(x)", None),
        (r"6\cdot10^{23}\text{ mol}", "mul([6, pow(10, 23)])", "mol"), (r"2\cdot 5\%", "mul([2, 5])", "percent"), (r"5\text{ cm}\cdot 2", "mul([5, 2])", "cm"),
        (r"5\text{ cm}\cdot 2\text{ s}", "mul([5, 2])", "cm s"), (r"5\text{ cm}\cdot(1+2\text{ s})", "mul([5, add([1, 2])])", "cm s"),
        (r"5\text{ cm}+1", "add([unit(5, cm), 1])", None), (r"1+5\text{ cm}", "add([1, 5])", "cm"), (r"1\text{ m}+5\text{ cm}", "add([mul([100, 1]), 5])", "cm"),
        (r"1\text{ s}+5\text{ cm}", "add([unit(1, s), unit(5, cm)])", None), (r"(2\text{ m})^2", "pow(2, 2)", "m^2"), (r"\frac{6\text{ m}}{2\text{ s}}", "mul([6, inv(2)])", "m/s"),
        (r"1+5\%", "add([1, percent(5)])", None), (r"\frac{6\text{ m}}{2\text{ m}}", "mul([6, inv(2)])", None), (r"5\%\cdot 2", "mul([percent(5), 2])", None), ("xy", "mul([x, y])", None),
    ],
)  # fmt: skip
def test_marks_are_taken_off(tree: Read, brief: Callable[[Any], str], text: str, value: str, unit: str | None) -> None:
    measured = peel(tree(text))
    assert (brief(measured.value), measured.unit) == (value, unit)


@pytest.mark.parametrize(
    ("one", "two", "values"),
    [
        (None, None, "5 6"), ("cm", None, "5 6"), (None, "cm", "5 6"), ("cm", "cm", "5 6"), ("unit", "cm", "5 6"), ("cm", "unit", "5 6"),
        ("cm", "m", "5 mul([100, 6])"), ("m", "cm", "5 mul([1/100, 6])"), ("cm", "s", None), ("celsius", "K", "5 add([mul([1, 6]), -5463/20])"), ("degree", "radian", "5 mul([6, mul([180, inv(<pi>)])])"),
        ("radian", "degree", "5 mul([6, mul([<pi>, 1/180])])"), ("ball", "red ball", "5 6"), ("percent", "degree", None), ("unit^2", "cm", None),
    ],
)  # fmt: skip
def test_two_values_in_the_unit_of_the_first(
    brief: Callable[[Any], str], one: str | None, two: str | None, values: str | None
) -> None:
    both = in_one_unit(Measured(number(5), one), Measured(number(6), two))
    assert (None if both is None else " ".join(map(brief, both))) == values


@pytest.mark.parametrize(
    ("text", "beside", "value"),
    [("5m", "cm", "5"), ("5m", "s", None), ("5m", "m^2", None), ("2\\cdot3g", "kg", "mul([2, 3])"), ("xm", "cm", None), ("m", "cm", None), ("5q", "cm", None),
     ("5h", "min", "5"), ("5l", "mL", "5"), ("5m/s", "km/h", "5"), ("5\\frac{m}{s^2}", "ft/s^2", "5"), ("5+m", "cm", None)],
)  # fmt: skip
def test_a_letter_is_a_unit_beside_one_of_its_dimension(
    tree: Read, brief: Callable[[Any], str], text: str, beside: str, value: str | None
) -> None:
    measured = read_letters(tree(text), beside)
    assert (None if measured is None else brief(measured.value)) == value
