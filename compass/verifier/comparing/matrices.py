"""Matrices and vectors worked out: sums, products and multiples, transposes, vectors in `i`, `j`, `k`."""

from __future__ import annotations

from collections.abc import Callable

from compass.verifier.comparing import scalar
from compass.verifier.reading.brackets import determinant
from compass.verifier.tree import (
    IMAGINARY,
    ONE,
    ZERO,
    Inverse,
    Matrix,
    Negative,
    Node,
    Number,
    OverBudget,
    Power,
    Product,
    Sequence,
    Sum,
    Symbol,
    Unreadable,
    contains,
    negate,
    substitute,
    symbols,
    walk,
)

_ACCENTS = ("hat", "vec", "bar", "overrightarrow")
BASIS = {
    **{f"{accent}({letter})": at for accent in _ACCENTS for at, letter in enumerate("ijk")},
    **{f"{accent}(\\{letter}math)": at for accent in _ACCENTS for at, letter in enumerate("ij")},
    "j": 1, "k": 2, "\\imath": 0, "\\jmath": 1,
}  # fmt: skip
TRANSPOSES = frozenset(["T", "\\top", "t", "\\intercal"])


def as_vectors(gold: Node, answer: Node) -> tuple[Node, Node]:
    """Both sides with vectors as tuples or columns, where they are written otherwise."""
    one, two = _worked_out(gold), _worked_out(answer)
    if isinstance(one, (Sequence, Matrix)) != isinstance(two, (Sequence, Matrix)):
        if isinstance(one, (Sequence, Matrix)):
            two = to_entries(two, _entries(one)) or two
        else:
            one = to_entries(one, _entries(two)) or one
    elif is_in_basis(one) or is_in_basis(two):
        both = to_entries(one, 3), to_entries(two, 3)
        one, two = (one, two) if None in both else both
    return one, two


def _worked_out(node: Node) -> Node:
    if isinstance(node, (Sum, Product, Negative, Power)) and contains(node, Sequence):
        return to_column(node) or to_tuple(node) or node
    return node


def _entries(node: Node) -> int:
    """The entries of a tuple or of a matrix that is a single row or column; 0 for any other."""
    match node:
        case Sequence("(" | "<" | "[", _, items):
            return len(items)
        case Matrix(rows) if min(len(rows), len(rows[0])) == 1:
            return max(len(rows), len(rows[0]))
    return 0


def to_entries(node: Node, entries: int) -> Sequence | None:
    """An expression in `i`, `j` and `k` as the tuple of its coefficients; None where it is no such vector of that many entries."""
    if entries not in (2, 3) or contains(node, Sequence, Matrix):
        return None
    found = symbols(node) & BASIS.keys()
    if not found:
        return None
    vector = substitute(node, IMAGINARY, Symbol(" 0"))
    for name in found:
        vector = substitute(vector, Symbol(name), Symbol(f" {BASIS[name]}"))
    letters = [Symbol(f" {at}") for at in range(3)]
    values = [_at(vector, letters, one) for one in range(3)]
    if not scalar.compare_values(_at(vector, letters, None), ZERO).same:
        return None
    straight = Sum(tuple(Product((value, letter)) for value, letter in zip(values, letters, strict=True)))
    if not scalar.compare_values(vector, straight).same or (entries == 2 and letters[2] in walk(vector)):
        return None
    return Sequence("(", ")", tuple(values[:entries]))


def _at(vector: Node, letters: list[Symbol], one: int | None) -> Node:
    for at, letter in enumerate(letters):
        vector = substitute(vector, letter, ONE if at == one else ZERO)
    return vector


def is_in_basis(node: Node) -> bool:
    """Whether an expression has letters with accents that only vectors have: `2\\hat i`."""
    return any("(" in name for name in symbols(node) & BASIS.keys())


def to_tuple(node: Node) -> Sequence | None:
    """The tuple that sums and multiples of tuples work out to: `2(1,2)`, `(1,2)+(3,4)`."""
    match node:
        case Sequence("(" | "<", ")" | ">", (_, _, *_)):
            return node
        case Negative(operand):
            inner = to_tuple(operand)
            return None if inner is None else _each(inner, negate)
        case Sum((first, *others)):
            total = to_tuple(first)
            for term in others:
                part = to_tuple(term)
                if total is None or part is None or len(total.items) != len(part.items):
                    return None
                total = Sequence("(", ")", tuple(Sum(pair) for pair in zip(total.items, part.items, strict=True)))
            return total
        case Product(factors):
            vectors = [part for part in factors if isinstance(part, Sequence)]
            scalars = tuple(part for part in factors if not isinstance(part, Sequence))
            if len(vectors) != 1 or not scalars or any(symbols(part) for part in scalars):
                return None
            inner = to_tuple(vectors[0])
            return None if inner is None else _each(inner, lambda item: Product((*scalars, item)))
    return None


def _each(vector: Sequence, change: Callable[[Node], Node]) -> Sequence:
    return Sequence("(", ")", tuple(map(change, vector.items)))


def to_column(node: Node) -> Matrix | None:
    """`(1,2,3)^T`: the tuple as a column."""
    match node:
        case Power(Sequence("(" | "[" | "<", _, items), Symbol(name)) if name in TRANSPOSES:
            return Matrix(tuple((item,) for item in items))
    return None


MAX_SIDE = 8
MAX_MATRICES = 4
MAX_POWER = 4

Rows = tuple[tuple[Node, ...], ...]


def to_matrix(node: Node) -> Node | None:
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
