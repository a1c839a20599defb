"""Arithmetic on matrices."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compass.verifier.comparing.matrices import MAX_MATRICES, MAX_SIDE, to_matrix
from compass.verifier.tree import Matrix, Node, OverBudget, Unreadable, negate, number


def written(*rows: str) -> str:
    return r"\begin{pmatrix}" + r"\\".join(rows) + r"\end{pmatrix}"


COLUMN, SQUARE = written("1", "2"), written("1&2", "3&4")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (COLUMN, "[[1], [2]]"),
        ("-" + COLUMN, "[[-1], [-2]]"),
        (f"{COLUMN}+{COLUMN}", "[[add([1, 1])], [add([2, 2])]]"),
        (f"{COLUMN}+{COLUMN}-{COLUMN}", "[[add([add([1, 1]), -1])], [add([add([2, 2]), -2])]]"),
        (f"3x{COLUMN}", "[[mul([3, x, 1])], [mul([3, x, 2])]]"),
        (f"{SQUARE}{COLUMN}", "[[add([mul([1, 1]), mul([2, 2])])], [add([mul([3, 1]), mul([4, 2])])]]"),
        (f"2{written('1&2')}{COLUMN}", "[[mul([2, add([mul([1, 1]), mul([2, 2])])])]]"),
        (written("1&2", "3&4", "5&6"), "[[1, 2], [3, 4], [5, 6]]"),
    ],
)
def test_a_matrix_is_worked_out(
    tree: Callable[[str], Node], brief: Callable[[object], str], text: str, rows: str
) -> None:
    assert brief(to_matrix(tree(text))) == f"matrix({rows})"


@pytest.mark.parametrize(
    "text", ["5", "x+1", f"{COLUMN}+{SQUARE}", f"{COLUMN}+1", r"\sin x", f"({COLUMN},1)", f"1+{COLUMN}"]
)
def test_what_is_no_matrix(tree: Callable[[str], Node], text: str) -> None:
    assert to_matrix(tree(text)) is None


def test_sizes_must_fit(tree: Callable[[str], Node]) -> None:
    with pytest.raises(Unreadable, match="a product of matrices whose sizes don't fit"):
        to_matrix(tree(COLUMN + SQUARE))


def test_the_work_is_bounded(tree: Callable[[str], Node]) -> None:
    assert to_matrix(tree("+".join([COLUMN] * MAX_MATRICES))) is not None
    with pytest.raises(OverBudget, match="arithmetic on more than 4 matrices"):
        to_matrix(tree("+".join([COLUMN] * (MAX_MATRICES + 1))))
    for rows, columns in ((MAX_SIDE, 1), (1, MAX_SIDE)):
        large = Matrix(((number(1),) * columns,) * rows)
        larger = Matrix(((number(1),) * (columns + (columns > 1)),) * (rows + (rows > 1)))
        assert to_matrix(negate(large)) is not None
        assert to_matrix(larger) is larger
        with pytest.raises(Unreadable, match="arithmetic on matrices larger than 8"):
            to_matrix(negate(larger))
