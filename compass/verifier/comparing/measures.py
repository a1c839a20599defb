"""Units, percent and degree signs, taken off a value, and whether two of them measure the same thing."""

from __future__ import annotations

from typing import NamedTuple

from flint import fmpq

from compass.verifier.reading.units import (
    LETTERS,
    conversion_factor,
    convert_temperature,
    is_vague,
    spell_unit,
    split_unit,
)
from compass.verifier.tree import (
    PI,
    Degrees,
    Inverse,
    Negative,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Quantity,
    Sum,
    Symbol,
    contains,
    number,
    symbols,
)

DEGREE, PERCENT, RADIAN = Degrees.kind, Percent.kind, "radian"
MARKS = (Quantity, Percent, Degrees)
_RADIANS = Product((PI, number(fmpq(1, 180))))
IN_DEGREES = Product((number(180), Inverse(PI)))
"""What turns radians into degrees."""


class Measured(NamedTuple):
    """A value, and the unit, `percent` or `degree` that stood after it."""

    value: Node
    unit: str | None


def peel(node: Node) -> Measured:
    """A value and the marks after it; of a sum, a product or a power, the unit that its parts make: `15 + 5\\sqrt3` cm, `4 cm \\times 5 cm`."""
    unit: str | None = None
    while isinstance(node, MARKS):
        mark = node.unit if isinstance(node, Quantity) else node.kind
        unit = mark if unit is None or mark == unit else f"{mark} {unit}"
        node = node.value
    if not contains(node, *MARKS):
        return Measured(node, unit)
    if unit is not None:  # 4 cm times 5 cm: the last unit comes after the product
        inner = peel(node)
        if inner.unit is None or not (_is_unit(unit) and _is_unit(inner.unit)):
            return Measured(node, unit)
        return Measured(inner.value, spell_unit([*split_unit(inner.unit), *split_unit(unit)]))
    match node:
        case Negative(operand):
            inner = peel(operand)
            if inner.unit is not None:
                return Measured(Negative(inner.value), inner.unit)
        case Product((*factors, Percent() | Degrees() as last)) if factors and not contains(
            Product((*factors,)), *MARKS
        ):
            inner = peel(last)
            return Measured(Product((*factors, inner.value)), inner.unit)
        case Product(factors):
            return _product(node, factors)
        case Inverse(operand) if (inner := peel(operand)).unit is not None:
            return (
                Measured(Inverse(inner.value), _raised(inner.unit, -1))
                if _is_unit(inner.unit)
                else Measured(node, None)
            )
        case Power(base, Number(exponent)) if (
            exponent.q == 1 and abs(exponent) < 10 and (inner := peel(base)).unit is not None
        ):
            if _is_unit(inner.unit):
                return Measured(Power(inner.value, node.exponent), _raised(inner.unit, int(exponent.p)))
        case Sum(terms):
            return _sum(node, terms)
    return Measured(node, None)


def _is_unit(unit: str) -> bool:
    return unit not in (PERCENT, DEGREE)


def _raised(unit: str, power: int) -> str:
    return spell_unit((name, exponent * power) for name, exponent in split_unit(unit))


def _product(node: Node, factors: tuple[Node, ...]) -> Measured:
    parts = [peel(factor) for factor in factors]
    units = [part.unit for part in parts if part.unit is not None]
    if not units or not all(map(_is_unit, units)):
        return Measured(node, None)
    unit = units[0] if len(units) == 1 else spell_unit(factor for unit in units for factor in split_unit(unit))
    return Measured(Product(tuple(part.value for part in parts)), unit or None)


def _sum(node: Node, terms: tuple[Node, ...]) -> Measured:
    """Terms of which all have a unit, or only the last, which then measures the whole."""
    parts = [peel(term) for term in terms]
    *others, last = parts
    if last.unit is None or not _is_unit(last.unit):
        return Measured(node, None)
    if all(part.unit is None for part in others):
        if any(contains(part.value, *MARKS) for part in others):
            return Measured(node, None)
        return Measured(Sum(tuple(part.value for part in parts)), last.unit)
    values = []
    for part in parts:
        factor = None if part.unit is None else conversion_factor(part.unit, last.unit)
        if factor is None:
            return Measured(node, None)
        values.append(part.value if factor == 1 else Product((number(factor), part.value)))
    return Measured(Sum(tuple(values)), last.unit)


def in_one_unit(one: Measured, two: Measured) -> tuple[Node, Node] | None:
    """Two values in the unit of the first; None where their units measure different things. A unit that one side lacks says nothing."""
    if one.unit is None or two.unit is None or one.unit == two.unit or agree_vaguely(one.unit, two.unit):
        return one.value, two.value
    factor = conversion_factor(two.unit, one.unit)
    if factor is not None:
        return one.value, Product((number(factor), two.value))
    if (one.unit, two.unit) == (DEGREE, RADIAN):
        return one.value, Product((two.value, IN_DEGREES))
    if (one.unit, two.unit) == (RADIAN, DEGREE):
        return one.value, Product((two.value, _RADIANS))
    scale = convert_temperature(two.unit, one.unit)
    if scale is None:
        return None
    return one.value, Sum((Product((number(scale[0]), two.value)), number(scale[1])))


def agree_vaguely(unit: str, other: str) -> bool:
    """Whether one of two different units does not say which it is: "units", or "balls" against "red balls"."""
    return is_vague(unit, other) or is_vague(other, unit)


def read_letters(node: Node, other: str) -> Measured | None:
    """`5 m` or `5 m/s` in plain text, whose letters could be variables, as a quantity against one in the unit `other`; None where that is of
    another dimension."""
    if not isinstance(node, Product):
        return None
    values: list[Node] = []
    letters: list[tuple[str, int]] = []
    if not _letters(node, 1, values, letters) or not letters or not values:
        return None
    unit = spell_unit(letters)
    if not unit or conversion_factor(unit, other) is None:
        return None
    return Measured(values[0] if len(values) == 1 else Product(tuple(values)), unit)


def _letters(node: Node, power: int, values: list[Node], letters: list[tuple[str, int]]) -> bool:
    """Sort the factors of a product into values and letters of units; False where one is neither."""
    match node:
        case Product(factors):
            return all(_letters(factor, power, values, letters) for factor in factors)
        case Inverse(operand):
            return _letters(operand, -power, values, letters)
        case Symbol(letter) if letter in LETTERS:
            letters.append(("L" if letter == "l" else letter, power))
            return True
        case Power(Symbol(letter), Number(exponent)) if letter in LETTERS and exponent.q == 1 and abs(exponent) < 10:
            letters.append((letter, power * int(exponent.p)))
            return True
    if symbols(node) or contains(node, *MARKS):
        return False
    values.append(node if power == 1 else Inverse(node))
    return True
