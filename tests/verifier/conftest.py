"""Trees as short text, so that tests can say what a reading is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from compass.verifier.reading.grammar import parse
from compass.verifier.reading.normalise import normalise
from compass.verifier.tree import Constant, Node, Number, Symbol, Unreadable, Words


def brief(part: Any) -> str:
    """A node as `kind(fields)`: numbers as written, symbols by name, constants in `<>`, prose in quotes."""
    match part:
        case Number(value, literal):
            return literal or str(value)
        case Symbol(name):
            return name
        case Constant(name):
            return f"<{name}>"
        case Words(text):
            return f"'{text}'"
        case Node():
            return f"{part.kind}({', '.join(brief(getattr(part, field)) for field in part.__match_args__)})"
        case tuple():
            return f"[{', '.join(map(brief, part))}]"
    return str(part)


@pytest.fixture
def read() -> Callable[[str], str]:
    """Normalise and parse a text: its tree as short text, or the class of the error."""

    def reading(text: str) -> str:
        tree = parse(normalise(text))
        return type(tree).__name__ if isinstance(tree, Unreadable) else brief(tree)

    return reading


@pytest.fixture
def tree() -> Callable[[str], Node]:
    """Normalise and parse a text that can be read."""

    def reading(text: str) -> Node:
        node = parse(normalise(text))
        assert isinstance(node, Node), f"{text}: {node}"
        return node

    return reading


@pytest.fixture
def count_calls() -> Callable[[Callable[[], Any]], int]:
    """How many calls of functions something takes: work that is the same on every machine, and counted without a clock."""

    def counted(work: Callable[[], Any]) -> int:
        calls = 0

        def count(*_: Any) -> None:
            nonlocal calls
            calls += 1

        work()  # patterns are compiled and tables filled on first use
        sys.setprofile(count)
        try:
            work()
        finally:
            sys.setprofile(None)
        return calls

    return counted
