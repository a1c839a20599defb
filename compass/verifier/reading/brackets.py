"""Brackets: groups, tuples, intervals, sets, set-builders, absolute values."""

from __future__ import annotations

from compass.verifier.reading.environments import determinant
from compass.verifier.reading.lexer import Token
from compass.verifier.reading.lists import bare_list, built_set, set_builder, split_rows
from compass.verifier.reading.parser import BAR, Parser
from compass.verifier.tree import ABSENT, Call, Cases, Matrix, Node, Sequence, Unreadable

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
    head = set_builder(parser) if opening in ("{", "{}") else None
    items, separators = parser.items(closers)
    parser.bars, parser.commas = bars, commas
    closing = parser.take()
    if opening in _ONE_VALUE:
        return _absolute(_only(items)) if opening == "|" else Call(opening, (_only(items),))
    if opening == "{}" and len(items) < 2:
        return items[0] if items else ABSENT
    if head is not None:
        return built_set(head, items, separators)
    opening, close = opening[0], _CLOSING[closing]
    if len(items) == 1 and opening + close in ("()", "[]"):
        return items[0]
    if not items and opening != "{":
        raise Unreadable("empty brackets")
    if opening == "(" and separators and set(separators) <= {"and", "or"}:
        return bare_list(items, separators)
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
