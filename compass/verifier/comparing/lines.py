"""Expressions that are linear in letters: the progressions and the lines of points that they describe."""

from __future__ import annotations

from typing import NamedTuple

from compass.verifier.comparing import scalar
from compass.verifier.comparing.numeric import approximate
from compass.verifier.comparing.progressions import Progression
from compass.verifier.comparing.shapes import spread, unnamed
from compass.verifier.contents import contains, substituted, symbols, walk
from compass.verifier.tree import (
    ONE,
    ZERO,
    NamedSet,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    Unreadable,
    difference,
    number,
)

_TURNED = {">": "<", ">=": "<="}


class Line(NamedTuple):
    """Points `start + step * t`, coordinate by coordinate, and the names of the coordinates."""

    start: tuple[Node, ...]
    step: tuple[Node, ...]
    names: tuple[str, ...]


def linear(node: Node, letters: tuple[str, ...]) -> tuple[Node, tuple[Node, ...]] | None:
    """`a + b k + ...` as `a` and the steps of those letters that occur; None for any other expression."""
    if contains(node, Sequence, Relation, SetOperation, NamedSet):
        return None
    used = [name for name in letters if name in symbols(node)]
    if not used or symbols(node) - set(used):
        return None

    def at(values: dict[str, Node]) -> Node:
        inside = node
        for name in used:
            inside = substituted(inside, Symbol(name), values.get(name, ZERO))
        return inside

    try:
        start = at({})
        steps = tuple(difference(at({name: ONE}), start) for name in used)
        straight = Sum((start, *(Product((step, Symbol(name))) for step, name in zip(steps, used, strict=True))))
        same = scalar.values(node, straight).same
    except Unreadable:
        return None
    return (start, steps) if same else None


def same_line(one: Line, two: Line, *, whole: bool) -> bool:
    """Whether two lines hold the same points; `whole` where their letters are whole numbers and any numbers otherwise."""
    if len(one.start) != len(two.start):
        return False
    if one.names and two.names:
        if set(one.names) != set(two.names):
            return False
        order = [two.names.index(name) for name in one.names]
        two = Line(tuple(two.start[at] for at in order), tuple(two.step[at] for at in order), one.names)
    pivot = next((at for at, step in enumerate(one.step) if not scalar.values(step, ZERO).same), None)
    if pivot is None:
        return False
    unit = Power(one.step[pivot], number(-1))
    ratio, shift = Product((two.step[pivot], unit)), Product((difference(two.start[pivot], one.start[pivot]), unit))
    if scalar.values(ratio, ZERO).same:
        return False
    if whole:
        moved = approximate(shift)
        if (
            moved is None
            or moved.unique_fmpz() is None
            or not any(scalar.values(ratio, number(sign)).same for sign in (1, -1))
        ):
            return False
    return all(
        scalar.values(two.step[at], Product((ratio, one.step[at]))).same
        and scalar.values(difference(two.start[at], one.start[at]), Product((shift, one.step[at]))).same
        for at in range(len(one.start))
    )


def named_value(item: Node) -> tuple[Node | None, Node]:
    """The variable that an item is about, and what it says of it."""
    match item:
        case Relation(("!=",), (Symbol() as name, _)):
            return name, item
        case Relation((_, _), (_, Symbol() as name, _)):
            return name, item
    return unnamed(item)


def progressions(items: tuple[Node, ...], letters: tuple[str, ...]) -> list[Progression] | None:
    """The items as progressions; None where one is none."""
    found: list[Progression] = []
    for item in items:
        for part in spread(item):
            for single in _by_parity(part, letters):
                progression = _progression(single, letters)
                if progression is None:
                    return None
                found.append(progression)
    return found


def _by_parity(item: Node, letters: tuple[str, ...]) -> list[Node]:
    """`(-1)^k` splits an item into the even and the odd `k`."""
    for part in walk(item):
        match part:
            case Power(Negative(Number()) | Number(), exponent) if inside := [
                name for name in letters if name in symbols(exponent)
            ]:
                if len(inside) > 1 or scalar.values(part.base, number(-1)).same is not True:
                    return [item]
                double = Product((number(2), Symbol(inside[0])))
                return [substituted(item, Symbol(inside[0]), each) for each in (double, Sum((double, ONE)))]
    return [item]


def _progression(item: Node, letters: tuple[str, ...]) -> Progression | None:
    kind, low, high = "=", item, None
    match item:
        case Relation(("=",), _):
            low = named_value(item)[1]
        case Relation(("!=",), (_, low)):
            kind = "!="
        case Relation(operators, (low, _, high)):
            if operators[0] in _TURNED:
                low, high, operators = high, low, tuple(_TURNED.get(sign, "") for sign in reversed(operators))
            kind = {"<": "(", "<=": "["}.get(operators[0], "") + {"<": ")", "<=": "]"}.get(operators[-1], "")
            if len(kind) != 2:
                return None
        case Relation(("in",), (_, Sequence(opening, closing, (low, high)))) | Sequence(
            opening, closing, (low, high)
        ) if opening in ("(", "["):
            kind = opening + closing
    start = linear(low, letters)
    if start is None:
        return None
    if high is None:
        return Progression(kind, *start)
    end = linear(high, letters)
    if end is None or not all(scalar.values(one, two).same for one, two in zip(start[1], end[1], strict=True)):
        return None
    return Progression(kind, *start, difference(end[0], start[0]))
