"""Sets of real numbers: what intervals, unions, inequalities in one variable and lists of them describe, as intervals."""

from __future__ import annotations

import math

from flint import fmpq

from compass.verifier.comparing.exact import quotient
from compass.verifier.comparing.intervals import (
    EVERYTHING,
    MINUS_INFINITY,
    Piece,
    complement,
    infinite,
    intersect,
    order,
    union,
)
from compass.verifier.comparing.numeric import approximate
from compass.verifier.comparing.shapes import chosen, is_name
from compass.verifier.contents import contains, symbols
from compass.verifier.reading.names import FUNCTION_NAMES
from compass.verifier.tree import (
    INFINITY,
    ZERO,
    Call,
    Constant,
    Degrees,
    Inverse,
    NamedSet,
    Negative,
    Node,
    Number,
    Percent,
    PlusMinus,
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

MAX_WHOLE = 200
"""The longest interval whose whole numbers are listed."""
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_ENDS = (Number, Negative, Sum, Product, Inverse, Power, Constant, Call, Quantity, Degrees, Percent)


def pieces(node: Node) -> list[Piece] | None:
    """The set of reals that a node describes, as disjoint intervals in rising order; None where it describes none."""
    match node:
        case NamedSet("R"):
            return EVERYTHING
        case NamedSet("R+" | "R0+"):
            return [Piece(ZERO, node.name == "R0+", INFINITY, False)]
        case NamedSet("R-"):
            return [Piece(MINUS_INFINITY, False, ZERO, False)]
        case NamedSet("R*"):
            return complement([Piece(ZERO, True, ZERO, True)])
        case Sequence():
            return _sequence(node)
        case SetOperation("cap", NamedSet("Z" | "N" | "Z+" | "N+" | "Z0+" | "N0+") as whole, other) | SetOperation(
            "cap", other, NamedSet("Z" | "N" | "Z+" | "N+" | "Z0+" | "N0+") as whole
        ):
            parts = pieces(other)
            return None if parts is None else whole_numbers(parts, whole)
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
        case Sequence("", word, items):
            return _joined(items, word)
        case Sequence("(" | "[", closing, (low, high)):
            if symbols(low) or symbols(high) or not (isinstance(low, _ENDS) and isinstance(high, _ENDS)):
                return None
            if order(low, high) > 0:
                raise Unreadable("an interval whose ends are in reverse")
            low_closed = node.opening == "[" and not infinite(low)
            return union([Piece(low, low_closed, high, closing == "]" and not infinite(high))])
    return None


def _joined(items: tuple[Node, ...], word: str) -> list[Piece] | None:
    """A list of sets is their union. Conditions on one variable unite by `or` and intersect otherwise; those which commas
    join and no number meets are the cases of an answer."""
    if word != "or" and len(items) > 1:
        match items[-1]:
            case Relation(("in",), (Symbol(), NamedSet("Z" | "N" | "Z+" | "N+" | "Z0+" | "N0+") as whole)):
                parts = _joined(items[:-1], word)
                return None if parts is None else whole_numbers(parts, whole)
    conditions = [_is_condition(item) for item in items]
    if any(conditions) and not all(conditions):
        return None
    if all(conditions) and len(frozenset().union(*map(symbols, items))) > 1:
        return None
    parts = [_condition(item) if condition else pieces(item) for item, condition in zip(items, conditions, strict=True)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    united = [piece for part in known for piece in part]
    if word == "or" or not all(conditions):
        return union(united)
    common = EVERYTHING
    for part in known:
        common = intersect(common, part)
    return union(united) if not common and not word else common


def _is_condition(node: Node) -> bool:
    """Whether an item of a list says what a variable must meet: a relation, or a list of them."""
    match node:
        case Relation():
            return True
        case Sequence("", _, items):
            return any(map(_is_condition, items))
    return False


def _condition(node: Node) -> list[Piece] | None:
    """The numbers that meet a condition in a list of several, where `x = 2` is one as well."""
    match node:
        case Relation(("=",), (name, value)) if is_name(name) and not symbols(value) and isinstance(value, _ENDS):
            return [Piece(value, True, value, True)]
    return pieces(node)


def whole_numbers(parts: list[Piece], domain: NamedSet) -> list[Piece] | None:
    """The whole numbers in bounded intervals, as points; None where there are many or none can say whether 0 is one."""
    found: list[Piece] = []
    for piece in parts:
        if infinite(piece.low) or infinite(piece.high):
            return None
        low, high = approximate(piece.low), approximate(piece.high)
        if low is None or high is None or float(high - low) > MAX_WHOLE:
            return None
        for value in range(math.floor(float(low)) - 1, math.ceil(float(high)) + 2):
            point = number(value)
            from_low, from_high = order(piece.low, point), order(point, piece.high)
            inside = (from_low < 0 or (from_low == 0 and piece.low_closed)) and (
                from_high < 0 or (from_high == 0 and piece.high_closed)
            )
            if inside and domain.name == "N" and value == 0:
                return None
            if inside and (value > 0 or domain.name == "Z" or (value == 0 and "0" in domain.name)):
                found.append(Piece(point, True, point, True))
    return union(found)


def _relation(node: Relation) -> list[Piece] | None:
    if node.operators == ("=",) or not set(node.operators) <= set(_FLIPPED):
        return None
    if contains(node, PlusMinus):  # x is neither of the two, or beyond one of them
        plus, minus = _relation(chosen(node, plus=True)), _relation(chosen(node, plus=False))
        return None if plus is None or minus is None or node.operators != ("!=",) else intersect(plus, minus)
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
            return [Piece(MINUS_INFINITY, False, right, operator == "<=")]
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
