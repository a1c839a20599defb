"""The readings of `±` inside tuples."""

from __future__ import annotations

from collections.abc import Callable

from compass.verifier.comparing.shapes import chosen, unnamed
from compass.verifier.contents import contains, substituted, walk
from compass.verifier.tree import Node, PlusMinus, Relation, Sequence, Sum, negate

MAX_SIGNS = 3
"""Signs of one point that are chosen each by itself."""


def with_signs(node: Node) -> list[Node]:
    """The readings of an answer with `±` inside tuples: `(\\pm 1, \\pm 2)` is two points where the signs go together, four where they don't."""
    if not contains(node, PlusMinus) or not contains(node, Sequence):
        return [node]
    linked = _points(node, lambda point: [chosen(point, plus=True), chosen(point, plus=False)])
    if linked == node:
        return [node]  # a list whose signs stand outside tuples
    if any(isinstance(part, PlusMinus) and part.sign == "mp" for part in walk(node)):
        return [linked]
    return [linked, _points(node, _independent)]


def _points(node: Node, split: Callable[[Node], list[Node]]) -> Node:
    value = unnamed(node)[1] if isinstance(node, Relation) else node
    match value:
        case Sequence("(" | "<") if contains(value, PlusMinus):
            return Sequence("", "", tuple(split(value)))
        case Sequence("" | "{" as opening, closing, items):
            points = [part for item in items for part in (split(item) if _is_signed_point(item) else [item])]
            return Sequence(opening, closing, tuple(points))
    return node


def _is_signed_point(node: Node) -> bool:
    return isinstance(node, Sequence) and contains(node, PlusMinus)


def _independent(point: Node) -> list[Node]:
    """Every choice of signs, up to `MAX_SIGNS` of them."""
    points = [point]
    for _ in range(MAX_SIGNS):
        points = [part for item in points for part in _first_sign(item)]
    return points


def _first_sign(point: Node) -> list[Node]:
    for part in walk(point):
        match part:
            case PlusMinus(left, right, _):
                return [
                    substituted(point, part, Sum((left, right))),
                    substituted(point, part, Sum((left, negate(right)))),
                ]
    return [point]
