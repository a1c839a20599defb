"""Brackets: groups, tuples, intervals, sets, set-builders, absolute values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compass.verifier.reading import atoms
from compass.verifier.tree import Node, Unreadable

if TYPE_CHECKING:
    from compass.verifier.reading.parser import Parser

BRACKETS = {
    ("op", "("): ("(", [("op", ")"), ("op", "]")]), ("op", "["): ("[", [("op", "]"), ("op", ")")]),
    ("op", "\\{"): ("{", [("op", "\\}"), ("op", "}")]), ("cmd", "lbrace"): ("{", [("cmd", "rbrace")]), ("op", "{"): ("{}", [("op", "}"), ("op", "\\}")]),
    ("cmd", "langle"): ("<", [("cmd", "rangle")]), ("cmd", "lbrack"): ("[", [("cmd", "rbrack"), ("op", ")")]),
    ("cmd", "lgroup"): ("(", [("cmd", "rgroup")]), ("cmd", "lparen"): ("(", [("cmd", "rparen")]),
    ("cmd", "lvert"): ("|", [("cmd", "rvert"), ("op", "|")]), ("cmd", "lVert"): ("|", [("cmd", "rVert")]),
    ("op", "\\|"): ("|", [("op", "\\|")]), ("op", "|"): ("|", [("op", "|"), ("cmd", "rvert")]),
    ("cmd", "lfloor"): ("floor", [("cmd", "rfloor")]), ("cmd", "lceil"): ("ceil", [("cmd", "rceil")]),
    ("cmd", "llcorner"): ("floor", [("cmd", "lrcorner")]), ("cmd", "ulcorner"): ("ceil", [("cmd", "urcorner")]),
}  # fmt: skip
_CLOSE = {("op", ")"): ")", ("op", "]"): "]", ("op", "\\}"): "}", ("op", "}"): "}", ("cmd", "rangle"): ">", ("cmd", "rbrack"): "]",
          ("cmd", "rgroup"): ")", ("cmd", "rparen"): ")", ("cmd", "rbrace"): "}"}  # fmt: skip


def bracket(parser: Parser, token: tuple[str, str]) -> Node:
    """A bracket whose opening sign has been read: a group, a tuple, an interval, a set, an absolute value."""
    opening, closers = BRACKETS[token]
    bars, parser.bars = parser.bars, (1 if opening == "|" else 0)
    if opening == "{" and parser.token == ("cmd", "begin"):
        return _brace_of_rows(parser, closers)
    builder = opening[0] == "{" and _builder_head(parser)
    items, separators = parser.items(frozenset(closers))
    parser.bars = bars
    closing = parser.take()
    if opening == "|":
        return ("call", "abs", (_only(items),))
    if opening in ("floor", "ceil"):
        return ("call", opening, (_only(items),))
    if opening == "{}" and (len(items) == 1 or not items):
        return items[0] if items else ("word", "")
    if builder:
        return items[0] if len(items) == 1 else ("cases", tuple((item,) for item in items))
    close = _CLOSE[closing]
    if len(items) == 1 and opening in "([" and (opening + close) in ("()", "[]"):
        return items[0]
    if not items and opening != "{":
        raise Unreadable("empty brackets")
    return ("seq", opening[0], close, tuple(items if opening[0] == "{" else split_rows(items, separators)))


def _builder_head(parser: Parser) -> bool:
    """Read `x |` or `x \\in \\mathbb{R} :` at the start of a set-builder; what follows is the condition."""
    bars = (("op", "|"), ("op", ":"), ("cmd", "mid"), ("cmd", "colon"))
    if parser.token[0] != "sym":
        return False
    if parser.peek() in bars:
        parser.at += 2
        return True
    if parser.peek() == ("cmd", "in") and parser.peek(2) == ("cmd", "mathbb") and parser.peek(6) in bars:
        parser.at += 7
        return True
    return False


def _brace_of_rows(parser: Parser, closers: list[tuple[str, str]]) -> Node:
    """A large brace before rows, `\\left\\{\\begin{array}...`: a definition by cases; its right side may be left open."""
    node = atoms.prefix(parser)
    parser.accept(*closers)
    if node[0] != "matrix":
        return node
    return ("cases", node[1])


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
    return [("seq", "(", ")", tuple(row)) if len(row) > 1 else row[0] for row in rows]


def _only(items: list[Node]) -> Node:
    if len(items) != 1:
        raise Unreadable(f"one expression expected between the signs, found {len(items)}")
    return items[0]
