"""Sets of real numbers: intervals, unions, inequalities in one variable, brought to one form and compared."""

from __future__ import annotations

from functools import cmp_to_key
from typing import NamedTuple

from flint import fmpq

from compass.verifier.comparing.exact import quotient, rational
from compass.verifier.comparing.measures import DEGREE, PERCENT, Measured, in_one_unit, peel
from compass.verifier.comparing.numeric import approximate, identical
from compass.verifier.comparing.shapes import is_name
from compass.verifier.contents import symbols
from compass.verifier.reading.names import FUNCTION_NAMES
from compass.verifier.tree import (
    INFINITY,
    Call,
    Constant,
    Degrees,
    Inverse,
    NamedSet,
    Negative,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Quantity,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    Unreadable,
    Words,
    difference,
    negate,
    number,
)

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_ENDS = (Number, Negative, Sum, Product, Inverse, Power, Constant, Call, Quantity, Degrees, Percent)
_MINUS_INFINITY = negate(INFINITY)


class Piece(NamedTuple):
    """An interval; an end is closed where its flag is true. A point has both ends alike and closed."""

    low: Node
    low_closed: bool
    high: Node
    high_closed: bool


EVERYTHING = [Piece(_MINUS_INFINITY, False, INFINITY, False)]


def order(left: Node, right: Node) -> int:
    """-1, 0 or 1 as the first of two constants is smaller, equal or larger; a unit that only one has is ignored.

    Raises:
        Unreadable: an end that is no real constant, two that cannot be told apart, or two of which each measures something else.
    """
    if left == right:
        return 0
    both = in_one_unit(_measured(left), _measured(right))
    if both is None:
        raise Unreadable("an interval whose ends measure different things")
    left, right = both
    signs = [_infinite(left), _infinite(right)]
    if any(signs):
        return (signs[0] > signs[1]) - (signs[0] < signs[1])
    one, two = rational(left), rational(right)
    if one is not None and two is not None:
        return (one > two) - (one < two)
    first, second = approximate(left), approximate(right)
    if first is None or second is None:
        raise Unreadable("an interval whose ends have no order")
    if first < second:
        return -1
    if first > second:
        return 1
    if identical(left, right):
        return 0
    raise Unreadable("two ends too close to tell apart")


def _measured(end: Node) -> Measured:
    """An end and its unit; a sign of percent or degree is part of its value."""
    measured = peel(end)
    return Measured(end, None) if measured.unit in (DEGREE, PERCENT) else measured


def _infinite(node: Node) -> int:
    match node:
        case Constant("inf"):
            return 1
        case Negative(operand):
            return -_infinite(operand)
        case Quantity(value):
            return _infinite(value)
    return 0


def pieces(node: Node) -> list[Piece] | None:
    """The set of reals that a node describes, as disjoint intervals in rising order; None where it describes none."""
    match node:
        case NamedSet("R"):
            return EVERYTHING
        case Sequence():
            return _sequence(node)
        case SetOperation(operator, left, right):
            one, two = pieces(left), pieces(right)
            if one is None or two is None:
                return None
            if operator == "cup":
                return union(one + two)
            return intersect(one, complement(two) if operator == "minus" else two)
        case Relation(("in",), (name, values)):
            return pieces(values) if is_name(name) else None
        case Relation():
            return _relation(node)
    return None


def _sequence(node: Sequence) -> list[Piece] | None:
    match node:
        case Sequence("{", _, items):
            if any(symbols(item) or isinstance(item, (Sequence, Relation, Words)) for item in items):
                return None
            return union([Piece(item, True, item, True) for item in items])
        case Sequence("", _, items):
            parts = [pieces(item) for item in items]
            known = [part for part in parts if part is not None]
            return union([piece for part in known for piece in part]) if len(known) == len(parts) else None
        case Sequence("(" | "[", closing, (low, high)):
            if symbols(low) or symbols(high) or not (isinstance(low, _ENDS) and isinstance(high, _ENDS)):
                return None
            low_closed = node.opening == "[" and not _infinite(low)
            return union([Piece(low, low_closed, high, closing == "]" and not _infinite(high))])
    return None


def _relation(node: Relation) -> list[Piece] | None:
    if node.operators == ("=",) or not set(node.operators) <= set(_FLIPPED):
        return None
    common = EVERYTHING
    for operator, left, right in zip(node.operators, node.sides, node.sides[1:], strict=False):
        part = _bound(operator, left, right)
        if part is None:
            return None
        common = intersect(common, part)
    return common


