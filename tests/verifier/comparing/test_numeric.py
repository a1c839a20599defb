"""Equality by values at several points."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flint import acb, arb

from compass.verifier import budget
from compass.verifier.comparing.numeric import approximate, choose_point, identical, needs_whole_numbers, same_equation
from compass.verifier.tree import Call, Node, OverBudget, Product, Symbol

Read = Callable[[str], Node]
POINTS = [1.147, -0.472, 8.92, 0.276, 0.757, 0.169, -115.68, -58.734, -202.627]
WHOLE = [6.0, 6.0, 6.0, 9.0, 9.0, 11.0, 10.0, 13.0, 11.0]
WIDE = [11.0, 6.0, 11.0, 14.0, 14.0, 31.0, 50.0, 53.0, 51.0]


@pytest.fixture(autouse=True)
def _fresh() -> None:
    budget.start()


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("x", "x+0", True), (r"\sin 2x", r"2\sin x\cos x", True), (r"\sin x", r"\cos x", False), (r"\sqrt{x^2}", "x", False), (r"\sqrt{x^2}", "|x|", True), (r"\ln x^2", r"2\ln x", True),
        ("(-1)^n", r"\cos(n\pi)", True), ("(-1)^{2n}", "1", True), (r"\sqrt8", r"2\sqrt2", True), (r"\sqrt8", "3", False), ("1", "1+10^{-300}", False), (r"\sqrt2", r"\sqrt2+10^{-200}", False),
        (r"\tanh 1000", "1", False), (r"e^{i\pi}", "-1", True), ("i", "-i", False), (r"\sqrt{-1}", "i", True), (r"\sqrt{-4}", r"2\sqrt{-1}", True), (r"\ln(-x^2)", r"\ln(-x^2)+0", True),
        (r"\max(x,1)", "1", None), (r"|x|", "y", None), (r"\lfloor x\rfloor", r"\lfloor x\rfloor+0", True), (r"\lfloor x\rfloor", "x", False), (r"\lfloor n/5\rfloor", r"\lfloor n/6\rfloor", False),
        (r"\sum_{k=1}^n k", r"\frac{n(n+1)}2", True), (r"\sum_{k=1}^n k", r"\frac{n(n-1)}2", False), (r"\infty", "1", None), (r"\arg(-1)", r"\pi", True), (r"\frac{x-x}{\sin(x-x)}", "1", None),
        (r"\sqrt{x}+10^{-300}", r"\sqrt{x}", False), (r"x^{1/3}x^{2/3}", "x", True), (r"\arcsin(x+2)", r"\arcsin(2+x)", True),
    ],
)  # fmt: skip
def test_expressions_that_agree_everywhere_are_identical(tree: Read, left: str, right: str, same: bool | None) -> None:
    assert identical(tree(left), tree(right)) is same


def test_the_number_of_parts_is_bounded() -> None:
    left = Product((Symbol("x"),) * 749)
    assert identical(left, Call("max", (Symbol("y"),) * 749)) is None
    with pytest.raises(OverBudget, match="too many parts"):
        identical(left, Call("max", (Symbol("y"),) * 750))


@pytest.mark.parametrize("text", [r"\sum_{k=1}^n k", r"\prod_{k=n}^{9} k", "(-1)^n", "(-2)^n", "n!!", r"2+(-1)^{n+1}x"])
def test_variables_stand_for_whole_numbers(tree: Read, text: str) -> None:
    assert needs_whole_numbers(tree(text))


@pytest.mark.parametrize("text", [r"\sum_{k=1}^9 kn", "2^n", "(-x)^n", "(-1)^2", "n!", r"\int_0^n x dx", r"\pi^n"])
def test_variables_stand_for_any_number(tree: Read, text: str) -> None:
    assert not needs_whole_numbers(tree(text))


def test_points_are_fixed_by_the_names_and_differ() -> None:
    def values(**kind: bool) -> list[float]:
        return [
            float(choose_point(frozenset("x"), index, **({"whole": False, "complex_field": False} | kind))["x"])
            for index in range(9)
        ]

    assert values() == values()
    assert [round(value, 3) for value in values()] == POINTS
    assert values(whole=True) == WHOLE
    assert values(whole=True, wide=True) == WIDE
    assert set(choose_point(frozenset("xy"), 0, whole=False, complex_field=False)) == {"x", "y"}
    assert (
        choose_point(frozenset("x"), 0, whole=False, complex_field=False)["x"]
        != choose_point(frozenset("y"), 0, whole=False, complex_field=False)["y"]
    )
    assert isinstance(choose_point(frozenset("x"), 0, whole=False, complex_field=True)["x"], acb)
    assert isinstance(choose_point(frozenset("x"), 0, whole=True, complex_field=False)["x"], arb)


def test_real_constants_have_an_approximate_value(tree: Read) -> None:
    assert float(approximate(tree(r"\pi+1"))) == pytest.approx(4.141592653589793)
    for text in ("x", "(1,2)", "i", r"\infty", r"\text{even}", "52_8", "1:2", r"\ln(-1)"):
        assert approximate(tree(text)) is None


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [(r"\sin x", r"2\sin x", True), (r"\sin x", r"-\sin x", True), (r"\sin x", r"\cos x", False), (r"x\sin x", r"\sin x", False), (r"\sin x", "0x", None), ("i", "x", None),
     (r"\ln(-x^2)", "x", None)],
)  # fmt: skip
def test_equations_may_differ_by_a_constant_factor(tree: Read, left: str, right: str, same: bool | None) -> None:
    assert same_equation(tree(left), tree(right)) is same
