"""Brackets: groups, tuples, intervals, sets, set-builders, absolute values."""

from __future__ import annotations

from collections.abc import Callable

import pytest

BRACKETS = [
    ("(x)", "x"),
    ("[x]", "x"),
    ("{x}", "x"),
    ("(1,2)", "seq((, ), [1, 2])"),
    ("[1,2]", "seq([, ], [1, 2])"),
    ("(1,2]", "seq((, ], [1, 2])"),
    ("[1,2)", "seq([, ), [1, 2])"),
    (r"\{1,2\}", "seq({, }, [1, 2])"),
    (r"\{1\}", "seq({, }, [1])"),
    (r"\{\}", "seq({, }, [])"),
    ("{}", "Unreadable: nothing to read"),
    (r"\langle 1,2\rangle", "seq(<, >, [1, 2])"),
    (r"\langle x\rangle", "seq(<, >, [x])"),
    ("(1,2}", "Unreadable: unexpected '}'"),
    (r"\lbrace 1\rbrace", "seq({, }, [1])"),
    (r"\lbrack 1,2\rbrack", "seq([, ], [1, 2])"),
    (r"\lparen x\rparen", "x"),
    (r"\lgroup x\rgroup", "x"),
    ("[1;2]", "seq([, ], [1, 2])"),
    ("(1,2;3,4)", "seq((, ), [seq((, ), [1, 2]), seq((, ), [3, 4])])"),
    ("{1,2}", "seq({, }, [1, 2])"),
    ("{x", "Unreadable: a bracket is not closed"),
    (r"\{1,2}", "seq({, }, [1, 2])"),
    ("((1,2),3)", "seq((, ), [seq((, ), [1, 2]), 3])"),
    ("(x]", "seq((, ], [x])"),
    ("[x)", "seq([, ), [x])"),
]


@pytest.mark.parametrize(("text", "tree"), BRACKETS)
def test_what_brackets_hold(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


BARS = [
    ("|x|", "call(abs, [x])"),
    ("|x+|y||", "call(abs, [add([x, call(abs, [y])])])"),
    ("|{-3}|", "call(abs, [-3])"),
    (r"\lvert x\rvert", "call(abs, [x])"),
    (r"\lVert x\rVert", "call(abs, [x])"),
    (r"\|x\|", "call(abs, [x])"),
    (r"|x\rvert", "call(abs, [x])"),
    (r"\lfloor 3.5\rfloor", "call(floor, [3.5])"),
    (r"\lceil x\rceil", "call(ceil, [x])"),
    (r"\llcorner x\lrcorner", "call(floor, [x])"),
    (r"\ulcorner x\urcorner", "call(ceil, [x])"),
    ("|1,2|", "Unreadable: one expression expected between the signs, found 2"),
    (r"\lfloor\rfloor", "Unreadable: one expression expected between the signs, found 0"),
    ("|a|+|b|", "add([call(abs, [a]), call(abs, [b])])"),
    ("(|x|)", "call(abs, [x])"),
    ("|(x)|", "call(abs, [x])"),
]


@pytest.mark.parametrize(("text", "tree"), BARS)
def test_absolute_values_floors_and_ceilings(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


BUILDERS = [
    (r"\{x|x>3\}", "rel([>], [x, 3])"),
    (r"\{x:x>3\}", "rel([>], [x, 3])"),
    (r"\{x\mid x>3\}", "rel([>], [x, 3])"),
    (r"\{x\colon x>3\}", "rel([>], [x, 3])"),
    (r"\{x\in\mathbb{R}|x>3\}", "rel([>], [x, 3])"),
    (r"\{x\in\mathbb{R}:x>3,x<5\}", "seq(, and, [rel([>], [x, 3]), rel([<], [x, 5])])"),
    (r"\{x\in A|x>3\}", "seq(, and, [rel([>], [x, 3]), rel([in], [x, A])])"),
    (r"\{2x|x>3\}", "seq(, , [mul([2, x]), rel([>], [x, 3])])"),
    ("{x|x>3}", "rel([>], [x, 3])"),
    (r"\{x,y\}", "seq({, }, [x, y])"),
]


@pytest.mark.parametrize(("text", "tree"), BUILDERS)
def test_set_builders(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


ROWS = [
    (r"\left\{\begin{array}{l}x\\y\end{array}\right.", "cases([[x], [y]])"),
    (r"\left\{\begin{array}{l}x\\y\end{array}\right\}", "cases([[x], [y]])"),
    (r"\{\begin{cases}x\\y\end{cases}", "cases([[x], [y]])"),
]


@pytest.mark.parametrize(("text", "tree"), ROWS)
def test_a_brace_before_rows_is_a_definition_by_cases(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


LISTS = [
    ("1,2", "seq(, , [1, 2])"),
    ("1;2", "seq(, , [1, 2])"),
    ("1 and 2", "seq(, and, [1, 2])"),
    ("1 or 2", "seq(, or, [1, 2])"),
    ("1,2;3,4", "seq(, , [seq((, ), [1, 2]), seq((, ), [3, 4])])"),
    ("1;2,3", "seq(, , [1, seq((, ), [2, 3])])"),
    ("1,2,", "seq(, , [1, 2])"),
    (r"a\wedge b", "seq(, and, [a, b])"),
    (r"1\\2", "seq(, , [1, 2])"),
    (",1", "1"),
]


@pytest.mark.parametrize(("text", "tree"), LISTS)
def test_bare_lists(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree
