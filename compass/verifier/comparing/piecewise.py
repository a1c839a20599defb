"""Definitions by cases as functions of one real variable, compared at points of every stretch of either side."""

from __future__ import annotations

from flint import fmpq

from compass.verifier.comparing import scalar
from compass.verifier.comparing.intervals import EVERYTHING, Piece, complement, infinite, order, same, union
from compass.verifier.comparing.numeric import approximate
from compass.verifier.comparing.real_sets import pieces
from compass.verifier.contents import substituted, symbols
from compass.verifier.tree import Cases, Node, Symbol, Words, number

_SHARES = tuple(fmpq(share, 97) for share in (3, 17, 38, 53, 74, 91))
"""Where points lie in a stretch of finite length."""
_DISTANCES = tuple(fmpq(far, 97) for far in (11, 59, 140, 433, 1511, 9973))
"""How far from its one end points lie in an endless stretch."""
_OTHERWISE = frozenset(["otherwise", "else", "elsewhere"])

Stretches = list[tuple[list[Piece], Node]]


def same_function(gold: Node, answer: Node) -> bool | None:
    """Whether two functions, of which one at least is defined by cases, agree at every point tried; None where a condition is no set of
    numbers.

    Raises:
        OverBudget, Unreadable: a part that cannot be evaluated.
    """
    names = symbols(gold) | symbols(answer)
    if len(names) != 1:
        return None
    one, two = _stretches(gold), _stretches(answer)
    if one is None or two is None or not same(_domain(one), _domain(two)):
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
                parts = pieces(condition)
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
    if order(part.low, part.high) == 0:
        return ends[:1]
    low, high = (None if infinite(end) else _near(end) for end in (part.low, part.high))
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
    return bool(scalar.values(substituted(first, variable, point), substituted(second, variable, point)).same)


def _value(stretches: Stretches, point: Node) -> Node | None:
    for parts, value in stretches:
        if any(_holds(part, point) for part in parts):
            return value
    return None


def _holds(part: Piece, point: Node) -> bool:
    low, high = order(part.low, point), order(point, part.high)
    return (low < 0 or (low == 0 and part.low_closed)) and (high < 0 or (high == 0 and part.high_closed))