def _bound(operator: str, left: Node, right: Node) -> list[Piece] | None:
    """One inequality between a variable (or `f(x)`) and a constant, or linear in one variable."""
    if not symbols(left):
        left, right, operator = right, left, _FLIPPED[operator]
    match left:
        case Call("abs", (inside, *_)) if not symbols(right) and len(symbols(left)) == 1:
            return _absolute(operator, inside, right)
    if symbols(right) or not symbols(left) or not _bounded_name(left):
        solved = _linear(operator, left, right)
        if solved is None:
            return None
        operator, right = solved
    elif isinstance(left, Call) and left.function not in FUNCTION_NAMES:
        return None
    match operator:
        case "<" | "<=":
            return [Piece(_MINUS_INFINITY, False, right, operator == "<=")]
        case ">" | ">=":
            return [Piece(right, operator == ">=", INFINITY, False)]
        case "!=":
            return complement([Piece(right, True, right, True)])
    return [Piece(right, True, right, True)]


def _bounded_name(node: Node) -> bool:
    return isinstance(node, (Symbol, Call)) or (isinstance(node, Product) and is_name(node))


def _absolute(operator: str, inside: Node, bound: Node) -> list[Piece] | None:
    """`|x - 2| < 3` and the like."""
    if operator not in ("<", "<=", ">", ">="):
        return None
    opposite, same_way = _bound(_FLIPPED[operator], inside, negate(bound)), _bound(operator, inside, bound)
    if opposite is None or same_way is None:
        return None
    return intersect(opposite, same_way) if operator in ("<", "<=") else union(opposite + same_way)


def _linear(operator: str, left: Node, right: Node) -> tuple[str, Node] | None:
    """Solve an inequality that is linear in its one variable with rational coefficients."""
    names = tuple(symbols(left) | symbols(right))
    if len(names) != 1:
        return None
    value = quotient(difference(left, right), names)
    if value is None or value[0].total_degree() != 1 or value[1].total_degree() != 0:
        return None
    scale = value[1].leading_coefficient()
    slope = constant = fmpq(0)
    for exponents, coefficient in value[0].terms():
        if sum(exponents):
            slope = coefficient / scale
        else:
            constant = coefficient / scale
    return operator if slope > 0 else _FLIPPED[operator], number(-constant / slope)


def _compare_low(one: Piece, two: Piece) -> int:
    return order(one.low, two.low) or (two.low_closed - one.low_closed)


def union(parts: list[Piece]) -> list[Piece]:
    """Overlapping and touching intervals joined, empty ones dropped, in rising order."""
    kept = []
    for piece in parts:
        width = order(piece.low, piece.high)
        if width < 0 or (width == 0 and piece.low_closed and piece.high_closed):
            kept.append(piece)
    kept.sort(key=cmp_to_key(_compare_low))
    joined: list[Piece] = []
    for piece in kept:
        if joined:
            last = joined[-1]
            gap = order(piece.low, last.high)
            if gap < 0 or (gap == 0 and (piece.low_closed or last.high_closed)):
                end = order(piece.high, last.high)
                if end > 0 or (end == 0 and piece.high_closed):
                    joined[-1] = last._replace(high=piece.high, high_closed=piece.high_closed)
                continue
        joined.append(piece)
    return joined


def complement(parts: list[Piece]) -> list[Piece]:
    """Every real that is in none of the intervals (disjoint, rising)."""
    gaps: list[Piece] = []
    low, closed = _MINUS_INFINITY, False
    for piece in parts:
        gaps.append(Piece(low, closed, piece.low, not piece.low_closed and not _infinite(piece.low)))
        low, closed = piece.high, not piece.high_closed
    gaps.append(Piece(low, closed and not _infinite(low), INFINITY, False))
    return union(gaps)


def intersect(left: list[Piece], right: list[Piece]) -> list[Piece]:
    """What two sets have in common."""
    common = []
    for one in left:
        for two in right:
            low = one if _compare_low(one, two) >= 0 else two
            ends = order(one.high, two.high)
            high = one if ends < 0 or (ends == 0 and not one.high_closed) else two
            common.append(Piece(low.low, low.low_closed, high.high, high.high_closed))
    return union(common)


def same(left: list[Piece], right: list[Piece]) -> bool:
    """Whether two sets of reals, each from `pieces`, are equal."""
    return len(left) == len(right) and all(
        one.low_closed == two.low_closed
        and one.high_closed == two.high_closed
        and _same_end(one.low, two.low)
        and _same_end(one.high, two.high)
        for one, two in zip(left, right, strict=True)
    )


def _same_end(one: Node, two: Node) -> bool:
    return in_one_unit(_measured(one), _measured(two)) is not None and order(one, two) == 0
