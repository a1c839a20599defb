"""Matrices, determinants, definitions by cases, systems."""

from __future__ import annotations

from collections.abc import Callable

import pytest

ENVIRONMENTS = [
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "matrix([[1, 2], [3, 4]])"),
    (r"\begin{bmatrix}1\\2\end{bmatrix}", "matrix([[1], [2]])"),
    (r"\begin{array}{cc}1&2\\3&4\end{array}", "matrix([[1, 2], [3, 4]])"),
    (r"\begin{array}{c}1,2\\3;4\end{array}", "matrix([[1, 2], [3, 4]])"),
    (r"\begin{cases}x&x>0\\0&\text{if }x\le0\end{cases}", "cases([[x, rel([>], [x, 0])], [0, rel([<=], [x, 0])]])"),
    (r"\begin{cases}x,&x>0\\0,&x\le0\end{cases}", "cases([[x, rel([>], [x, 0])], [0, rel([<=], [x, 0])]])"),
    (r"\begin{aligned}x=1\\y=2\end{aligned}", "cases([[rel([=], [x, 1])], [rel([=], [y, 2])]])"),
    (r"\begin{align*}x&=1\end{align*}", "cases([[x, 1]])"),
    (r"\begin{vmatrix}1&2\\3&4\end{vmatrix}", "add([mul([1, 4]), neg(mul([2, 3]))])"),
    (r"\begin{vmatrix}5\end{vmatrix}", "5"),
    (
        r"\begin{vmatrix}a&b&c\\d&f&g\\h&j&k\end{vmatrix}",
        "add([mul([a, add([mul([f, k]), neg(mul([g, j]))])]), neg(mul([b, add([mul([d, k]), neg(mul([g, h]))])])), mul([c, add([mul([d, j]), neg(mul([f, h]))])])])",
    ),
    (
        r"\begin{vmatrix}1&2\end{vmatrix}",
        "Unreadable: a determinant of a matrix that is not square, or has more than four rows",
    ),
    (r"\begin{pmatrix}1&2\\3\end{pmatrix}", "Unreadable: a matrix whose rows differ in length"),
    (r"\begin{pmatrix}\end{pmatrix}", "Unreadable: the environment pmatrix is not well formed"),
    (r"\begin{pmatrix}1\end{bmatrix}", "Unreadable: the environment pmatrix is not well formed"),
    (r"\begin{pmatrix}1", "Unreadable: a bracket is not closed"),
    (r"\begin{pmatrix}1,2\end{pmatrix}", "Unreadable: unexpected ',' in a matrix"),
    (r"\begin pmatrix", "Unreadable: an environment without a name"),
    (r"\begin{pmatrix", "Unreadable: an environment without a name"),
    (r"\begin{array}{cc", "Unreadable: an environment is not closed"),
    (r"\begin{pmatrix}1&2\\3&4\\\end{pmatrix}", "matrix([[1, 2], [3, 4]])"),
]


@pytest.mark.parametrize(("text", "tree"), ENVIRONMENTS)
def test_environments(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


def test_determinants_are_bounded(read: Callable[[str], str]) -> None:
    def square(size: int, cell: str) -> str:
        row = "&".join([cell] * size)
        return r"\begin{vmatrix}" + r"\\".join([row] * size) + r"\end{vmatrix}"

    assert read(square(4, "a")).startswith("add(")
    assert (
        read(square(5, "a")) == "Unreadable: a determinant of a matrix that is not square, or has more than four rows"
    )
    assert read(square(2, "+".join(["a"] * 59))).startswith("add(")
    assert read(square(2, "+".join(["a"] * 60))) == "OverBudget: a determinant of large expressions"
