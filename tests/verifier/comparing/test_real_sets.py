"""Sets of real numbers, brought to one form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from compass.verifier import budget
from compass.verifier.comparing.real_sets import compare_ends, complement, find_pieces, intersect, same_pieces, union
from compass.verifier.tree import Node, Unreadable

Read = Callable[[str], Node]


@pytest.fixture(autouse=True)
def _fresh() -> None:
    budget.start()


@pytest.fixture
def shown(tree: Read, brief: Callable[[Any], str]) -> Callable[[str], str | None]:
    """A set as intervals: `(1, 2] [3, 3]`."""

    def showing(text: str) -> str | None:
        parts = find_pieces(tree(text))
        if parts is None:
            return None
        return " ".join(
            f"{'(['[part.low_closed]}{brief(part.low)}, {brief(part.high)}{')]'[part.high_closed]}" for part in parts
        )

    return showing


ALL = "(neg(<inf>), <inf>)"


@pytest.mark.parametrize(
    ("text", "intervals"),
    [
        (r"\mathbb{R}", ALL), (r"\mathbb{Z}", None), ("5", None), ("(1,2)", "(1, 2)"), ("[1,2)", "[1, 2)"), ("(1,2]", "(1, 2]"), ("[1,2]", "[1, 2]"),
        ("[1,1]", "[1, 1]"), ("[1,1)", ""), ("(1,1]", ""), (r"[1,\infty]", "[1, <inf>)"), (r"[-\infty,1]", "(neg(<inf>), 1]"), ("(a,2)", None), ("(2,a)", None), ("(1,2,3)", None),
        (r"\langle 1,2\rangle", None), (r"\{2,1\}", "[1, 1] [2, 2]"), (r"\{1,1\}", "[1, 1]"), (r"\{x\}", None), (r"\{(1,2)\}", None), (r"\{\}", ""), ("(1,2),(3,4)", "(1, 2) (3, 4)"),
        ("(3,4),(1,2)", "(1, 2) (3, 4)"), ("(1,2),3", None), (r"(1,2)\cup(3,4)", "(1, 2) (3, 4)"), (r"(1,3)\cup(2,4)", "(1, 4)"), (r"(1,2)\cup[2,3)", "(1, 3)"), (r"(1,2]\cup(2,3)", "(1, 3)"),
        (r"(1,2)\cup(2,3)", "(1, 2) (2, 3)"), (r"[1,2]\cup(1,2)", "[1, 2]"), (r"(1,2)\cup[1,2]", "[1, 2]"), (r"(1,2)\cup(1,2]", "(1, 2]"), (r"(1,4)\cup(2,3)", "(1, 4)"),
        (r"(1,3)\cap(2,4)", "(2, 3)"), (r"[1,3]\cap[3,4]", "[3, 3]"), (r"[1,3)\cap[3,4]", ""), (r"(1,3)\cap[1,3]", "(1, 3)"), (r"[1,3]\cap(1,3)", "(1, 3)"),
        (r"(0,3)\setminus\{1\}", "(0, 1) (1, 3)"), (r"[0,3]\setminus(1,2)", "[0, 1] [2, 3]"), (r"[0,3]\setminus[1,2]", "[0, 1) (2, 3]"), (r"\mathbb{R}\setminus(0,\infty)", "(neg(<inf>), 0]"),
        (r"(1,2)\cup A", None), ("x<1", "(neg(<inf>), 1)"), (r"x\le1", "(neg(<inf>), 1]"), ("x>1", "(1, <inf>)"), (r"x\ge1", "[1, <inf>)"), ("1<x", "(1, <inf>)"), (r"1\ge x", "(neg(<inf>), 1]"),
        (r"x\ne1", "(neg(<inf>), 1) (1, <inf>)"), ("x=1", None), ("1<x<2", "(1, 2)"), (r"1\le x<2", "[1, 2)"), ("2>x>1", "(1, 2)"), ("x=y<2", None), ("2x<4", "(neg(<inf>), 2)"),
        ("-2x<4", "(-2, <inf>)"), ("2x+1<x+3", "(neg(<inf>), 2)"), (r"-x\le-1", "[1, <inf>)"), (r"\frac{x}{2}>1", "(2, <inf>)"), ("x^2<4", None), ("x+y<1", None), (r"\pi x<1", None),
        ("f(x)<1", "(neg(<inf>), 1)"), (r"\sin x<1", None), ("W(n)<1", "(neg(<inf>), 1)"), ("|x|<2", "(-2, 2)"), (r"|x|\le2", "[-2, 2]"), ("|x|>2", "(neg(<inf>), -2) (2, <inf>)"),
        (r"|x|\ge2", "(neg(<inf>), -2] [2, <inf>)"), ("|x-1|<2", "(-1, 3)"), ("|x|<-1", ""), ("2>|x|", "(-2, 2)"), (r"|x|\ne2", None), ("|x+y|<2", None), (r"x\in(1,2)", "(1, 2)"),
        (r"2x\in(1,2)", None), ("x<y", None), ("1<2", None), (r"x<\sqrt2", "(neg(<inf>), call(sqrt, [2]))"), (r"x<1\text{ cm}", "(neg(<inf>), unit(1, cm))"), ("(x<1)", "(neg(<inf>), 1)"),
        (r"1\text{ m}<x<200\text{ cm}", "(unit(1, m), unit(200, cm))"), (r"(50\%,1)", "(percent(50), 1)"), ("2=x<3", "[2, 2]"), (r"\{x<1\}", None),
    ],
)  # fmt: skip
def test_sets_as_intervals_in_rising_order(
    shown: Callable[[str], str | None], text: str, intervals: str | None
) -> None:
    assert shown(text) == intervals


@pytest.mark.parametrize(
    ("left", "right", "sign"),
    [
        ("1", "2", -1), ("2", "1", 1), ("1", r"\frac22", 0), ("1", r"\infty", -1), (r"-\infty", "1", -1), (r"\infty", r"-\infty", 1), (r"\infty", r"\infty", 0), (r"\sqrt2", r"\sqrt3", -1),
        (r"\sqrt3", r"\sqrt2", 1), (r"\sqrt8", r"2\sqrt2", 0), (r"1\text{ m}", r"2\text{ cm}", 1), (r"1\text{ m}", r"100\text{ cm}", 0), (r"1\text{ m}", "2", -1), (r"\infty\text{ m}", "2", 1),
        (r"1\text{ m}", r"1\text{ unit}", 0), (r"50\%", "1", -1), (r"60^\circ", "2", -1),
    ],
)  # fmt: skip
def test_ends_have_an_order(tree: Read, left: str, right: str, sign: int) -> None:
    assert compare_ends(tree(left), tree(right)) == sign


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ("i", "1", "an interval whose ends have no order"),
        (r"1\text{ m}", r"1\text{ s}", "an interval whose ends measure different things"),
    ],
)
def test_some_ends_have_none(tree: Read, left: str, right: str, message: str) -> None:
    with pytest.raises(Unreadable, match=message):
        compare_ends(tree(left), tree(right))


def test_ends_of_other_dimensions_are_different(tree: Read) -> None:
    hours, metres = find_pieces(tree(r"x<3\text{ hours}")), find_pieces(tree(r"x<3\text{ metres}"))
    assert not same_pieces(hours, metres)
    assert same_pieces(hours, find_pieces(tree(r"x<180\text{ minutes}")))
    assert same_pieces(hours, find_pieces(tree("x<3")))
    assert not same_pieces(hours, find_pieces(tree(r"x\le 3")))
    assert not same_pieces(hours, find_pieces(tree("x<4")))
    assert not same_pieces(hours, find_pieces(tree("1<x<3")))
    assert not same_pieces(find_pieces(tree("1<x<3")), find_pieces(tree("1<x<3,5<x<6")))
    assert not same_pieces(find_pieces(tree("1<x<3")), find_pieces(tree(r"1\le x<3")))


def test_union_intersection_and_complement_of_nothing(tree: Read) -> None:
    line = find_pieces(tree(r"\mathbb{R}"))
    assert union([]) == intersect(line, []) == complement(line) == []
    assert complement([]) == intersect(line, line) == line
