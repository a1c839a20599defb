"""Parts of two answers, compared in order or in any order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compass.verifier.comparing.lists import SAME_PARTS, compare_in_any_order, compare_in_order, differ
from compass.verifier.tree import Node, Symbol, number
from compass.verifier.verdict import Finding

asked: list[tuple[Node, Node]] = []


def compare(one: Node, two: Node) -> Finding:
    """Names are equal where their first letters are."""
    asked.append((one, two))
    return (
        Finding(True, "text")
        if str(one.name)[0] == str(two.name)[0]
        else Finding(False, "text", f"{one.name} against {two.name}")
    )


@pytest.fixture(autouse=True)
def _fresh() -> None:
    asked.clear()


def names(text: str) -> tuple[Node, ...]:
    return tuple(Symbol(name) for name in text.split())


def test_in_order_the_first_difference_decides() -> None:
    assert compare_in_order((), (), compare) == compare_in_order(names("a b"), names("a1 b1"), compare) == SAME_PARTS
    assert compare_in_order(names("a b c"), names("a c b"), compare) == Finding(False, "text", "part 2: b against c")
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("gold", "answer", "same"),
    [("a b", "b a", True), ("a b", "b1 a1", True), ("a a b", "a b b", False), ("a1 a2 b", "b a3 a4", True), ("a", "b", False), ("a b c", "c1 b a1", True)],
)  # fmt: skip
def test_in_any_order_each_value_counts_as_often_as_it_stands(gold: str, answer: str, same: bool) -> None:
    assert compare_in_any_order(names(gold), names(answer), compare) == (
        SAME_PARTS if same else differ("a value that the other side lacks")
    )


def test_what_is_written_alike_needs_no_comparison(tree: Callable[[str], Node]) -> None:
    assert compare_in_any_order(names("a b c"), names("c a b"), compare) == SAME_PARTS
    assert (
        compare_in_any_order((number(2), tree("3/4"), tree("-5+1")), (tree("6/8"), tree("-4"), tree("2^1")), compare)
        == SAME_PARTS
    )
    assert asked == []
    compare_in_any_order(names("a b1 c"), names("c b2 a"), compare)
    assert asked == [(Symbol("b1"), Symbol("b2"))]


def test_long_lists_are_compared_as_they_stand() -> None:
    gold, answer = [f"a{index}" for index in range(14)], [f"a{index}x" for index in range(14)]
    gold[0], answer[13] = "b", "b1"
    assert compare_in_any_order(names(" ".join(gold)), names(" ".join(answer)), compare) == SAME_PARTS
    gold.append("c")
    answer.append("c1")
    assert compare_in_any_order(names(" ".join(gold)), names(" ".join(answer)), compare) == Finding(
        False, "text", "part 1: b against a0x"
    )
