"""Exact algebra on trees."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from flint import fmpq

from compass.verifier import budget
from compass.verifier.comparing.exact import (
    FUNCTIONS,
    bits,
    check_size,
    integer_root,
    power,
    rational,
    rational_root,
    takes_arguments,
    to_quotient,
)
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
    with pytest.raises(Unreadable):
        to_quotient(tree(text), ("x",))


def test_the_terms_of_a_sum_are_bounded(tree: Read) -> None:
    assert rational(tree(r"\sum_{k=1}^{2000} 1")) == 2000
    assert rational(tree(r"\sum_{j=1}^{40} (\sum_{k=1}^{50} 1)")) == 2000
    for text in (r"\sum_{k=1}^{2001} 1", r"\sum_{j=1}^{40} (\sum_{k=1}^{51} 1)"):
        with pytest.raises(OverBudget):
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


def test_polynomials_are_bounded(tree: Read) -> None:
    with pytest.raises(OverBudget):
        to_quotient(tree("(a+b+c)^{12}(d+f+g)^{2}(h+j)^{2}"), tuple("abcdfghj"))
    with pytest.raises(OverBudget):
        to_quotient(tree("2^{2001}x"), ("x",))
    with pytest.raises(OverBudget):
        to_quotient(tree("x+4500!"), ("x",))
    assert to_quotient(tree("2^{2000}x"), ("x",)) is not None


def q(text: str) -> fmpq:
    top, _, bottom = text.partition("/")
    return fmpq(int(top), int(bottom or 1))


def test_a_fraction_is_as_long_as_its_numerator_and_denominator() -> None:
    assert [bits(q(text)) for text in ("0", "1", "-1", "8", "1/8", "7/9")] == [1, 2, 2, 5, 5, 7]


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (fmpq(2) ** 49_998, True),  # 49,999 bits and the denominator's one
        (fmpq(2) ** 49_999, False),
        (1 / fmpq(2) ** 19_998, True),
        (1 / fmpq(2) ** 19_999, False),
    ],
)
def test_whole_numbers_may_be_longer_than_fractions(value: fmpq, fits: bool) -> None:
    if fits:
        check_size(value, "a number")
    else:
        with pytest.raises(OverBudget):
            check_size(value, "a number")


@pytest.mark.parametrize(
    ("base", "exponent", "result"),
    [
        ("2", "10", "1024"), ("2", "-2", "1/4"), ("2/3", "3", "8/27"), ("2/3", "-3", "27/8"), ("-2", "3", "-8"), ("5", "0", "1"), ("0", "5", "0"),
        ("1", "1000000", "1"), ("-1", "1000001", "-1"), ("-1", "1000000", "1"), ("8", "2/3", "4"), ("-8", "1/3", "-2"), ("-8", "2/3", "4"),
        ("4", "1/2", "2"), ("4/9", "-1/2", "3/2"), ("2", "1/2", None), ("-4", "1/2", None), ("2", "1/64", None), ("1", "1/64", "1"), ("1", "1/65", None),
    ],
)  # fmt: skip
def test_powers(base: str, exponent: str, result: str | None) -> None:
    assert power(q(base), q(exponent)) == (None if result is None else q(result))


@pytest.mark.parametrize("exponent", ["0", "-1"])
def test_zero_has_positive_powers_alone(exponent: str) -> None:
    with pytest.raises(Unreadable):
        power(fmpq(0), q(exponent))


@pytest.mark.parametrize(
    ("base", "largest"), [("2", 16_666), ("3", 16_666), ("1/2", 6_666), ("-3", 16_666)]
)  # 50,000 and 20,000 bits over the bits of the base
def test_powers_are_bounded_by_size(base: str, largest: int) -> None:
    assert power(q(base), fmpq(largest)) == q(base) ** largest
    with pytest.raises(OverBudget):
        power(q(base), fmpq(largest + 1))
    with pytest.raises(OverBudget):
        power(q(base), fmpq(-6_667))


def test_whole_roots() -> None:
    assert [integer_root(value, 2) for value in (0, 1, 2, 4, 15, 16)] == [0, 1, None, 2, None, 4]
    assert integer_root(2**60, 3) == 2**20
    assert integer_root(4 ** (9_999), 2) == 2**9_999
    with pytest.raises(OverBudget):
        integer_root(4**10_000, 2)
    assert rational_root(q("8/27"), q("2/3")) == q("4/9")
    assert rational_root(q("8/26"), q("1/3")) is None
    assert rational_root(q("7/27"), q("1/3")) is None


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("factorial", "0", "1"), ("factorial", "5", "120"), ("factorial", "1/2", None), ("factorial2", "0", "1"), ("factorial2", "1", "1"),
        ("factorial2", "6", "48"), ("factorial2", "7", "105"), ("binom", "5 2", "10"), ("binom", "5 3", "10"), ("binom", "5 0", "1"), ("binom", "5 5", "1"),
        ("binom", "5 6", "0"), ("binom", "5 1/2", None), ("binom", "-5 2", None), ("binom", "5/2 2", None), ("binom", "5 -2", None), ("gcd", "12 18", "6"),
        ("gcd", "1/2 1/3", "1/6"), ("gcd", "4 6 9", "1"), ("lcm", "4 6", "12"), ("lcm", "1/2 1/3", "1"), ("lcm", "4 0", "0"), ("mod", "7 3", "1"),
        ("mod", "-7 3", "2"), ("mod", "7/2 1", "1/2"), ("mod", "6 3", "0"), ("sqrt", "9/4", "3/2"), ("sqrt", "2", None), ("sqrt", "-4", None), ("root", "8 3", "2"),
        ("root", "8 -3", "1/2"), ("root", "2 2", None), ("abs", "-3", "3"), ("floor", "-7/2", "-4"), ("ceil", "-7/2", "-3"), ("max", "1 3 2", "3"),
        ("min", "3 1 2", "1"), ("sgn", "-5", "-1"), ("sgn", "0", "0"), ("sgn", "5", "1"), ("conj", "3", "3"), ("re", "3", "3"), ("im", "3", "0"),
    ],
)  # fmt: skip
def test_functions_of_fractions(name: str, arguments: str, result: str | None) -> None:
    assert FUNCTIONS[name]([q(part) for part in arguments.split()]) == (None if result is None else q(result))


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("factorial", [-1], Unreadable), ("factorial", [4_501], OverBudget), ("factorial2", [fmpq(1, 2)], Unreadable), ("factorial2", [4_501], OverBudget),
        ("binom", [2**63, 2], OverBudget), ("binom", [2**62, 4_000], OverBudget), ("binom", [10_000, 4_501], OverBudget), ("mod", [5, 0], Unreadable),
        ("root", [5, 0], Unreadable),
    ],
)  # fmt: skip
def test_functions_have_bounds_and_holes(name: str, arguments: list, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        FUNCTIONS[name]([fmpq(value) for value in arguments])
    assert type(caught.value) is error


def test_functions_work_up_to_their_bounds() -> None:
    assert FUNCTIONS["factorial"]([fmpq(4_500)]) == math.factorial(4_500)
    assert FUNCTIONS["binom"]([fmpq(2**62), fmpq(1)]) == 2**62
    assert FUNCTIONS["binom"]([fmpq(9_000), fmpq(4_500)]) > 0
