"""Brackets, lists and rows: groups, tuples, intervals, sets, set-builders, absolute values, matrices and definitions by cases."""

from __future__ import annotations

from compass.verifier.reading.lexer import Token
from compass.verifier.reading.parser import BAR, END, LIST, SUCH_THAT, Parser
from compass.verifier.reading.vocabulary import RELATIONS
from compass.verifier.tree import (
    ABSENT,
    Call,
    Cases,
    Matrix,
    NamedSet,
    Negative,
    Node,
    OverBudget,
    Product,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Unreadable,
    walk,
)

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


_DIVIDERS = frozenset([BAR, ("op", ":"), ("cmd", "mid"), ("cmd", "colon"), ("op", ";")])
_OPENERS = frozenset(("op", sign) for sign in ("(", "[", "{", "\\{"))
_CLOSERS = frozenset(("op", sign) for sign in (")", "]", "}", "\\}"))
_RELATIONS = frozenset(("cmd" if name.isalpha() else "op", name) for name in RELATIONS)


def build_list(items: list[Node], separators: list[str]) -> Node:
    """Items without brackets, and what joins them: `or` unites what `and` and commas have joined.

    A word after the last comma joins all (`a, b, or c`), and so does a single word among commas, unless each of its sides
    gives several variables their values (`x = 1, y = 2 or x = 2, y = 1`).
    """
    words = {sign.lstrip(", ") for sign in separators} & {"and", "or"}
    if not words:
        return Sequence("", "", tuple(split_rows(items, separators)))
    if len(words) == 1 and not ("or" in separators and "," in separators and _assign_several(items)):
        return Sequence("", *words, tuple(items))
    groups: list[list[Node]] = [[items[0]]]
    for item, sign in zip(items[1:], separators, strict=True):
        if sign.endswith("or"):
            groups.append([item])
        else:
            groups[-1].append(item)
    parts = tuple(group[0] if len(group) == 1 else Sequence("", "and", tuple(group)) for group in groups)
    return Sequence("", "or", parts) if len(parts) > 1 else parts[0]


def _assign_several(items: list[Node]) -> bool:
    """Whether the items are equations with different names on their left."""
    names = {item.sides[0] for item in items if isinstance(item, Relation) and item.operators == ("=",)}
    return len(names) > 1


def split_rows(items: list[Node], separators: list[str]) -> list[Node]:
    """Items joined by both `;` and `,` are rows: `1,2;3,4` lists two pairs."""
    if ";" not in separators or "," not in separators:
        return items
    rows: list[list[Node]] = [[items[0]]]
    for item, sign in zip(items[1:], separators, strict=True):
        if sign == ";":
            rows.append([item])
        else:
            rows[-1].append(item)
    return [Sequence("(", ")", tuple(row)) if len(row) > 1 else row[0] for row in rows]


def read_set_head(parser: Parser) -> Node | None:
    """The head of a set-builder, `x` of `x | x > 1`, read with the sign after it; None where the braces hold no condition."""
    divider = _divider(parser)
    if divider is None:
        return None
    token, parser.tokens[divider] = parser.tokens[divider], SUCH_THAT
    head = parser.expression(LIST)
    if parser.at != divider:
        raise Unreadable(f"unexpected {parser.token[1]!r} before the {token[1]!r} of a set")
    parser.at += 1
    return head


def _divider(parser: Parser) -> int | None:
    """The place of the sign between the head and the condition of a set-builder: a single bar, or a sign before a relation."""
    depth, bars, colon, at = 0, [], None, parser.at
    while (token := parser.tokens[at]) != END:
        if token in _OPENERS:
            depth += 1
        elif token in _CLOSERS:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and token in _DIVIDERS:
            if token == ("cmd", "mid"):
                return at
            if token == BAR:
                bars.append(at)
            elif colon is None and (token != ("op", ";") or at == parser.at + 1):
                colon = at
        at += 1
    if len(bars) % 2:
        return bars[0] if bars[0] > parser.at else None
    if colon is not None and any(token in _RELATIONS for token in parser.tokens[colon:at]):
        return colon
    return None


def build_set(head: Node, items: list[Node], separators: list[str]) -> Node:
    """The condition of a set-builder: of `x | x > 1, x \\ne 2` the list of both, joined by `and`.

    A head that is more than a name stays before its conditions: `2k | k \\in \\mathbb{Z}` is the list of the two.
    """
    if not items:
        raise Unreadable("a set without a condition")
    conditions = (
        build_list(items, ["and" if sign in (",", ";") else sign for sign in separators]) if separators else items[0]
    )
    match head:
        case Relation(("in",), (head, NamedSet("R" | "C"))):
            pass
        case Relation(("in",), (inner, _)):
            head, conditions = inner, _both(conditions, head)
    if isinstance(head, Symbol) or (
        isinstance(head, Sequence) and all(isinstance(item, Symbol) for item in head.items)
    ):
        return conditions
    return _both(head, conditions, word="")


