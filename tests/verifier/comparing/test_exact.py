"""Exact algebra on trees."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flint import fmpq

from compass.verifier import budget
from compass.verifier.comparing.exact import rational, same_rational_function, same_zeros, takes_arguments, to_quotient
from compass.verifier.tree import Node, OverBudget, Unreadable

Read = Callable[[str], Node]


@pytest.fixture(autouse=True)
def _fresh() -> None:
    budget.start()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", "5"), ("1+2+3", "6"), ("2*3*4", "24"), ("-5x", None), ("-(5)", "-5"), ("1/4", "1/4"), ("x", None), ("1+x", None), ("2x", None), ("1/x", None),
        ("2^3", "8"), ("2^x", None), ("x^2", None), ("2^{1/2}", None), (r"\pi", None), (r"\sqrt4", "2"), (r"\sin 0", None), (r"\gcd(4,6)", "2"), ("f(2)", None),
        (r"\max(1,x)", None), ("|x-x-3|", "3"), ("|2x-x|", None), (r"\sum_{k=1}^4 k", "10"), (r"\prod_{k=1}^4 k", "24"), (r"\sum_{k=3}^2 k", "0"),
        (r"\prod_{k=3}^2 k", "1"), (r"\sum_{k=1}^n k", None), (r"\sum_{k=1/2}^2 k", None), (r"\sum_{k=1}^{5/2} k", None), (r"\sum_{k=1}^2 x", None),
        (r"\sum_{j=1}^3 (\sum_{k=1}^{j} k)", "10"), (r"\int_0^1 x dx", None), (r"\sum 3", None), (r"5\text{ cm}", None), (r"5\%", None),
        (r"\lfloor\frac72\rfloor", "3"), ("abs(1,2)", None), (r"\log(8,2)", None),
    ],
)  # fmt: skip
def test_constants_whose_parts_are_rational(tree: Read, text: str, value: str | None) -> None:
    found = rational(tree(text))
    assert (None if found is None else str(found)) == value


def test_variables_may_be_bound(tree: Read) -> None:
    assert rational(tree("x+1"), {"x": fmpq(2)}) == 3
    assert rational(tree("|x|"), {"x": fmpq(-2)}) == 2
    assert rational(tree("x+y"), {"x": fmpq(2)}) is None


@pytest.mark.parametrize("text", ["1/0", "1/(1-1)", r"\frac{2}{0}x"])
def test_nothing_divides_by_zero(tree: Read, text: str) -> None:
    with pytest.raises(Unreadable, match="a division by zero"):
        to_quotient(tree(text), ("x",))


def test_the_terms_of_a_sum_are_bounded(tree: Read) -> None:
    assert rational(tree(r"\sum_{k=1}^{2000} 1")) == 2000
    assert rational(tree(r"\sum_{j=1}^{40} (\sum_{k=1}^{50} 1)")) == 2000
    for text in (r"\sum_{k=1}^{2001} 1", r"\sum_{j=1}^{40} (\sum_{k=1}^{51} 1)"):
        with pytest.raises(OverBudget, match="more than 2000 terms"):
            rational(tree(text))


def test_sums_are_worked_out_once_in_a_verdict(tree: Read) -> None:
    node = tree(r"\sum_{k=1}^3 k^2")
    assert rational(node) == 14
    once = budget.spent()
    assert rational(node) == 14
    assert budget.spent() == once > (0, 0)


def test_functions_take_a_fixed_number_of_arguments() -> None:
    assert [takes_arguments("sin", count) for count in (0, 1, 2)] == [False, True, False]
    assert [takes_arguments("log", count) for count in (0, 1, 2, 3)] == [False, True, True, False]
    assert [takes_arguments("mod", count) for count in (1, 2, 3)] == [False, True, False]
    assert [takes_arguments("max", count) for count in (0, 1, 200, 201)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("x^2-1", "(x-1)(x+1)", True), ("x^2-1", "(x-1)^2", False), (r"\frac{x^2-1}{x-1}", "x+1", True), (r"\frac1x+\frac1y", r"\frac{x+y}{xy}", True),
        (r"\frac1x+\frac1x", r"\frac2x", True), ("-x", "x", False), ("x^{-2}", r"\frac1{x^2}", True), ("x^2", "x", False), ("1", "2", None),
        (r"\sin x", "x", None), ("x^y", "x", None), ("x^{1/2}", "x", None), (r"x+\sqrt4", "x+2", True), ("x+5!", "x+120", True), ("x^{64}", "x^{63}x", True),
        ("(x+1)^{12}", "(x+1)^{11}(x+1)", True), ("(x+y)^3", "x^3+3x^2y+3xy^2+y^3", True), ("x^{257}", "x^{256}x", None), ("x^{256}", "x^{255}x", True),
        ("(x+y+z)^{13}", "x", None), ("a+b+c+d+f+g+h+j+k+l+m+n", "n+m+l+k+j+h+g+f+d+c+b+a", True), ("a+b+c+d+f+g+h+j+k+l+m+n+o", "a", None),
    ],
)  # fmt: skip
def test_rational_functions_are_compared_exactly(tree: Read, left: str, right: str, same: bool | None) -> None:
    assert same_rational_function(tree(left), tree(right)) is same


@pytest.mark.parametrize(
    ("left", "right", "same", "same_sign"),
    [
        ("x-1", "2x-2", True, True), ("x-1", "2-2x", True, False), ("x-1", "x-2", False, False), ("x-x", "y-y", True, True), ("x-x", "x", False, False),
        (r"\frac{x-1}{2}", "x-1", True, True), ("1", "2", None, None),
        (r"\sin x", "x", None, None),
    ],
)  # fmt: skip
def test_expressions_have_the_same_zeros(
    tree: Read, left: str, right: str, same: bool | None, same_sign: bool | None
) -> None:
    assert same_zeros(tree(left), tree(right)) is same
    assert same_zeros(tree(left), tree(right), signed=True) is same_sign


def test_polynomials_are_bounded(tree: Read) -> None:
    with pytest.raises(OverBudget, match="more than 600 terms"):
        to_quotient(tree("(a+b+c)^{12}(d+f+g)^{2}(h+j)^{2}"), tuple("abcdfghj"))
    with pytest.raises(OverBudget, match="a power too large to compute"):
        to_quotient(tree("2^{2001}x"), ("x",))
    with pytest.raises(OverBudget, match="a coefficient too long to compute"):
        to_quotient(tree("x+4500!"), ("x",))
    assert to_quotient(tree("2^{2000}x"), ("x",)) is not None
