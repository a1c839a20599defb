"""Units, percent and degree signs, taken off a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from compass.verifier.comparing.measures import Measured, in_one_unit, peel, read_letter
from compass.verifier.tree import Node, number

Read = Callable[[str], Node]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("5", "5", None), (r"5\text{ cm}", "5", "cm"), (r"50\%", "50", "percent"), (r"90^\circ", "90", "degree"), (r"5\text{ cm}\%", "5", "cm percent"),
        (r"-(5\text{ cm})", "neg(5)", "cm"), ("-x", "neg(x)", None),
        (r"6\cdot10^{23}\text{ mol}", "mul([6, pow(10, 23)])", "mol"), (r"2\cdot 5\%", "mul([2, 5])", "percent"), (r"5\text{ cm}\cdot 2", "mul([5, 2])", "cm"),
        (r"5\text{ cm}\cdot 2\text{ s}", "mul([unit(5, cm), 2])", "s"), (r"5\text{ cm}\cdot(1+2\text{ s})", "mul([unit(5, cm), add([1, unit(2, s)])])", None),
        (r"5\text{ cm}+1", "add([unit(5, cm), 1])", None), ("xy", "mul([x, y])", None),
    ],
)  # fmt: skip
def test_marks_are_taken_off(tree: Read, brief: Callable[[Any], str], text: str, value: str, unit: str | None) -> None:
    measured = peel(tree(text))
    assert (brief(measured.value), measured.unit) == (value, unit)


@pytest.mark.parametrize(
    ("one", "two", "values"),
    [
        (None, None, "5 6"), ("cm", None, "5 6"), (None, "cm", "5 6"), ("cm", "cm", "5 6"), ("unit", "cm", "5 6"), ("cm", "unit", "5 6"),
        ("cm", "m", "5 mul([100, 6])"), ("m", "cm", "5 mul([1/100, 6])"), ("cm", "s", None), ("percent", "degree", None), ("unit^2", "cm", None),
    ],
)  # fmt: skip
def test_two_values_in_the_unit_of_the_first(
    brief: Callable[[Any], str], one: str | None, two: str | None, values: str | None
) -> None:
    both = in_one_unit(Measured(number(5), one), Measured(number(6), two))
    assert (None if both is None else " ".join(map(brief, both))) == values


@pytest.mark.parametrize(
    ("text", "beside", "value"),
    [("5 m", "cm", "5"), ("5 m", "s", None), ("5 m", "m^2", None), ("2\\cdot3 g", "kg", "mul([2, 3])"), ("x m", "cm", None), ("m", "cm", None), ("5 q", "cm", None),
     ("5 h", "min", "5"), ("5 l", "ml", "5"), ("5+m", "cm", None)],
)  # fmt: skip
def test_a_letter_is_a_unit_beside_one_of_its_dimension(
    tree: Read, brief: Callable[[Any], str], text: str, beside: str, value: str | None
) -> None:
    measured = read_letter(tree(text), beside)
    assert (None if measured is None else brief(measured.value)) == value
    assert measured is None or measured.unit == text[-1]
