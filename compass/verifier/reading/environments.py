"""`\\begin{...} ... \\end{...}`: matrices, determinants, definitions by cases, systems."""

from __future__ import annotations

from compass.verifier.contents import walk
from compass.verifier.reading.lexer import Token
from compass.verifier.reading.parser import END, Parser
from compass.verifier.tree import Cases, Matrix, Negative, Node, OverBudget, Product, Sum, Unreadable

MAX_DETERMINANT = 4
"""Rows of a determinant."""
MAX_CELL = 60
"""Nodes in a cell of a determinant."""
_ROW, _CELL, _FINISH = ("op", "\\\\"), ("op", "&"), ("cmd", "end")
_COMMAS = (("op", ","), ("op", ";"))
_CELL_ENDS = frozenset([_FINISH, _ROW, _CELL, *_COMMAS])
_CONJUNCTIONS: tuple[Token, ...] = tuple(("word", word) for word in ("if", "for", "when", "where"))
_NOT_CLOSED = "an environment is not closed"


def environment(parser: Parser, name: str) -> Node:
    """The environment whose `\\begin` has been read."""
    name = _name(parser)
    if name in ("array", "tabular") and parser.token == ("op", "{"):
        _skip_columns(parser)
    rows = _rows(parser, commas=name in ("cases", "aligned", "array"))
    if _name(parser) != name or not rows:
        raise Unreadable(f"the environment {name} is not well formed")
    if name in ("cases", "aligned", "align", "gathered", "split"):
        return Cases(rows)
    if len({len(row) for row in rows}) != 1:
        raise Unreadable("a matrix whose rows differ in length")
    return determinant(rows) if name in ("vmatrix", "Vmatrix") else Matrix(rows)


def determinant(rows: tuple[tuple[Node, ...], ...]) -> Node:
    """The determinant, expanded along the first row.

    Raises:
        Unreadable: a matrix that is not square, or of more than `MAX_DETERMINANT` rows.
        OverBudget: a cell of more than `MAX_CELL` nodes.
    """
    if len(rows) != len(rows[0]) or len(rows) > MAX_DETERMINANT:
        raise Unreadable("a determinant of a matrix that is not square, or has more than four rows")
    if any(len(walk(cell)) > MAX_CELL for row in rows for cell in row):
        raise OverBudget("a determinant of large expressions")
    if len(rows) == 1:
        return rows[0][0]
    terms: list[Node] = []
    for at, cell in enumerate(rows[0]):
        minor = tuple((*row[:at], *row[at + 1 :]) for row in rows[1:])
        term = Product((cell, determinant(minor)))
        terms.append(term if at % 2 == 0 else Negative(term))
    return Sum(tuple(terms))


def _rows(parser: Parser, *, commas: bool) -> tuple[tuple[Node, ...], ...]:
    """The rows up to `\\end`, which is read; `commas` may stand between cells too."""
    rows: list[tuple[Node, ...]] = []
    row: list[Node] = []
    while True:
        token = parser.token
        if token == END:
            raise Unreadable(_NOT_CLOSED)
        if token == _CELL or (commas and token in _COMMAS):
            parser.at += 1
        elif token in (_ROW, _FINISH):
            parser.at += 1
            if row:
                rows.append(tuple(row))
            row = []
            if token == _FINISH:
                return tuple(rows)
        elif token in _CELL_ENDS:
            raise Unreadable(f"unexpected {token[1]!r} in a matrix")
        elif not parser.accept(*_CONJUNCTIONS):
            row += parser.items(_CELL_ENDS)[0]


def _skip_columns(parser: Parser) -> None:
    """Pass over the `{cc}` that says how an array's columns are set."""
    while parser.take() != ("op", "}"):
        if parser.token == END:
            raise Unreadable(_NOT_CLOSED)


def _name(parser: Parser) -> str:
    letters = []
    if not parser.accept(("op", "{")):
        raise Unreadable("an environment without a name")
    while not parser.accept(("op", "}")):
        token = parser.take()
        if token == END:
            raise Unreadable("an environment without a name")
        letters.append(token[1])
    return "".join(letters).strip("*")
