"""Values of expressions at a point, as balls."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator

import pytest
from flint import acb, arb

from compass.verifier import budget
from compass.verifier.comparing.evaluator import (
    MAX_SPAN,
    PRECISION,
    Evaluator,
    Undefined,
    working_precision,
)
from compass.verifier.tree import Node, OverBudget, Unreadable

Read = Callable[[str], Node]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    budget.start()
    with working_precision(PRECISION):
        yield


REAL = [
    ("2+3x", 8), ("-x", -2), ("1/x", 0.5), ("x^3", 8), ("x^{-1}", 0.5), ("x^{-3}", 0.125), ("(-3)^x", 9), ("x^{1/2}", math.sqrt(2)), ("(-8)^{1/3}", -2), ("(-8)^{2/3}", 4), ("x^x", 4), (r"x^{\pi}", 2**math.pi),
    ("0^x", 0), (r"0^{\pi}", 0), (r"\pi", math.pi), ("e", math.e), (r"50\%", 0.5), (r"180^\circ", math.pi), (r"5\text{ cm}", 5), (r"\sin x", math.sin(2)),
    (r"\cos x", math.cos(2)), (r"\tan x", math.tan(2)), (r"\cot x", 1 / math.tan(2)), (r"\sec x", 1 / math.cos(2)), (r"\csc x", 1 / math.sin(2)),
    (r"\sinh x", math.sinh(2)), (r"\cosh x", math.cosh(2)), (r"\tanh x", math.tanh(2)), ("coth x", 1 / math.tanh(2)), ("sech x", 1 / math.cosh(2)),
    ("csch x", 1 / math.sinh(2)), (r"\exp x", math.exp(2)), ("erf(x)", math.erf(2)), ("gamma(5)", 24), (r"\arcsin\frac12", math.asin(0.5)),
    (r"\arccos\frac12", math.acos(0.5)), (r"\arctan x", math.atan(2)), ("arccot x", math.pi / 2 - math.atan(2)), ("arcsec x", math.acos(0.5)),
    ("arccsc x", math.asin(0.5)), ("arsinh x", math.asinh(2)), ("arcosh x", math.acosh(2)), (r"artanh\frac12", math.atanh(0.5)), (r"\ln x", math.log(2)),
    (r"\log x", math.log(2)), (r"\log_3 x", math.log(2, 3)), (r"\lg x", math.log10(2)), (r"\sqrt x", math.sqrt(2)), (r"\sqrt[3]x", 2 ** (1 / 3)),
    (r"\sqrt[3]{-x}", -(2 ** (1 / 3))), ("cbrt x", 2 ** (1 / 3)), ("|x-5|", 3), (r"\lfloor \pi x\rfloor", 6), (r"\lceil \pi x\rceil", 7), (r"sgn(-\pi)", -1),
    ("x!", 2), (r"\frac12!", math.gamma(1.5)), (r"\binom{x}{1/2}", math.gamma(3) / math.gamma(1.5) / math.gamma(2.5)), (r"(\pi x) mod 2", 2 * math.pi - 6),
    (r"\max(x,\pi,1)", math.pi), (r"\min(x,\pi,1)", 1), ("re(x)", 2), ("im(x)", 0), ("conj(x)", 2), (r"\sum_{k=1}^3 xk", 12), (r"\prod_{k=1}^3 xk", 48),
    (r"\gcd(\pi,\pi)", math.pi), ("7!!", 105), (r"\gcd(4,6)", 2),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), REAL)
def test_real_values(tree: Read, text: str, value: float) -> None:
    assert float(Evaluator({"x": arb(2)}).value(tree(text))) == pytest.approx(value, abs=1e-12)


COMPLEX = [
    ("i", 1j), ("x+i", 2 + 1j), ("i^2", -1), (r"\sqrt{-4}", 2j), ("(-8)^{1/3}", 2 * cmath.exp(1j * math.pi / 3)), (r"\ln(-1)", 1j * math.pi), (r"\arg(i)", math.pi / 2),
    ("re(3+4i)", 3), ("im(3+4i)", 4), ("conj(3+4i)", 3 - 4j), ("|3+4i|", 5), (r"cis(\pi)", -1), (r"\lfloor\pi\rfloor", 3), (r"\max(x,\pi)", math.pi),
    (r"\log_i x", cmath.log(2) / cmath.log(1j)), (r"\sqrt[3]{-8}", 2 * cmath.exp(1j * math.pi / 3)), ("x^i", 2**1j),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), COMPLEX)
def test_complex_values(tree: Read, text: str, value: complex) -> None:
    found = acb(Evaluator({"x": acb(2)}, complex_field=True).value(tree(text)))
    assert complex(float(found.real), float(found.imag)) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    "text",
    ["i", r"\infty", r"\ln(-x)", r"\log_{-2} x", r"\sqrt[x-2]{3}", r"\arg x", r"(-x)^{1/2}", r"(-x)^{\pi}", r"\arccos x", r"\sqrt[1001]{\pi}",
     r"\frac{1}{\sin\pi}", r"\sqrt[-2]{\pi}", r"\sum_{k=1}^{\pi} k"],
)  # fmt: skip
def test_where_there_is_no_real_value(tree: Read, text: str) -> None:
    with pytest.raises(Undefined):
        Evaluator({"x": arb(2)}).value(tree(text))


def test_complex_numbers_have_no_floor_and_no_power_of_zero(tree: Read) -> None:
    for text in (r"\lfloor i\rfloor", r"\max(i,1)", "(x-2)^i"):
        with pytest.raises(Undefined):
            Evaluator({"x": acb(2)}, complex_field=True).value(tree(text))


@pytest.mark.parametrize("text", ["(1,2)", r"\pm 2", "1/(x-2)", r"\sin(x,x)", r"\max\{\}", r"\int_0^1 y dy", r"\sum 3"])
def test_what_has_no_value_anywhere(tree: Read, text: str) -> None:
    with pytest.raises(Unreadable):
        Evaluator({"x": arb(2)}).value(tree(text))


@pytest.mark.parametrize("text", [r"\pi^{10000}", "x^{x^{60}}", r"e^{9000\pi}", r"\exp(4001x)", r"\sinh(4001x)", r"erf(64)", r"\sin(2^{12001})", r"(\pi+9000)!",
                                  "3^{8000}+3^{8000}", r"\sum_{k=1}^{2002} \pi"])  # fmt: skip
def test_magnitudes_and_terms_are_bounded(tree: Read, text: str) -> None:
    with pytest.raises(OverBudget):
        Evaluator({"x": arb(2)}).value(tree(text))


def test_the_span_adds_up_the_magnitudes_met(tree: Read) -> None:
    def span(text: str) -> int:
        evaluator = Evaluator({"x": arb(2)})
        evaluator.value(tree(text))
        return evaluator.span

    assert [span(text) for text in ("5", "5+5", "x^3", "x^{-3}", r"\exp x", r"\sin 8", "erf(x)", r"x^{\pi}")] == [
        4,
        8,
        6,
        6,
        6,
        8,
        12,
        3,
    ]
    assert MAX_SPAN == 12_000


def test_unknown_functions_depend_on_name_and_arguments_alone(tree: Read) -> None:
    values = [Evaluator({"x": arb(2)}).value(tree(text)) for text in ("f(x)", "f(2)", "g(x)", "f(x+1)", "f(x,x)")]
    assert values[0] == values[1]
    assert len({str(value) for value in values}) == 4
    assert all(0 < value < 2 for value in values)
