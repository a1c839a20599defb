"""The expression tree: plain nested tuples `(kind, ...)`, small enough to hash, compare and cache.

| node | meaning |
|---|---|
| `("num", fmpq, literal)` | an exact number; `literal` is its decimal text, or None |
| `("sym", name)` | a variable or an unknown constant |
| `("const", name)` | `pi`, `e`, `i`, `inf`, `phi` |
| `("add", terms)`, `("mul", factors)` | sums and products; `neg` and `inv` carry subtraction and division |
| `("neg", a)`, `("inv", a)`, `("pow", a, b)`, `("pm", a, b, sign)` | |
| `("call", name, args)` | a known function, or an unknown one (`f(x)`) |
| `("big", name, variable, low, high, body)` | `sum`, `prod`, `int`, `lim` |
| `("seq", open, close, items)` | tuple or interval with its brackets; `open` is `{` for a set, `` for a bare list |
| `("rel", ops, sides)` | a chain of relations |
| `("setop", op, a, b)` | `cup`, `cap`, `minus` |
| `("matrix", rows)`, `("cases", rows)` | |
| `("unit", a, unit)`, `("percent", a)`, `("degree", a)`, `("based", digits, base)`, `("ratio", items)` | |
| `("word", text)`, `("named set", name)` | |
"""

# ruff: noqa: SIM905 - a word list reads better as words
from __future__ import annotations

from typing import Any

from flint import fmpq

Node = tuple[Any, ...]


class Unreadable(ValueError):
    """Text that is no answer this verifier can read; the message says what stopped it."""


class OverBudget(Unreadable):
    """An answer whose evaluation would cost more than the budgets allow."""


def number(value: fmpq | int, literal: str | None = None) -> Node:
    """An exact number; `literal` is the decimal text it was written as, if any."""
    return ("num", value if isinstance(value, fmpq) else fmpq(value), literal)


ZERO, ONE, TWO, HALF = number(0), number(1), number(2), number(fmpq(1, 2))


def negate(node: Node) -> Node:
    """The node with its sign turned; a number keeps its literal."""
    if node[0] == "num":
        return ("num", -node[1], None if node[2] is None else "-" + node[2])
    return ("neg", node)


def children(node: Node) -> list[Node]:
    """The nodes directly below."""
    found: list[Node] = []
    for part in node[1:]:
        if isinstance(part, tuple):
            if part and isinstance(part[0], str) and part[0] in KINDS:
                found.append(part)
            else:
                stack = list(part)
                while stack:
                    item = stack.pop()
                    if isinstance(item, tuple) and item and isinstance(item[0], str) and item[0] in KINDS:
                        found.append(item)
                    elif isinstance(item, tuple):
                        stack.extend(item)
    return found


KINDS = frozenset(
    "num sym const add mul neg inv pow pm call big seq rel setop matrix cases unit percent degree based ratio word".split()
) | {"named set"}


_LEAVES = frozenset(["num", "sym", "const", "word", "named set"])


_walked: dict[int, tuple[Node, list[Node]]] = {}
"""The latest walks by the node's identity: a comparison asks for the same one a dozen times."""


def walk(node: Node) -> list[Node]:
    """The node and everything below it, in no particular order; not to be changed by the caller."""
    known = _walked.get(id(node))
    if known is not None and known[0] is node:
        return known[1]
    found, stack = [], [node]
    while stack:
        item = stack.pop()
        head = item[0] if item else None
        if head.__class__ is str and head in KINDS:
            found.append(item)
            if head in _LEAVES:
                continue
        stack += [part for part in item if part.__class__ is tuple]
    if len(_walked) >= 32:
        _walked.clear()
    _walked[id(node)] = node, found
    return found


def depth(node: Node) -> int:
    """How many nodes stand on the longest way down."""
    deepest, level = 0, [node]
    while level:
        deepest += 1
        level = [child for item in level for child in children(item)]
    return deepest


def symbols(node: Node) -> frozenset[str]:
    """Names of the variables that occur."""
    return frozenset(item[1] for item in walk(node) if item[0] == "sym")


def contains(node: Node, *kinds: str) -> bool:
    """Whether a node of one of the kinds occurs."""
    return any(item[0] in kinds for item in walk(node))
