"""Arithmetic on matrices: sums, products and multiples, written out into one matrix."""

from __future__ import annotations

from compass.verifier.tree import Node, OverBudget, Unreadable, contains, negate, walk

MAX_SIDE = 8
MAX_MATRICES = 4
MAX_CELL = 60

Rows = tuple[tuple[Node, ...], ...]


def matrix_of(node: Node) -> Node | None:
    """The matrix that an expression with matrices works out to; None where there is none in it.

    Raises:
        Unreadable: sizes that don't fit.
    """
    if node[0] == "matrix":
        return node
    if node[0] not in ("add", "mul", "neg") or not contains(node, "matrix"):
        return None
    if sum(part[0] == "matrix" for part in walk(node)) > MAX_MATRICES:
        raise OverBudget(f"arithmetic on more than {MAX_MATRICES} matrices")
    rows = _rows(node)
    return None if rows is None else ("matrix", rows)


def _rows(node: Node) -> Rows | None:
    kind = node[0]
    if kind == "matrix":
        if len(node[1]) > MAX_SIDE or len(node[1][0]) > MAX_SIDE:
            raise Unreadable(f"arithmetic on matrices larger than {MAX_SIDE}")
        return node[1]
    if kind == "neg":
        inner = _rows(node[1])
        return None if inner is None else tuple(tuple(negate(cell) for cell in row) for row in inner)
    if kind == "add":
        parts = [_rows(part) for part in node[1]]
        total = parts[0]
        for part in parts[1:]:
            if total is None or part is None or [len(row) for row in total] != [len(row) for row in part]:
                return None
            total = tuple(
                tuple(("add", pair) for pair in zip(one, two, strict=True))
                for one, two in zip(total, part, strict=True)
            )
        return total
    if kind == "mul":
        product: Rows | None = None
        scalars: list[Node] = []
        for part in node[1]:
            rows = _rows(part)
            if rows is None:
                scalars.append(part)
            else:
                product = rows if product is None else _product(product, rows)
        if product is None or not scalars:
            return product
        return tuple(tuple(("mul", (*scalars, cell)) for cell in row) for row in product)
    return None


def _product(left: Rows, right: Rows) -> Rows:
    if len(left[0]) != len(right):
        raise Unreadable("a product of matrices whose sizes don't fit")
    return tuple(
        tuple(("add", tuple(("mul", (row[k], right[k][j])) for k in range(len(right)))) for j in range(len(right[0])))
        for row in left
    )


def determinant(rows: Rows) -> Node:
    """The determinant, expanded along the first row.

    Raises:
        Unreadable: a matrix that is not square, or of more than four rows.
    """
    if len(rows) != len(rows[0]) or len(rows) > 4:
        raise Unreadable("a determinant of a matrix that is not square, or has more than four rows")
    if any(len(walk(cell)) > MAX_CELL for row in rows for cell in row):
        raise OverBudget("a determinant of large expressions")
    if len(rows) == 1:
        return rows[0][0]
    terms: list[Node] = []
    for at, cell in enumerate(rows[0]):
        minor = tuple((*row[:at], *row[at + 1 :]) for row in rows[1:])
        term: Node = ("mul", (cell, determinant(minor)))
        terms.append(term if at % 2 == 0 else ("neg", term))
    return ("add", tuple(terms))
