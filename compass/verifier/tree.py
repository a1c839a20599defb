"""The expression tree: one small class for each kind of node, what a tree holds, and copies of it with parts replaced.

Nodes are values: compared and hashed by what they hold, shared between cached trees, and never changed once made. They are
not declared frozen because Python then takes three times as long to make one. `kind` is a node's name in messages and in
requests to sympy's process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from flint import fmpq


class Unreadable(ValueError):
    """Text that is no answer this verifier can read; the message says what stopped it."""


class OverBudget(Unreadable):
    """An answer whose evaluation would cost more than the budgets allow."""


class Node:
    """A part of an expression. Its fields hold nodes, tuples of nodes, numbers and text."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]]
    kind: ClassVar[str]

    def children(self) -> tuple[Node, ...]:
        """The nodes directly below."""
        return ()


@dataclass(slots=True, unsafe_hash=True)
class Number(Node):
    """An exact number; `literal` is the decimal text that it was written as, or None."""

    kind: ClassVar[str] = "num"
    value: fmpq
    literal: str | None = None


@dataclass(slots=True, unsafe_hash=True)
class Symbol(Node):
    """A variable or an unknown constant."""

    kind: ClassVar[str] = "sym"
    name: str


@dataclass(slots=True, unsafe_hash=True)
class Constant(Node):
    """`pi`, `e`, `i`, `inf`."""

    kind: ClassVar[str] = "const"
    name: str


@dataclass(slots=True, unsafe_hash=True)
class Sum(Node):
    """Terms added; a subtracted one is a `Negative`."""

    kind: ClassVar[str] = "add"
    terms: tuple[Node, ...]

    def children(self) -> tuple[Node, ...]:
        return self.terms


@dataclass(slots=True, unsafe_hash=True)
class Product(Node):
    """Factors multiplied; a divisor is an `Inverse`."""

    kind: ClassVar[str] = "mul"
    factors: tuple[Node, ...]

    def children(self) -> tuple[Node, ...]:
        return self.factors


@dataclass(slots=True, unsafe_hash=True)
class Negative(Node):
    """`-operand`."""

    kind: ClassVar[str] = "neg"
    operand: Node

    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(slots=True, unsafe_hash=True)
class Inverse(Node):
    """`1 / operand`."""

    kind: ClassVar[str] = "inv"
    operand: Node

    def children(self) -> tuple[Node, ...]:
        return (self.operand,)


@dataclass(slots=True, unsafe_hash=True)
class Power(Node):
    """`base ^ exponent`."""

    kind: ClassVar[str] = "pow"
    base: Node
    exponent: Node

    def children(self) -> tuple[Node, ...]:
        return (self.base, self.exponent)


@dataclass(slots=True, unsafe_hash=True)
class PlusMinus(Node):
    """`left ± right`; `sign` is `pm` or `mp`."""

    kind: ClassVar[str] = "pm"
    left: Node
    right: Node
    sign: str

    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)


@dataclass(slots=True, unsafe_hash=True)
class Call(Node):
    """A known function of its arguments, or an unknown one (`f(x)`)."""

    kind: ClassVar[str] = "call"
    function: str
    arguments: tuple[Node, ...]

    def children(self) -> tuple[Node, ...]:
        return self.arguments


@dataclass(slots=True, unsafe_hash=True)
class BigOperator(Node):
    """`sum`, `prod`, `int` or `lim` over a variable (empty where it has none); a bound that is not given is `ABSENT`."""

    kind: ClassVar[str] = "big"
    operator: str
    variable: str
    low: Node
    high: Node
    body: Node

    def children(self) -> tuple[Node, ...]:
        return (self.low, self.high, self.body)


@dataclass(slots=True, unsafe_hash=True)
class Sequence(Node):
    """A tuple or interval with its brackets; `opening` is `{` for a set and empty for a bare list.

    `closing` of a bare list is the word that joins it, `and` or `or`; empty where commas alone do.
    """

    kind: ClassVar[str] = "seq"
    opening: str
    closing: str
    items: tuple[Node, ...]

    def children(self) -> tuple[Node, ...]:
        return self.items


@dataclass(slots=True, unsafe_hash=True)
class Relation(Node):
    """A chain of relations: one operator less than sides."""

    kind: ClassVar[str] = "rel"
    operators: tuple[str, ...]
    sides: tuple[Node, ...]

    def children(self) -> tuple[Node, ...]:
        return self.sides


