"""What a LaTeX command or a known name starts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

COMMANDS = [
    (r"\frac12", "mul([1, inv(2)])"),
    (r"\frac{1}{2}", "mul([1, inv(2)])"),
    (r"\frac ab", "mul([a, inv(b)])"),
    (r"\frac1{23}", "mul([1, inv(23)])"),
    (r"\frac{1}2", "mul([1, inv(2)])"),
    (r"\pi", "<pi>"),
    (r"\infty", "<inf>"),
    ("inf", "<inf>"),
    ("exponentialE", "mul([<e>, x, p, o, n, <e>, n, t, <i>, a, l, E])"),
    (r"\alpha", "alpha"),
    (r"\varphi", "phi"),
    (r"\varepsilon_1", "epsilon_1"),
    (r"\Gamma", "Gamma"),
    (r"\gamma", "gamma"),
    (r"\gamma(5)", "call(gamma, [5])"),
    (r"\Gamma(5)", "call(gamma, [5])"),
    (r"\overline{AB}", "bar(AB)"),
    (r"\bar x", "bar(x)"),
    (r"\vec v", "vec(v)"),
    (r"\angle A", "angle(A)"),
    (r"\widehat{ABC}", "widehat(ABC)"),
    (r"\boxed{5}+1", "add([5, 1])"),
    (r"\emptyset", "seq({, }, [])"),
    (r"\varnothing", "seq({, }, [])"),
    (r"\mathbb{R}", "named set(R)"),
    (r"\mathbb R", "named set(R)"),
    (r"\mathbb{Z}", "named set(Z)"),
    (r"\mathbb{12}", r"Unreadable: a letter is expected after \mathbb"),
    (r"\ldots", r"\ldots"),
    (r"\ell", r"\ell"),
    (r"\odot", r"\odot"),
    (r"\dollar5", "unit(5, dollar)"),
    (r"\euro 5x", "mul([unit(5, euro), x])"),
    (r"\approx 5", "5"),
    (r"\simeq x", "x"),
    (r"\le 5", r"Unreadable: cannot read \le"),
    (r"\foo", r"Unreadable: cannot read \foo"),
    (r"\star", r"\star"),
    (r"\nabla f", r"mul([\nabla, f])"),
    (r"\hbar", r"\hbar"),
    (r"\triangle ABC", "mul([triangle(A), B, C])"),
]


@pytest.mark.parametrize(("text", "tree"), COMMANDS)
def test_commands(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


FUNCTIONS = [
    (r"\sin x", "call(sin, [x])"),
    (r"\sin 2x", "call(sin, [mul([2, x])])"),
    (r"\sin x+1", "add([call(sin, [x]), 1])"),
    (r"\sin x\cos x", "mul([call(sin, [x]), call(cos, [x])])"),
    (r"\sin^2 x", "pow(call(sin, [x]), 2)"),
    (r"\sin^{-1} x", "call(arcsin, [x])"),
    (r"\sin^{-2}x", "pow(call(sin, [x]), -2)"),
    (r"\tan^{-1}(x)", "call(arctan, [x])"),
    (r"\log_2 8", "call(log, [8, 2])"),
    (r"\log_{10}x", "call(log, [x, 10])"),
    (r"\log x", "call(log, [x])"),
    (r"\ln x^2", "call(ln, [pow(x, 2)])"),
    (r"\ln(x)y", "mul([call(ln, [x]), y])"),
    (r"\lg 5", "call(lg, [5])"),
    (r"\max(1,2)", "call(max, [1, 2])"),
    (r"\max_{x} y", "call(max, [y])"),
    (r"\min\{1,2\}", "call(min, [1, 2])"),
    (r"\gcd(4,6)", "call(gcd, [4, 6])"),
    (r"\exp(x)", "call(exp, [x])"),
    ("arcsin x", "call(arcsin, [x])"),
    (r"\arctg x", "call(arctan, [x])"),
    (r"\sh x", "call(sinh, [x])"),
    (r"\sin -x", "call(sin, [neg(x)])"),
    (r"\sin|x|", "call(sin, [call(abs, [x])])"),
    (r"\sin\frac12", "call(sin, [mul([1, inv(2)])])"),
    (r"\sin\sqrt2", "call(sin, [call(sqrt, [2])])"),
    (r"\sin\gamma x", "call(sin, [mul([gamma, x])])"),
    (r"\sin{x}", "call(sin, [x])"),
    (r"\sin[x]", "call(sin, [x])"),
    (r"m_{\max}", "m_max"),
    (r"\sin^{\circ}x", "Unreadable: a power of sin that is no exponent"),
    (r"\log_2^3 x", "pow(call(log, [x, 2]), 3)"),
    (r"\cos", "Unreadable: something is missing"),
    (r"\sin^2(x)y", "mul([pow(call(sin, [x]), 2), y])"),
]


@pytest.mark.parametrize(("text", "tree"), FUNCTIONS)
def test_functions(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


ROOTS = [
    (r"\sqrt2", "call(sqrt, [2])"),
    (r"\sqrt{2}", "call(sqrt, [2])"),
    (r"\sqrt 12", "call(sqrt, [12])"),
    ("sqrt(2)", "call(sqrt, [2])"),
    ("sqrt2x", "mul([call(sqrt, [2]), x])"),
    (r"\sqrt[3]{8}", "call(root, [8, 3])"),
    (r"\sqrt[n]x", "call(root, [x, n])"),
    (r"\sqrt x", "call(sqrt, [x])"),
    ("cbrt 8", "call(root, [8, 3])"),
    ("cbrt(x)y", "mul([call(root, [x, 3]), y])"),
    (r"\binom52", "call(binom, [5, 2])"),
    (r"\binom{n}{k}", "call(binom, [n, k])"),
    (r"\tbinom nk", "call(binom, [n, k])"),
    (r"\binom(5,2)", "call(binom, [5, 2])"),
    (r"\tbinom(5,2)", r"Unreadable: cannot read \tbinom"),
    (r"\root 2", "call(sqrt, [2])"),
]


@pytest.mark.parametrize(("text", "tree"), ROOTS)
def test_roots_and_binomials(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


BIG = [
    (r"\sum_{k=1}^n k", "big(sum, k, 1, n, k)"),
    (r"\sum_{k=1}^{10} k^2+1", "add([big(sum, k, 1, 10, pow(k, 2)), 1])"),
    (r"\prod_{i=1}^3 i", "big(prod, i, 1, 3, i)"),
    (r"\sum_{i=1}^3 xi", "big(sum, i, 1, 3, xi)"),
    (r"\int_0^1 x dx", "big(int, x, 0, 1, x)"),
    (r"\int x^2 dx", "big(int, x, '', '', pow(x, 2))"),
    (r"\int dx", "big(int, x, '', '', 1)"),
    (r"\int x", "Unreadable: an integral without its differential"),
    (r"\int_0^1 dx x", "big(int, x, 0, 1, x)"),
    (r"\lim_{x\to 0} x", "big(lim, x, 0, '', x)"),
    (r"\bigcup_{n} A_n", "big(bigcup, , n, '', A_n)"),
    (r"\sum^{n}_{k=1} k", "big(sum, k, 1, n, k)"),
    (r"\sum k", "big(sum, , '', '', k)"),
    (r"\int_a^b f(t) dt", "big(int, t, a, b, call(f, [t]))"),
]


@pytest.mark.parametrize(("text", "tree"), BIG)
def test_sums_integrals_and_limits(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree
