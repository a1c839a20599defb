"""Sets of real numbers: intervals, unions, inequalities in one variable, brought to one form and compared."""

from __future__ import annotations

from functools import cmp_to_key
from typing import NamedTuple

from flint import fmpq

from compass.verifier.comparing.exact import rational
from compass.verifier.comparing.numeric import approximate, identical
from compass.verifier.tree import Node, Unreadable, negate, number, symbols

INFINITY: Node = ("const", "inf")
_FLIP = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


class Piece(NamedTuple):
    """An interval; an end is closed where its flag is true. A point has both ends alike and closed."""

    low: Node
    low_closed: bool
    high: Node
    high_closed: bool


EVERYTHING = [Piece(negate(INFINITY), False, INFINITY, False)]


def order(left: Node, right: Node) -> int:
    """-1, 0 or 1 as the first of two constants is smaller, equal or larger.

    Raises:
        Unreadable: an end that is no real constant, or two that cannot be told apart.
    """
    if left == right:
        return 0
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


def _infinite(node: Node) -> int:
    if node == INFINITY:
        return 1
    if node[0] == "neg":
        return -_infinite(node[1])
    if node[0] == "unit":
        return _infinite(node[1])
    return 0


def pieces(node: Node) -> list[Piece] | None:
    """The set of reals that a node describes, as disjoint intervals in rising order; None where it describes none."""
    kind = node[0]
    if kind == "named set":
        return EVERYTHING if node[1] == "R" else None
    if kind == "seq":
        return _sequence(node)
    if kind == "setop":
        left, right = pieces(node[2]), pieces(node[3])
        if left is None or right is None:
            return None
        if node[1] == "cup":
            return union(left + right)
        return intersect(left, complement(right) if node[1] == "minus" else right)
    if kind == "rel":
        return _relation(node)
    return None


def _sequence(node: Node) -> list[Piece] | None:
    _, opening, close, items = node
    if opening == "{":
        if any(symbols(item) or item[0] in ("seq", "rel", "word") for item in items):
            return None
        return union([Piece(item, True, item, True) for item in items])
    if opening in "([" and opening and len(items) == 2 and not (symbols(items[0]) or symbols(items[1])):
        if any(
            item[0] not in ("num", "neg", "add", "mul", "inv", "pow", "const", "call", "unit", "degree", "percent")
            for item in items
        ):
            return None
        return union(
            [
                Piece(
                    items[0],
                    opening == "[" and not _infinite(items[0]),
                    items[1],
                    close == "]" and not _infinite(items[1]),
                )
            ]
        )
    if opening == "":
        parts = [pieces(item) for item in items]
        if all(part is not None for part in parts):
            return union([piece for part in parts if part is not None for piece in part])
    return None


def _relation(node: Node) -> list[Piece] | None:
    ops, sides = node[1], node[2]
    if ops == ("in",):
        return pieces(sides[1]) if _applied_name(sides[0]) else None
    if "==" in ops or not set(ops) <= set(_FLIP) or ops == ("=",):
        return None
    found = EVERYTHING
    for at, op in enumerate(ops):
        part = _bound(op, sides[at], sides[at + 1])
        if part is None:
            return None
        found = intersect(found, part)
    return found


def variable(node: Node) -> frozenset[str]:
    """The variables of a relation's sides."""
    return symbols(node)


def _bound(op: str, left: Node, right: Node) -> list[Piece] | None:
    """One inequality between a variable (or `f(x)`) and a constant, or linear in one variable."""
    if not symbols(left):
        left, right, op = right, left, _FLIP[op]
    if left[0] == "call" and left[1] == "abs" and symbols(left) and not symbols(right) and len(symbols(left)) == 1:
        return _absolute(op, left[2][0], right)
    if (
        symbols(right)
        or not symbols(left)
        or (left[0] != "sym" and left[0] != "call" and not (left[0] == "mul" and _applied_name(left)))
    ):
        solved = _linear(op, left, right)
        if solved is None:
            return None
        op, right = solved
    elif left[0] == "call" and left[1] not in ("f", "g", "F", "G"):
        return None
    if op == "<":
        return [Piece(negate(INFINITY), False, right, False)]
    if op == "<=":
        return [Piece(negate(INFINITY), False, right, True)]
    if op == ">":
        return [Piece(right, False, INFINITY, False)]
    if op == ">=":
        return [Piece(right, True, INFINITY, False)]
    if op == "!=":
        return complement([Piece(right, True, right, True)])
    return [Piece(right, True, right, True)]


def _absolute(op: str, inside: Node, bound: Node) -> list[Piece] | None:
    """`|x - 2| < 3` and the like."""
    if op in ("<", "<="):
        low, high = _bound(_FLIP[op], inside, negate(bound)), _bound(op, inside, bound)
        return None if low is None or high is None else intersect(low, high)
    if op in (">", ">="):
        low, high = _bound(_FLIP[op], inside, negate(bound)), _bound(op, inside, bound)
        return None if low is None or high is None else union(low + high)
    return None


def _applied_name(node: Node) -> bool:
    from compass.verifier.comparing.shapes import is_name

    return is_name(node)


def _linear(op: str, left: Node, right: Node) -> tuple[str, Node] | None:
    """Solve an inequality that is linear in its one variable with rational coefficients."""
    from compass.verifier.comparing.exact import quotient

    names = tuple(symbols(left) | symbols(right))
    if len(names) != 1:
        return None
    value = quotient(("add", (left, ("neg", right))), names)
    if value is None or value[0].total_degree() != 1 or value[1].total_degree() != 0:
        return None
    scale = value[1].leading_coefficient()
    slope = fmpq(0)
    constant = fmpq(0)
    for exponents, coefficient in value[0].terms():
        if sum(exponents):
            slope = coefficient / scale
        else:
            constant = coefficient / scale
    return op if slope > 0 else _FLIP[op], number(-constant / slope)


def _compare_low(one: Piece, two: Piece) -> int:
    by_end = order(one.low, two.low)
    return by_end or (two.low_closed - one.low_closed)


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
    found: list[Piece] = []
    low, closed = negate(INFINITY), False
    for piece in parts:
        found.append(Piece(low, closed, piece.low, not piece.low_closed and not _infinite(piece.low)))
        low, closed = piece.high, not piece.high_closed
    found.append(Piece(low, closed and not _infinite(low), INFINITY, False))
    return union(found)


def intersect(left: list[Piece], right: list[Piece]) -> list[Piece]:
    """What two sets have in common."""
    found = []
    for one in left:
        for two in right:
            low = one if _compare_low(one, two) >= 0 else two
            ends = order(one.high, two.high)
            high = one if ends < 0 or (ends == 0 and not one.high_closed) else two
            found.append(Piece(low.low, low.low_closed, high.high, high.high_closed))
    return union(found)


def same(left: list[Piece], right: list[Piece]) -> bool:
    """Whether two sets of reals, each from `pieces`, are equal."""
    return len(left) == len(right) and all(
        one.low_closed == two.low_closed
        and one.high_closed == two.high_closed
        and order(one.low, two.low) == 0
        and order(one.high, two.high) == 0
        for one, two in zip(left, right, strict=True)
    )