@dataclass(slots=True, unsafe_hash=True)
class SetOperation(Node):
    """`cup`, `cap` or `minus` of two sets."""

    kind: ClassVar[str] = "setop"
    operator: str
    left: Node
    right: Node

    def children(self) -> tuple[Node, ...]:
        return (self.left, self.right)


@dataclass(slots=True, unsafe_hash=True)
class Matrix(Node):
    """Rows of cells, all of one length."""

    kind: ClassVar[str] = "matrix"
    rows: tuple[tuple[Node, ...], ...]

    def children(self) -> tuple[Node, ...]:
        return cells(self.rows)


@dataclass(slots=True, unsafe_hash=True)
class Cases(Node):
    """A definition by cases or a system: rows of cells."""

    kind: ClassVar[str] = "cases"
    rows: tuple[tuple[Node, ...], ...]

    def children(self) -> tuple[Node, ...]:
        return cells(self.rows)


@dataclass(slots=True, unsafe_hash=True)
class Quantity(Node):
    """A value with its unit of measurement."""

    kind: ClassVar[str] = "unit"
    value: Node
    unit: str

    def children(self) -> tuple[Node, ...]:
        return (self.value,)


@dataclass(slots=True, unsafe_hash=True)
class Percent(Node):
    """`value %`."""

    kind: ClassVar[str] = "percent"
    value: Node

    def children(self) -> tuple[Node, ...]:
        return (self.value,)


@dataclass(slots=True, unsafe_hash=True)
class Degrees(Node):
    """`value °`."""

    kind: ClassVar[str] = "degree"
    value: Node

    def children(self) -> tuple[Node, ...]:
        return (self.value,)


@dataclass(slots=True, unsafe_hash=True)
class Based(Node):
    """Digits in a base that a subscript names: `52_8`."""

    kind: ClassVar[str] = "based"
    digits: str
    base: str


@dataclass(slots=True, unsafe_hash=True)
class Ratio(Node):
    """`a : b : c`."""

    kind: ClassVar[str] = "ratio"
    items: tuple[Node, ...]

    def children(self) -> tuple[Node, ...]:
        return self.items


@dataclass(slots=True, unsafe_hash=True)
class Words(Node):
    """Prose."""

    kind: ClassVar[str] = "word"
    text: str


@dataclass(slots=True, unsafe_hash=True)
class NamedSet(Node):
    """`\\mathbb{R}` and its like, by the letter."""

    kind: ClassVar[str] = "named set"
    name: str


WITHOUT_VALUE = (Sequence, Relation, Matrix, Cases, SetOperation, Ratio, Based, NamedSet, Words)
"""Kinds that are not one value: compared by their parts (`compass.verifier.comparing.structure`) and never by numbers."""


def number(value: fmpq | int) -> Number:
    """An exact number that was not written as a decimal."""
    return Number(value if isinstance(value, fmpq) else fmpq(value))


ZERO, ONE = number(0), number(1)
PI, IMAGINARY, INFINITY = Constant("pi"), Constant("i"), Constant("inf")
ABSENT = Words("")
"""A bound that a sum or integral is not given, and what empty braces hold."""


def negate(node: Node) -> Node:
    """The node with its sign turned; a number keeps its literal."""
    match node:
        case Number(value, literal):
            return Number(-value, None if literal is None else f"-{literal}")
        case Based(digits, base):
            return Based(digits[1:] if digits.startswith("-") else f"-{digits}", base)
        case _:
            return Negative(node)


def infinite_sign(node: Node) -> int:
    """1 for infinity, -1 for its negative, 0 for anything else."""
    match node:
        case Constant("inf"):
            return 1
        case Negative(operand):
            return -infinite_sign(operand)
        case Quantity(value):
            return infinite_sign(value)
    return 0


def difference(left: Node, right: Node) -> Node:
    """`left - right`."""
    return Sum((left, Negative(right)))


def quotient(top: Node, bottom: Node) -> Node:
    """`top / bottom`."""
    return Product((top, Inverse(bottom)))


def cells(rows: tuple[tuple[Node, ...], ...]) -> tuple[Node, ...]:
    """The cells of a matrix, row by row."""
    return tuple(cell for row in rows for cell in row)


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """A copy of a node with `change` made to every node directly below it."""

    def changed(part: Any) -> Any:
        if isinstance(part, Node):
            return change(part)
        return tuple(changed(item) for item in part) if isinstance(part, tuple) else part

    return type(node)(*(changed(getattr(node, field)) for field in node.__match_args__))


def substitute(node: Node, old: Node, new: Node) -> Node:
    """A copy of a node with one leaf put in the place of another, everywhere."""
    return new if node == old else rebuild(node, lambda part: substitute(part, old, new))


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
