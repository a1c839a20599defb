"""Arithmetic on matrices: sums, products and multiples, written out into one matrix."""

from __future__ import annotations

from compass.verifier.contents import contains, walk
from compass.verifier.tree import Matrix, Negative, Node, OverBudget, Product, Sum, Unreadable, negate

MAX_SIDE = 8
MAX_MATRICES = 4

Rows = tuple[tuple[Node, ...], ...]


def matrix_of(node: Node) -> Node | None:
    """The matrix that an expression with matrices works out to; None where there is none in it.

    Raises:
        Unreadable: sizes that don't fit.
    """
    if isinstance(node, Matrix):
        return node
    if not isinstance(node, (Sum, Product, Negative)) or not contains(node, Matrix):
        return None
    if sum(isinstance(part, Matrix) for part in walk(node)) > MAX_MATRICES:
        raise OverBudget(f"arithmetic on more than {MAX_MATRICES} matrices")
    rows = _rows(node)
    return None if rows is None else Matrix(rows)


def _rows(node: Node) -> Rows | None:
    match node:
        case Matrix(rows):
            if len(rows) > MAX_SIDE or len(rows[0]) > MAX_SIDE:
                raise Unreadable(f"arithmetic on matrices larger than {MAX_SIDE}")
            return rows
        case Negative(operand):
            inner = _rows(operand)
            return None if inner is None else tuple(tuple(map(negate, row)) for row in inner)
        case Sum(terms):
            return _sum([_rows(term) for term in terms])
        case Product(factors):
            return _multiple(factors)
    return None


def _sum(terms: list[Rows | None]) -> Rows | None:
    total = terms[0]
    for term in terms[1:]:
        if total is None or term is None or [len(row) for row in total] != [len(row) for row in term]:
            return None
        total = tuple(
            tuple(Sum(pair) for pair in zip(one, two, strict=True)) for one, two in zip(total, term, strict=True)
        )
    return total


def _multiple(factors: tuple[Node, ...]) -> Rows | None:
    product: Rows | None = None
    scalars: list[Node] = []
    for factor in factors:
        rows = _rows(factor)
        if rows is None:
            scalars.append(factor)
        else:
            product = rows if product is None else _product(product, rows)
    if product is None or not scalars:
        return product
    return tuple(tuple(Product((*scalars, cell)) for cell in row) for row in product)


def _product(left: Rows, right: Rows) -> Rows:
    if len(left[0]) != len(right):
        raise Unreadable("a product of matrices whose sizes don't fit")
    columns = tuple(zip(*right, strict=True))
    return tuple(
        tuple(Sum(tuple(Product(pair) for pair in zip(row, column, strict=True))) for column in columns) for row in left
    )
