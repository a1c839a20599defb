"""Sets of real numbers as intervals, from intervals, inequalities and conditions; and definitions by cases, as functions on such sets.

Ends are constants of any kind. Functions by cases are compared at points of every stretch of either side.
"""

from __future__ import annotations

import math
from functools import cmp_to_key
from typing import NamedTuple

from flint import fmpq

from compass.verifier.comparing import scalar
from compass.verifier.comparing.exact import rational, to_quotient
from compass.verifier.comparing.measures import DEGREE, PERCENT, Measured, in_one_unit, peel
from compass.verifier.comparing.numeric import approximate, identical
from compass.verifier.comparing.shapes import choose_sign, is_name
from compass.verifier.reading.names import FUNCTION_NAMES
from compass.verifier.tree import (
    INFINITY,
    ZERO,
    Call,
    Cases,
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
    contains,
    difference,
    infinite_sign,
    negate,
    number,
    substitute,
    symbols,
)

MINUS_INFINITY = negate(INFINITY)


class Piece(NamedTuple):
    """An interval; an end is closed where its flag is true. A point has both ends alike and closed."""

    low: Node
    low_closed: bool
    high: Node
    high_closed: bool


EVERYTHING = [Piece(MINUS_INFINITY, False, INFINITY, False)]


def compare_ends(left: Node, right: Node) -> int:
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
    signs = [infinite_sign(left), infinite_sign(right)]
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


def _compare_low(one: Piece, two: Piece) -> int:
    return compare_ends(one.low, two.low) or (two.low_closed - one.low_closed)


def union(parts: list[Piece]) -> list[Piece]:
    """Overlapping and touching intervals joined, empty ones dropped, in rising order."""
    kept = []
    for piece in parts:
        width = compare_ends(piece.low, piece.high)
        if width < 0 or (width == 0 and piece.low_closed and piece.high_closed):
            kept.append(piece)
    kept.sort(key=cmp_to_key(_compare_low))
    joined: list[Piece] = []
    for piece in kept:
        if joined:
            last = joined[-1]
            gap = compare_ends(piece.low, last.high)
            if gap < 0 or (gap == 0 and (piece.low_closed or last.high_closed)):
                end = compare_ends(piece.high, last.high)
                if end > 0 or (end == 0 and piece.high_closed):
                    joined[-1] = last._replace(high=piece.high, high_closed=piece.high_closed)
                continue
        joined.append(piece)
    return joined


def complement(parts: list[Piece]) -> list[Piece]:
    """Every real that is in none of the intervals (disjoint, rising)."""
    gaps: list[Piece] = []
    low, closed = MINUS_INFINITY, False
    for piece in parts:
        gaps.append(Piece(low, closed, piece.low, not piece.low_closed and not infinite_sign(piece.low)))
        low, closed = piece.high, not piece.high_closed
    gaps.append(Piece(low, closed and not infinite_sign(low), INFINITY, False))
    return union(gaps)


def intersect(left: list[Piece], right: list[Piece]) -> list[Piece]:
    """What two sets have in common."""
    common = []
    for one in left:
        for two in right:
            low = one if _compare_low(one, two) >= 0 else two
            ends = compare_ends(one.high, two.high)
            high = one if ends < 0 or (ends == 0 and not one.high_closed) else two
            common.append(Piece(low.low, low.low_closed, high.high, high.high_closed))
    return union(common)


def same_pieces(left: list[Piece], right: list[Piece]) -> bool:
    """Whether two sets of reals, each from `find_pieces`, are equal."""
    return len(left) == len(right) and all(
        one.low_closed == two.low_closed
        and one.high_closed == two.high_closed
        and _same_end(one.low, two.low)
        and _same_end(one.high, two.high)
        for one, two in zip(left, right, strict=True)
    )


def _same_end(one: Node, two: Node) -> bool:
    return in_one_unit(_measured(one), _measured(two)) is not None and compare_ends(one, two) == 0


MAX_WHOLE = 200
"""The longest interval whose whole numbers are listed."""
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_ENDS = (Number, Negative, Sum, Product, Inverse, Power, Constant, Call, Quantity, Degrees, Percent)


def find_pieces(node: Node) -> list[Piece] | None:
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
            parts = find_pieces(other)
            return None if parts is None else whole_numbers(parts, whole)
        case SetOperation(operator, left, right):
            one, two = find_pieces(left), find_pieces(right)
            if one is None or two is None:
                return None
            if operator == "cup":
                return union(one + two)
            return intersect(one, complement(two) if operator == "minus" else two)
        case Relation(("in",), (name, values)):
            return find_pieces(values) if is_name(name) else None
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
            if compare_ends(low, high) > 0:
                raise Unreadable("an interval whose ends are in reverse")
            low_closed = node.opening == "[" and not infinite_sign(low)
            return union([Piece(low, low_closed, high, closing == "]" and not infinite_sign(high))])
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
    parts = [
        _condition(item) if condition else find_pieces(item) for item, condition in zip(items, conditions, strict=True)
    ]
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
    return find_pieces(node)


