"""Names: variables with subscripts and primes, and the functions f and g."""

from __future__ import annotations

from collections.abc import Callable

import pytest

NAMES = [
    ("x", "x"),
    ("e", "<e>"),
    ("i", "<i>"),
    ("I", "I"),
    ("x_{ab}", "x_ab"),
    ("x_a_b", "x_a_b"),
    ("x_1'", "x_1'"),
    ("f(x)", "call(f, [x])"),
    ("f(x,y)", "call(f, [x, y])"),
    ("f'(x)", "mul([f', x])"),
    ("g (2)", "call(g, [2])"),
    ("h(x)", "mul([h, x])"),
    ("f_1(x)", "mul([f_1, x])"),
    ("F(x)", "call(F, [x])"),
    ("f", "f"),
    (r"x_{\pi}", "x_pi"),
    (r"\alpha_1", "alpha_1"),
    ("x_{(1,2)}", "x_1,2"),
    ("x_{e}", "x_e"),
    ("AB", "mul([A, B])"),
    ("ab", "mul([a, b])"),
]


@pytest.mark.parametrize(("text", "tree"), NAMES)
def test_names(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree
