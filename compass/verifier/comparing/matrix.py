"""Arithmetic on matrices: sums, products and multiples, written out into one matrix."""

from __future__ import annotations

from compass.verifier.comparing.vectors import TRANSPOSES
from compass.verifier.contents import contains, walk
from compass.verifier.reading.brackets import determinant
from compass.verifier.tree import (
    ONE,
    Inverse,
    Matrix,
    Negative,
    Node,
    Number,
    OverBudget,
    Power,
    Product,
    Sum,
    Symbol,
    Unreadable,
    negate,
)

MAX_SIDE = 8
MAX_MATRICES = 4
MAX_POWER = 4

Rows = tuple[tuple[Node, ...], ...]


def matrix_of(node: Node) -> Node | None:
    """The matrix that an expression with matrices works out to; None where there is none in it.

    Raises:
        Unreadable: sizes that don't fit.
    """
    if isinstance(node, Matrix):
        return node
    if not isinstance(node, (Sum, Product, Negative, Power)) or not contains(node, Matrix):
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
        case Power(base, exponent):
            inner = _rows(base)
            return None if inner is None else _power(inner, exponent)
    return None


def _power(rows: Rows, exponent: Node) -> Rows | None:
    """The transpose, the inverse or a small whole power."""
    match exponent:
        case Symbol(name) if name in TRANSPOSES:
            return tuple(zip(*rows, strict=True))
        case Number(value) if value == -1:
            return _inverse(rows)
        case Number(value) if value in range(1, MAX_POWER + 1):
            power = rows
            for _ in range(int(value.p) - 1):
                power = _product(power, rows)
            return power
    return None


def _inverse(rows: Rows) -> Rows:
    """The inverse, by minors."""
    whole = Inverse(determinant(rows))
    size = range(len(rows))

    def minor(row: int, column: int) -> Node:
        rest = tuple(tuple(rows[i][j] for j in size if j != column) for i in size if i != row)
        value = determinant(rest) if rest else ONE
        return value if (row + column) % 2 == 0 else negate(value)

    return tuple(tuple(Product((whole, minor(column, row))) for column in size) for row in size)


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
