"""What kind of answer a tree is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from compass.verifier.comparing.shapes import MAX_ITEMS, bound_names, expand_sign, is_name, shape, split_name
from compass.verifier.tree import Node, Sequence, Unreadable, number

Read = Callable[[str], Node]


@pytest.mark.parametrize("text", ["x", "e", "AB", "ABC", r"\overline{AB}", "dx", "f(x)", "g(2)", "W(n)", "P(A)", "|AB|", "|A|", r"\max A", "S_1:S_2", "(p,q)", r"\text{area}",
                                  "Mg", r"\Delta x"])  # fmt: skip
def test_names(tree: Read, text: str) -> None:
    assert is_name(tree(text))


@pytest.mark.parametrize("text", ["i", "5", "ab", "abc", "2x", "x+1", "|x|", r"\sin x", r"\max x", "a:2", "(p,1)", r"\{\}", "xyz", "a(b+c)", "Aab", "x^2", "dxy", r"\alpha(2x)"])  # fmt: skip
def test_what_is_no_name(tree: Read, text: str) -> None:
    assert not is_name(tree(text))


@pytest.mark.parametrize(
    ("text", "variables"), [("f(x)", ("x",)), ("W(n)", ("n",)), ("f(2)", ()), ("f(x,y)", ("x", "y")), ("x", ()), ("AB", ()), ("W(2)", ()), (r"\sin x", ())]
)  # fmt: skip
def test_the_variables_of_a_definition(tree: Read, text: str, variables: tuple[str, ...]) -> None:
    assert bound_names(tree(text)) == variables


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("5", "None", "5"), ("x=5", "x", "5"), (r"x\in[1,2]", "x", "seq([, ], [1, 2])"), ("x<5", "None", "rel([<], [x, 5])"), ("2x=5", "None", "rel([=], [mul([2, x]), 5])"),
        ("x=1+1=2", "x", "rel([=], [add([1, 1]), 2])"), ("x=y<2", "None", "rel([=, <], [x, y, 2])"), ("(x,y)=(1,2)", "seq((, ), [x, y])", "seq((, ), [1, 2])"),
        ("(x,y)=(1,2,3)", "None", "rel([=], [seq((, ), [x, y]), seq((, ), [1, 2, 3])])"), ("(x,y)=5", "seq((, ), [x, y])", "5"),
    ],
)  # fmt: skip
def test_names_are_taken_off(tree: Read, brief: Callable[[Any], str], text: str, name: str, value: str) -> None:
    assert tuple(map(brief, split_name(tree(text)))) == (name, value)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("5", ["5"]), (r"\pm 2", ["add([0, 2])", "add([0, -2])"]), (r"1\mp x", ["add([1, neg(x)])", "add([1, x])"]), (r"\sin(\pm x)", ["call(sin, [add([0, x])])", "call(sin, [add([0, neg(x)])])"]),
        (r"(\pm 2,1)", ["seq((, ), [pm(0, 2, pm), 1])"]), (r"\pm1\pm2", ["add([add([0, 1]), 2])", "add([add([0, -1]), -2])"]),
    ],
)  # fmt: skip
def test_plus_and_minus_are_two_values(tree: Read, brief: Callable[[Any], str], text: str, values: list[str]) -> None:
    assert list(map(brief, expand_sign(tree(text)))) == values


@pytest.mark.parametrize(
    ("text", "kind", "items", "names"),
    [
        ("5", "scalar", [], ()), ("x+1", "scalar", [], ()), ("x=5", "scalar", [], ()), ("x=(1,2)", "tuple", ["1", "2"], ("", "")), ("1,2", "list", ["1", "2"], ("", "")),
        (r"\{1,2\}", "set", ["1", "2"], ("", "")), ("[1,2]", "tuple", ["1", "2"], ("", "")), (r"\pm 1", "list", ["add([0, 1])", "add([0, -1])"], ()),
        (r"1,\pm 2", "list", ["1", "add([0, 2])", "add([0, -2])"], ("", "", "")), (r"(1,\pm 2)", "tuple", ["1", "pm(0, 2, pm)"], ("", "")),
        ("x<1", "relation", [], ()), (r"\text{even}", "text", [], ()), ("1:2", "ratio", [], ()), ("52_8", "based", [], ()), (r"\mathbb{R}", "named set", [], ()),
        (r"A\cup B", "setop", [], ()), (r"\begin{pmatrix}1\end{pmatrix}", "matrix", [], ()), (r"\begin{cases}1\end{cases}", "cases", [], ()), ("5!", "scalar", [], ()),
        ("x=1,y=2", "list", ["1", "2"], ("Symbol(name='x')", "Symbol(name='y')")), ("(x,y)=(1,2),(3,4)", "list", ["seq((, ), [1, 2])", "seq((, ), [3, 4])"], ("", "")),
        (r"x=\pm 1,2", "list", ["add([0, 1])", "add([0, -1])", "2"], ("Symbol(name='x')", "Symbol(name='x')", "")),
    ],
)  # fmt: skip
def test_shapes(
    tree: Read, brief: Callable[[Any], str], text: str, kind: str, items: list[str], names: tuple[str, ...]
) -> None:
    typed = shape(tree(text))
    assert (typed.kind, list(map(brief, typed.items)), typed.names) == (kind, items, names)


def test_names_of_items_do_not_depend_on_how_a_variable_is_called(tree: Read) -> None:
    assert shape(tree("f(x)=1,2")).names == shape(tree("f(t)=1,2")).names
    assert shape(tree("f(x)=1,2")).names != shape(tree("g(x)=1,2")).names


def test_the_number_of_values_is_bounded() -> None:
    assert len(shape(Sequence("", "", (number(1),) * MAX_ITEMS)).items) == 200
    with pytest.raises(Unreadable, match="more than 200 values"):
        shape(Sequence("", "", (number(1),) * (MAX_ITEMS + 1)))
