"""Brackets: groups, tuples, intervals, sets, set-builders, absolute values."""

from __future__ import annotations

from compass.verifier.reading.lexer import Token
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
_CONDITION = (BAR, ("op", ":"), ("cmd", "mid"), ("cmd", "colon"))


def bracket(parser: Parser, token: Token) -> Node:
    """What a bracket holds whose opening sign has been read: a group, a tuple, an interval, a set, an absolute value."""
    opening, closers = BRACKETS[token]
    bars, parser.bars = parser.bars, (1 if opening == "|" else 0)
    commas, parser.commas = parser.commas, opening not in _ONE_VALUE and not (opening == "{}" and parser.grouping)
    parser.grouping = False
    if opening == "{" and parser.token == ("cmd", "begin"):
        return _brace_of_rows(parser, closers)
    builder = opening in ("{", "{}") and _builder_head(parser)
    items, separators = parser.items(closers)
    parser.bars, parser.commas = bars, commas
    closing = parser.take()
    if opening in _ONE_VALUE:
        return Call("abs" if opening == "|" else opening, (_only(items),))
    if opening == "{}" and len(items) < 2:
        return items[0] if items else ABSENT
    if builder:
        return items[0] if len(items) == 1 else Cases(tuple((item,) for item in items))
    opening, close = opening[0], _CLOSING[closing]
    if len(items) == 1 and opening + close in ("()", "[]"):
        return items[0]
    if not items and opening != "{":
        raise Unreadable("empty brackets")
    return Sequence(opening, close, tuple(items if opening == "{" else split_rows(items, separators)))


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


def _builder_head(parser: Parser) -> bool:
    """Read `x |` or `x \\in \\mathbb{R} :` at the start of a set-builder; what follows is the condition."""
    if parser.token[0] != "sym":
        return False
    if parser.peek() in _CONDITION:
        parser.at += 2
        return True
    if parser.peek() == ("cmd", "in") and parser.peek(2) == ("cmd", "mathbb") and parser.peek(6) in _CONDITION:
        parser.at += 7
        return True
    return False


def _brace_of_rows(parser: Parser, closers: frozenset[Token]) -> Node:
    """A large brace before rows, `\\left\\{\\begin{array}...`: a definition by cases; its right side may be left open."""
    node = parser.prefix()
    parser.accept(*closers)
    match node:
        case Matrix(rows):
            return Cases(rows)
    return node


def _only(items: list[Node]) -> Node:
    if len(items) != 1:
        raise Unreadable(f"one expression expected between the signs, found {len(items)}")
    return items[0]
