"""Intervals of real numbers: their ends in order, unions, intersections, complements."""

from __future__ import annotations

from functools import cmp_to_key
from typing import NamedTuple

from compass.verifier.comparing.exact import rational
from compass.verifier.comparing.measures import DEGREE, PERCENT, Measured, in_one_unit, peel
from compass.verifier.comparing.numeric import approximate, identical
from compass.verifier.tree import INFINITY, Constant, Negative, Node, Quantity, Unreadable, negate

MINUS_INFINITY = negate(INFINITY)


class Piece(NamedTuple):
    """An interval; an end is closed where its flag is true. A point has both ends alike and closed."""

    low: Node
    low_closed: bool
    high: Node
    high_closed: bool


EVERYTHING = [Piece(MINUS_INFINITY, False, INFINITY, False)]


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
    signs = [infinite(left), infinite(right)]
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


def infinite(node: Node) -> int:
    """1 for infinity, -1 for its negative, 0 for anything else."""
    match node:
        case Constant("inf"):
            return 1
        case Negative(operand):
            return -infinite(operand)
        case Quantity(value):
            return infinite(value)
    return 0


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
    low, closed = MINUS_INFINITY, False
    for piece in parts:
        gaps.append(Piece(low, closed, piece.low, not piece.low_closed and not infinite(piece.low)))
        low, closed = piece.high, not piece.high_closed
    gaps.append(Piece(low, closed and not infinite(low), INFINITY, False))
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
