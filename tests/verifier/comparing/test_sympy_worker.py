"""What sympy is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sympy

from compass.verifier.comparing.sympy_client import as_json
from compass.verifier.comparing.sympy_worker import MAX_EXPONENT, MAX_FACTORIAL, Refused, build, compare
from compass.verifier.tree import Node

Read = Callable[[str], Node]


X = sympy.Symbol("x", real=True)


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("1/2", sympy.Rational(1, 2)), ("x", X), (r"\pi", sympy.pi), ("e", sympy.E), ("i", sympy.I), (r"\infty", sympy.oo), ("x+2", X + 2), ("2x", 2 * X), ("-(x)", -X), ("1/x", 1 / X),
        ("x^2", X**2), (r"\sin x", sympy.sin(X)), (r"\arctan x", sympy.atan(X)), (r"\ln x", sympy.log(X)), ("|x|", sympy.Abs(X)), (r"\lceil x\rceil", sympy.ceiling(X)),
        (r"\binom{5}{2}", sympy.Integer(10)), (r"\sqrt[3]{x}", sympy.root(X, 3)), ("5!", sympy.Integer(120)), ("sgn(x)", sympy.sign(X)), ("arsinh x", sympy.asinh(X)),
        (r"\int_0^1 x dx", sympy.Integral(X, (X, 0, 1))), (r"\int x dx", sympy.Integral(X, X)), (r"\lim_{x\to 2} x^2", sympy.Integer(4)),
    ],
)  # fmt: skip
def test_trees_are_rebuilt(tree: Read, text: str, expression: Any) -> None:
    assert build(sympy, as_json(tree(text)), {}) == expression


def test_indices_of_sums_are_whole_numbers(tree: Read) -> None:
    k = sympy.Symbol("k", integer=True)
    assert build(sympy, as_json(tree(r"\sum_{k=1}^{5} k")), {}) == sympy.Sum(k, (k, 1, 5))
    assert build(sympy, as_json(tree(r"\prod_{k=1}^{5} k")), {}) == sympy.Product(k, (k, 1, 5))


@pytest.mark.parametrize(
    "text",
    [
        "(1,2)",
        "f(x)",
        r"\gcd(x,y)",
        f"2^{{{MAX_EXPONENT + 1}}}",
        f"{MAX_FACTORIAL + 1}!",
        r"\sum 5",
        r"\bigcup_{n=1}^2 n",
        r"\text{even}",
    ],
)
def test_some_trees_are_refused(tree: Read, text: str) -> None:
    with pytest.raises(Refused):
        build(sympy, as_json(tree(text)), {})


def test_powers_and_factorials_are_built_up_to_their_bounds(tree: Read) -> None:
    assert build(sympy, as_json(tree(f"2^{{{MAX_EXPONENT}}}")), {}) == 2**MAX_EXPONENT
    assert build(sympy, as_json(tree(f"{MAX_FACTORIAL}!")), {}) == sympy.factorial(MAX_FACTORIAL)
    assert (MAX_EXPONENT, MAX_FACTORIAL) == (1_000, 200)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (r"\int_0^1 x dx", "1/2", True), (r"\int_0^1 x dx", "1/3", False), (r"\int 2x dx", "x^2", True), (r"\int 2x dx", "x^2+5", True), (r"\int 2x dx", "x^3", None),
        (r"\sum_{k=1}^{\infty} 2^{-k}", "1", True), (r"\lim_{x\to 0} \frac{\sin x}{x}", "1", True), ("x", "y", False), ("x", "x", True),
        (r"\sin^2x+\cos^2x", "1", True),
    ],
)  # fmt: skip
def test_two_trees_are_compared(tree: Read, left: str, right: str, same: bool | None) -> None:
    assert compare(sympy, as_json(tree(left)), as_json(tree(right))) is same