def _both(first: Node, second: Node, word: str = "and") -> Node:
    parts = [
        item
        for node in (first, second)
        for item in (
            node.items if isinstance(node, Sequence) and node.opening == "" and node.closing == "and" else (node,)
        )
    ]
    return Sequence("", word, tuple(parts))


BRACKETS: dict[Token, tuple[str, frozenset[Token]]] = {
    opener: (sign, frozenset(closers))
    for opener, sign, closers in (
        (("op", "("), "(", [("op", ")"), ("op", "]")]),
        (("op", "["), "[", [("op", "]"), ("op", ")")]),
        (("op", "\\{"), "{", [("op", "\\}"), ("op", "}")]),
        (("cmd", "lbrace"), "{", [("cmd", "rbrace")]),
        (("op", "{"), "{}", [("op", "}"), ("op", "\\}")]),
        (("cmd", "langle"), "<", [("cmd", "rangle")]),
        (("cmd", "lbrack"), "[", [("cmd", "rbrack"), ("op", ")")]),
        (("cmd", "lgroup"), "(", [("cmd", "rgroup")]),
        (("cmd", "lparen"), "(", [("cmd", "rparen")]),
        (("cmd", "lvert"), "|", [("cmd", "rvert"), BAR]),
        (("cmd", "lVert"), "|", [("cmd", "rVert")]),
        (("op", "\\|"), "|", [("op", "\\|")]),
        (BAR, "|", [BAR, ("cmd", "rvert")]),
        (("cmd", "lfloor"), "floor", [("cmd", "rfloor")]),
        (("cmd", "lceil"), "ceil", [("cmd", "rceil")]),
        (("cmd", "llcorner"), "floor", [("cmd", "lrcorner")]),
        (("cmd", "ulcorner"), "ceil", [("cmd", "urcorner")]),
    )
}
"""What an opening bracket is, and the tokens that close it; `{}` is TeX's own group."""
_CLOSING = {("op", ")"): ")", ("op", "]"): "]", ("op", "\\}"): "}", ("op", "}"): "}", ("cmd", "rangle"): ">", ("cmd", "rbrack"): "]",
            ("cmd", "rgroup"): ")", ("cmd", "rparen"): ")", ("cmd", "rbrace"): "}"}  # fmt: skip
_ONE_VALUE = frozenset(["|", "floor", "ceil"])


def bracket(parser: Parser, token: Token) -> Node:
    """What a bracket holds whose opening sign has been read: a group, a tuple, an interval, a set, an absolute value."""
    opening, closers = BRACKETS[token]
    bars, parser.bars = parser.bars, (1 if opening == "|" else 0)
    commas, parser.commas = parser.commas, opening not in _ONE_VALUE and not (opening == "{}" and parser.grouping)
    parser.grouping = False
    if opening == "{" and parser.token == ("cmd", "begin"):
        return _brace_of_rows(parser, closers)
    head = read_set_head(parser) if opening in ("{", "{}") else None
    items, separators = parser.items(closers)
    parser.bars, parser.commas = bars, commas
    closing = parser.take()
    if opening in _ONE_VALUE:
        return _absolute(_only(items)) if opening == "|" else Call(opening, (_only(items),))
    if opening == "{}" and len(items) < 2:
        return items[0] if items else ABSENT
    if head is not None:
        return build_set(head, items, separators)
    opening, close = opening[0], _CLOSING[closing]
    if len(items) == 1 and opening + close in ("()", "[]"):
        return items[0]
    if not items and opening != "{":
        raise Unreadable("empty brackets")
    if opening == "(" and separators and set(separators) <= {"and", "or"}:
        return build_list(items, separators)
    return Sequence(opening, close, tuple(items if opening == "{" else split_rows(items, separators)))


def _brace_of_rows(parser: Parser, closers: frozenset[Token]) -> Node:
    """A large brace before rows, `\\left\\{\\begin{array}...`: a definition by cases; its right side may be left open."""
    node = parser.prefix()
    parser.accept(*closers)
    match node:
        case Matrix(rows):
            return Cases(rows)
    return node


def _absolute(inside: Node) -> Node:
    """What bars hold: an absolute value, or a determinant."""
    return determinant(inside.rows) if isinstance(inside, Matrix) else Call("abs", (inside,))


def _only(items: list[Node]) -> Node:
    if len(items) != 1:
        raise Unreadable(f"one expression expected between the signs, found {len(items)}")
    return items[0]
