"""Signs between values and after them, and how tightly they bind."""

from __future__ import annotations

from collections.abc import Callable

import pytest

BINDING = [
    ("1+2*3", "add([1, mul([2, 3])])"),
    ("1*2+3", "add([mul([1, 2]), 3])"),
    ("1-2-3", "add([1, -2, -3])"),
    ("1/2/3", "mul([1, inv(2), inv(3)])"),
    ("2^3^2", "pow(2, pow(3, 2))"),
    ("-2^2", "neg(pow(2, 2))"),
    ("-x+1", "add([neg(x), 1])"),
    ("2x^2", "mul([2, pow(x, 2)])"),
    ("2*x/y", "mul([2, x, inv(y)])"),
    ("a+b=c", "rel([=], [add([a, b]), c])"),
    ("a=b+c", "rel([=], [a, add([b, c])])"),
    ("1<x<2", "rel([<, <], [1, x, 2])"),
    ("x=1,2", "seq(, , [rel([=], [x, 1]), 2])"),
    (r"A\cup B\cap C", "setop(cap, setop(cup, A, B), C)"),
    ("1:2+3", "ratio([1, add([2, 3])])"),
    ("1:2:3", "ratio([1, 2, 3])"),
    ("a:b=2", "rel([=], [ratio([a, b]), 2])"),
    (r"\{1\}\cup\{2\}=A", "rel([=], [setop(cup, seq({, }, [1]), seq({, }, [2])), A])"),
    ("2x!", "mul([2, call(factorial, [x])])"),
    ("-x!", "neg(call(factorial, [x]))"),
    ("2^{3}!", "call(factorial, [pow(2, 3)])"),
    ("x^-1", "pow(x, -1)"),
    (r"a\pm b+c", "add([pm(a, b, pm), c])"),
    (r"\pm 3", "pm(0, 3, pm)"),
    (r"\mp x", "pm(0, x, mp)"),
    ("+5", "5"),
    ("=5", "5"),
    ("~5", "5"),
    ("x mod 3", "call(mod, [x, 3])"),
    (r"AB\cdot C", "mul([mul([mul([A, B])]), C])"),
    ("5 mod 7", "call(residue, [5, 7])"),
    ("17 mod 5", "call(mod, [17, 5])"),
    (r"5 \mod 7", "call(mod, [5, 7])"),
    (r"7 \bmod 3", "call(mod, [7, 3])"),
    (r"{n \choose k}", "call(binom, [n, k])"),
    (r"a\div b", "mul([a, inv(b)])"),
    (r"a\times b", "mul([a, b])"),
    ("a*b*c", "mul([a, b, c])"),
    (r"2 \cdot -3", "mul([2, -3])"),
    (r"a\setminus b", "setop(minus, a, b)"),
    (r"a\union b", "setop(cup, a, b)"),
    ("2^{-1}x", "mul([pow(2, -1), x])"),
    (r"x\in[0,1]", "rel([in], [x, seq([, ], [0, 1])])"),
    (r"x\ne 2", "rel([!=], [x, 2])"),
    (r"x\leq y\geq z", "rel([<=, >=], [x, y, z])"),
    (r"a\to b", "rel([to], [a, b])"),
]


@pytest.mark.parametrize(("text", "tree"), BINDING)
def test_operators_bind_as_in_mathematics(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


MARKS = [
    ("5!", "call(factorial, [5])"),
    ("5!!", "call(factorial2, [5])"),
    (r"50\%", "percent(50)"),
    ("50 percent", "unit(50, percent)"),
    (r"90^\circ", "degree(90)"),
    (r"90^{\circ}", "degree(90)"),
    (r"90\degree", "degree(90)"),
    ("x'", "x'"),
    ("x''", "x''"),
    ("f''", "f''"),
    (r"x^{\prime}", "x'"),
    (r"x^{\prime\prime}", "x''"),
    (r"x^\prime", "x'"),
    ("x_1", "x_1"),
    ("x_{12}", "x_12"),
    ("x_1^2", "pow(x_1, 2)"),
    ("x^2_1", "pow(x_1, 2)"),
    ("x_{n+1}", "x_n+1"),
    ("x_{a,b}", "x_a,b"),
    ("x_{-1}", "x_-1"),
    ("x_{2^n}", "x_2^n"),
    (r"5\dollar", "unit(5, dollar)"),
    (r"5\euro", "unit(5, euro)"),
]


@pytest.mark.parametrize(("text", "tree"), MARKS)
def test_marks_after_a_value(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


POWERS = [
    ("2^10", "pow(2, 10)"),
    ("2^{10}", "pow(2, 10)"),
    ("x^ab", "mul([pow(x, a), b])"),
    ("2^(1+x)", "pow(2, add([1, x]))"),
    ("x^y^z", "pow(x, pow(y, z))"),
    ("(a+b)^2", "pow(add([a, b]), 2)"),
    ("e^x", "pow(<e>, x)"),
    ("2^x_1", "Unreadable: a subscript on something that is no name"),
    (r"\pi^2", "pow(<pi>, 2)"),
    (r"x^\frac12", "pow(x, mul([1, inv(2)]))"),
]


@pytest.mark.parametrize(("text", "tree"), POWERS)
def test_powers_of_text_and_of_latex(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


BESIDE = [
    ("2x", "mul([2, x])"),
    ("xy", "mul([x, y])"),
    ("2(3)", "mul([2, 3])"),
    ("(1)(2)", "mul([1, 2])"),
    (r"2\pi r", "mul([2, <pi>, r])"),
    ("x(y+1)", "mul([x, add([y, 1])])"),
    ("2|x|", "mul([2, call(abs, [x])])"),
    ("|x|y", "mul([call(abs, [x]), y])"),
    (r"\{1+2\}\{3-4\}", "mul([add([1, 2]), add([3, -4])])"),
    (r"\sqrt2\sqrt3", "mul([call(sqrt, [2]), call(sqrt, [3])])"),
    ("ab^2", "mul([a, pow(b, 2)])"),
    (r"2\frac12x", "mul([5/2, x])"),
    ("3x4", "Unreadable: a number straight after a value"),
    ("x 5", "Unreadable: a number straight after a value"),
]


@pytest.mark.parametrize(("text", "tree"), BESIDE)
def test_values_side_by_side_multiply(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


ERRORS = [
    ("x=", "Unreadable: nothing after the relation"),
    ("5'", "Unreadable: a prime after something that is no name"),
    ("(1.5)_2", "Unreadable: a subscript on something that is no name"),
    (r"x^{\prime a}", "Unreadable: an exponent after a prime"),
    ("1+", "Unreadable: something is missing"),
    ("*5", "Unreadable: unexpected '*'"),
    ("5)", "Unreadable: unexpected ')'"),
    ("(1", "Unreadable: a bracket is not closed"),
    ("1 2", "Unreadable: a number straight after a value"),
    ("x^", "Unreadable: something is missing"),
    ("()", "Unreadable: empty brackets"),
    (r"\frac12 3", "Unreadable: a number straight after a value"),
    ("]", "Unreadable: unexpected ']'"),
    ("?", "Unreadable: unexpected '?'"),
    ("1,,2", "seq(, , [1, 2])"),
    ("a&b", "Unreadable: an alignment mark outside a matrix"),
    ("^2", "Unreadable: unexpected '^'"),
]


@pytest.mark.parametrize(("text", "tree"), ERRORS)
def test_what_cannot_be_read_says_why(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree
