"""Nodes are values; copies with parts replaced; what a tree holds."""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from compass.verifier.tree import (
    ABSENT,
    ONE,
    ZERO,
    Call,
    Constant,
    Inverse,
    Matrix,
    Negative,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Quantity,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Words,
    cells,
    contains,
    depth,
    difference,
    negate,
    number,
    quotient,
    rebuild,
    substitute,
    symbols,
    walk,
)

X, Y = Symbol("x"), Symbol("y")
EVERY_KIND = [
    "1", "x", r"\pi", "x+y", "xy", "-x", "x^y", r"x\pm y", r"\sin x", r"\sum_{k=1}^n k", "(x,y)", "x=y", r"A\cup B",
    r"\begin{pmatrix}x&y\\z&w\end{pmatrix}", r"\begin{cases}x&y\\z&w\end{cases}", r"x\text{ cm}", r"x\%", r"x^\circ", "52_8", "x:y", r"\text{even}", r"\mathbb{R}",
]  # fmt: skip


def test_nodes_of_one_kind_and_content_are_equal_and_of_another_kind_never() -> None:
    assert Sum((X, Y)) == Sum((Symbol("x"), Symbol("y")))
    assert hash(Sum((X, Y))) == hash(Sum((Symbol("x"), Symbol("y"))))
    assert Sum((X, Y)) != Product((X, Y))
    assert Negative(X) != Inverse(X)
    assert Number(fmpq(1), "1.0") != Number(fmpq(1))


def test_small_constructors() -> None:
    assert number(3) == Number(fmpq(3), None) == number(fmpq(3))
    assert (ZERO.value, ONE.value, ABSENT) == (0, 1, Words(""))
    assert negate(number(3)) == number(-3)
    assert negate(Number(fmpq(5, 2), "2.5")) == Number(fmpq(-5, 2), "-2.5")
    assert negate(X) == Negative(X)
    assert difference(X, Y) == Sum((X, Negative(Y)))
    assert quotient(X, Y) == Product((X, Inverse(Y)))
    assert cells(((X, Y), (ONE, ZERO))) == (X, Y, ONE, ZERO)


def test_every_node_says_what_is_below_it(tree: Callable[[str], Node]) -> None:
    assert {type(tree(text)).__name__: len(tree(text).children()) for text in EVERY_KIND} == {
        "Number": 0, "Symbol": 0, "Constant": 0, "Based": 0, "Words": 0, "NamedSet": 0, "Negative": 1, "Call": 1, "Quantity": 1, "Percent": 1,
        "Degrees": 1, "Sum": 2, "Product": 2, "Power": 2, "PlusMinus": 2, "Sequence": 2, "Relation": 2, "SetOperation": 2, "Ratio": 2,
        "BigOperator": 3, "Matrix": 4, "Cases": 4,
    }  # fmt: skip
    assert Inverse(X).children() == (X,)


def test_walking_finds_every_node_once(tree: Callable[[str], Node]) -> None:
    assert len(walk(tree("x+2y"))) == 5
    assert len(walk(tree(r"\begin{pmatrix}1&2\\3&4\end{pmatrix}"))) == 5
    assert walk(X) == [X]
    assert symbols(tree(r"x+\sin(yx)+\pi")) == {"x", "y"}
    assert symbols(tree("5")) == symbols(tree(r"2\pi")) == frozenset()
    assert symbols(X) == {"x"}


def test_a_tree_contains_its_own_kind_and_those_below(tree: Callable[[str], Node]) -> None:
    node = tree(r"(x, 5\%)")
    assert contains(node, Sequence)
    assert contains(node, Percent)
    assert contains(node, Quantity, Number)
    assert not contains(node, Quantity, Words)
    assert contains(ONE, Number)
    assert not contains(ONE, Symbol, Constant)


def test_many_trees_may_be_asked_about_in_turn() -> None:
    nodes = [Sum((Symbol(f"x_{index}"), ONE)) for index in range(100)]
    assert [symbols(node) for node in nodes + nodes] == [frozenset([f"x_{index}"]) for index in range(100)] * 2


def test_depth_counts_the_nodes_on_the_longest_way(tree: Callable[[str], Node]) -> None:
    assert [depth(tree(text)) for text in ("1", "x+1", "x+2y", r"\frac12", "((x))")] == [1, 2, 3, 3, 1]


def test_a_copy_has_its_direct_parts_changed() -> None:
    seven = lambda part: number(7)  # noqa: E731
    assert rebuild(Power(X, Y), seven) == Power(number(7), number(7))
    assert rebuild(Matrix(((X, Y),)), seven) == Matrix(((number(7), number(7)),))
    assert rebuild(Relation(("=",), (X, Y)), seven) == Relation(("=",), (number(7), number(7)))
    assert rebuild(Call("sin", (Sum((X, Y)),)), seven) == Call("sin", (number(7),))
    assert rebuild(X, seven) == X


def test_one_leaf_is_put_in_the_place_of_another_everywhere() -> None:
    assert substitute(Sum((X, Product((X, Y)))), X, ONE) == Sum((ONE, Product((ONE, Y))))
    assert substitute(Y, X, ONE) == Y