def whole_numbers(parts: list[Piece], domain: NamedSet) -> list[Piece] | None:
    """The whole numbers in bounded intervals, as points; None where there are many or none can say whether 0 is one."""
    found: list[Piece] = []
    for piece in parts:
        if infinite_sign(piece.low) or infinite_sign(piece.high):
            return None
        low, high = approximate(piece.low), approximate(piece.high)
        if low is None or high is None or float(high - low) > MAX_WHOLE:
            return None
        for value in range(math.floor(float(low)) - 1, math.ceil(float(high)) + 2):
            point = number(value)
            from_low, from_high = compare_ends(piece.low, point), compare_ends(point, piece.high)
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
        plus, minus = _relation(choose_sign(node, plus=True)), _relation(choose_sign(node, plus=False))
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
    value = to_quotient(difference(left, right), names)
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


_SHARES = tuple(fmpq(share, 97) for share in (3, 17, 38, 53, 74, 91))
"""Where points lie in a stretch of finite length."""
_DISTANCES = tuple(fmpq(far, 97) for far in (11, 59, 140, 433, 1511, 9973))
"""How far from its one end points lie in an endless stretch."""
_OTHERWISE = frozenset(["otherwise", "else", "elsewhere"])

Stretches = list[tuple[list[Piece], Node]]


def same_piecewise(gold: Node, answer: Node) -> bool | None:
    """Whether two functions, of which one at least is defined by cases, agree at every point tried; None where a condition is no set of
    numbers.

    Raises:
        OverBudget, Unreadable: a part that cannot be evaluated.
    """
    names = symbols(gold) | symbols(answer)
    if len(names) != 1:
        return None
    one, two = _stretches(gold), _stretches(answer)
    if one is None or two is None or not same_pieces(_domain(one), _domain(two)):
        return None
    variable = Symbol(*names)
    return all(
        _agree(one, two, point, variable)
        for side in (one, two)
        for parts, _ in side
        for part in parts
        for point in _points(part)
    )


def _stretches(node: Node) -> Stretches | None:
    if not isinstance(node, Cases):
        return [(EVERYTHING, node)]
    found: Stretches = []
    for row in node.rows:
        match row:
            case (value, Words(text)) if text.lower() in _OTHERWISE:
                parts: list[Piece] | None = complement(_domain(found))
            case (value, condition):
                parts = find_pieces(condition)
            case _:
                return None
        if parts is None:
            return None
        found.append((parts, value))
    return found


def _domain(stretches: Stretches) -> list[Piece]:
    return union([part for parts, _ in stretches for part in parts])


def _points(part: Piece) -> list[Node]:
    """Points of an interval: inside, and its ends where they belong to it."""
    ends = [end for end, closed in ((part.low, part.low_closed), (part.high, part.high_closed)) if closed]
    if compare_ends(part.low, part.high) == 0:
        return ends[:1]
    low, high = (None if infinite_sign(end) else _near(end) for end in (part.low, part.high))
    if low is None and high is None:
        inside = [sign * far for far in _DISTANCES for sign in (1, -1)]
    elif low is None:
        inside = [high - far for far in _DISTANCES]
    elif high is None:
        inside = [low + far for far in _DISTANCES]
    else:
        inside = [low + (high - low) * share for share in _SHARES]
    return [*ends, *(number(point) for point in inside)]


def _near(end: Node) -> fmpq:
    """A fraction close to an end; points are far from it next to the difference."""
    value = approximate(end)
    return fmpq(0) if value is None else fmpq(*float(value).as_integer_ratio())


def _agree(one: Stretches, two: Stretches, point: Node, variable: Symbol) -> bool:
    first, second = _value(one, point), _value(two, point)
    if first is None or second is None:
        return False
    return bool(scalar.compare_values(substitute(first, variable, point), substitute(second, variable, point)).same)


def _value(stretches: Stretches, point: Node) -> Node | None:
    for parts, value in stretches:
        if any(_holds(part, point) for part in parts):
            return value
    return None


def _holds(part: Piece, point: Node) -> bool:
    low, high = compare_ends(part.low, point), compare_ends(point, part.high)
    return (low < 0 or (low == 0 and part.low_closed)) and (high < 0 or (high == 0 and part.high_closed))
