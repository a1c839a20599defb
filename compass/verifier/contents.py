"""What a tree holds, and copies of it with parts replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from compass.verifier.tree import Based, Constant, NamedSet, Node, Number, Symbol, Words


def rebuilt(node: Node, change: Callable[[Node], Node]) -> Node:
    """A copy of a node with `change` made to every node directly below it."""

    def changed(part: Any) -> Any:
        if isinstance(part, Node):
            return change(part)
        return tuple(changed(item) for item in part) if isinstance(part, tuple) else part

    return type(node)(*(changed(getattr(node, field)) for field in node.__match_args__))


def substituted(node: Node, old: Node, new: Node) -> Node:
    """A copy of a node with one leaf put in the place of another, everywhere."""
    return new if node == old else rebuilt(node, lambda part: substituted(part, old, new))


class Contents(NamedTuple):
    """What a tree holds: its nodes in no particular order, the names of its variables, and the classes of its nodes."""

    root: Node
    nodes: list[Node]
    symbols: frozenset[str]
    kinds: frozenset[type[Node]]


_NOTHING: frozenset[str] = frozenset()
_NAMELESS = frozenset([Number, Constant, Words, Based, NamedSet])
"""Nodes that hold neither another node nor a variable, as most do."""
MAX_REMEMBERED = 32
_remembered: dict[int, Contents] = {}
"""Of the latest trees by their identity: a comparison asks a dozen times for the same."""


def contents(node: Node) -> Contents:
    """What a tree holds; not to be changed by the caller."""
    known = _remembered.get(id(node))
    if known is not None and known.root is node:
        return known
    nodes, stack = [], [node]
    while stack:
        item = stack.pop()
        nodes.append(item)
        stack += item.children()
    kinds = frozenset(map(type, nodes))
    names = frozenset([item.name for item in nodes if item.__class__ is Symbol]) if Symbol in kinds else _NOTHING
    if len(_remembered) >= MAX_REMEMBERED:
        _remembered.clear()
    known = Contents(node, nodes, names, kinds)
    _remembered[id(node)] = known
    return known


def walk(node: Node) -> list[Node]:
    """The node and everything below it, in no particular order; not to be changed by the caller."""
    return contents(node).nodes


def symbols(node: Node) -> frozenset[str]:
    """Names of the variables that occur."""
    return _NOTHING if node.__class__ in _NAMELESS else contents(node).symbols


def contains(node: Node, *kinds: type[Node]) -> bool:
    """Whether a node of one of the kinds occurs."""
    return node.__class__ in kinds if node.__class__ in _NAMELESS else not contents(node).kinds.isdisjoint(kinds)


def depth(node: Node) -> int:
    """How many nodes stand on the longest way down."""
    deepest, level = 0, [node]
    while level:
        deepest += 1
        level = [child for item in level for child in item.children()]
    return deepest
