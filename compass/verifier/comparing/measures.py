"""Units, percent and degree signs, taken off a value, and whether two of them measure the same thing."""

from __future__ import annotations

from typing import NamedTuple

from compass.verifier.contents import contains, symbols
from compass.verifier.reading.units import LETTERS, conversion, is_vague
from compass.verifier.tree import Degrees, Negative, Node, Percent, Product, Quantity, Symbol, number

DEGREE, PERCENT = Degrees.kind, Percent.kind
MARKS = (Quantity, Percent, Degrees)


class Measured(NamedTuple):
    """A value, and the unit, `percent` or `degree` that stood after it."""

    value: Node
    unit: str | None


def peel(node: Node) -> Measured:
    """A value and the marks after it; a product such as `6.02 \\times 10^{23} mol` carries its unit on a part."""
    unit: str | None = None
    while isinstance(node, MARKS):
        mark = node.unit if isinstance(node, Quantity) else node.kind
        unit = mark if unit is None or mark == unit else f"{mark} {unit}"
        node = node.value
    if unit is not None:
        return Measured(node, unit)
    match node:
        case Negative(operand):
            inner = peel(operand)
            if inner.unit is not None:
                return Measured(Negative(inner.value), inner.unit)
        case Product((*factors, Quantity() | Percent() | Degrees() as last)) if factors:
            inner = peel(last)
            return Measured(Product((*factors, inner.value)), inner.unit)
        case Product((Quantity(value, unit), *factors)) if not any(contains(part, Quantity) for part in factors):
            return Measured(Product((value, *factors)), unit)
    return Measured(node, None)


def in_one_unit(one: Measured, two: Measured) -> tuple[Node, Node] | None:
    """Two values in the unit of the first; None where their units measure different things. A unit that one side lacks says nothing."""
    if one.unit is None or two.unit is None or one.unit == two.unit:
        return one.value, two.value
    if is_vague(one.unit, two.unit) or is_vague(two.unit, one.unit):
        return one.value, two.value
    factor = conversion(two.unit, one.unit)
    return None if factor is None else (one.value, Product((number(factor), two.value)))


def read_letter(node: Node, beside: str) -> Measured | None:
    """`5 m` in plain text, where `m` could be a variable, as a quantity beside one in the unit `beside`; None where that is of another dimension."""
    match node:
        case Product((*factors, Symbol(letter))) if factors and letter in LETTERS:
            value = factors[0] if len(factors) == 1 else Product(tuple(factors))
            if not symbols(value) and conversion(letter, beside) is not None:
                return Measured(value, letter)
    return None
