"""Names: variables with their subscripts and primes, and the functions `f` and `g`."""

from __future__ import annotations

from compass.verifier.reading.lexer import Token
from compass.verifier.reading.numerals import based
from compass.verifier.reading.parser import END, Parser
from compass.verifier.reading.vocabulary import GREEK_SET
from compass.verifier.tree import (
    Call,
    Constant,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Sequence,
    Sum,
    Symbol,
    Unreadable,
    Words,
)

FUNCTION_NAMES = frozenset(["f", "g", "F", "G"])
"""Letters that before a bracket are functions."""
_OPEN, _CLOSE, _COMMA, _EQUALS, _MINUS = (("op", sign) for sign in "(),=-")
_BEGINNINGS = frozenset(
    [END, _COMMA, ("op", ";"), ("cmd", "and"), ("cmd", "or"), ("op", "\\\\"), ("op", "{"), ("op", "\\{")]
)
_OF_EVENTS = frozenset(
    [
        _EQUALS,
        ("op", "|"),
        *(("cmd", name) for name in ("mid", "cup", "cap", "ge", "le", "geq", "leq")),
        ("op", ">"),
        ("op", "<"),
    ]
)
_SUBSCRIPT, _PRIME = ("op", "_"), ("op", "'")


def symbol(parser: Parser, token: Token) -> Node:
    """The variable, constant or function call that starts with a letter."""
    return read_name(parser, token[1])


def read_name(parser: Parser, name: str) -> Node:
    """The same for a name that has been read already."""
    start = parser.at - 1
    while parser.accept(_SUBSCRIPT):
        name = f"{name}_{name_text(parser.subscript())}"
    while parser.accept(_PRIME):
        name += "'"
    if name in ("i", "e"):
        return Constant(name)
    if parser.token == _OPEN:
        if name in FUNCTION_NAMES or _is_applied(parser, name, start):
            match parser.prefix():
                case Sequence(_, _, items):
                    return Call(name, items)
                case argument:
                    return Call(name, (argument,))
        if start == 0 and name[0].isupper():
            event = _event(parser)
            if event is not None:
                return Call(name, (event,))
    return Symbol(name)


def _is_applied(parser: Parser, name: str, start: int) -> bool:
    """Whether the bracket after a letter holds what a function is applied to, and no factor: a number (`p(0)`), or before an equals sign
    letters (`h(x) =`). A capital letter before several numbers is a point."""
    at, tokens, letters = parser.at + 1, parser.tokens, 0
    while True:
        if tokens[at] == _MINUS:
            at += 1
        kind, value = tokens[at]
        if kind == "sym" or (kind == "cmd" and value in GREEK_SET):
            letters += 1
        elif kind != "num":
            return False
        at += 1
        if tokens[at] != _COMMA:
            break
        at += 1
    if tokens[at] != _CLOSE:
        return False
    if letters:
        return tokens[at + 1] == _EQUALS and tokens[start - 1] in _BEGINNINGS
    return at == parser.at + 2 + (tokens[parser.at + 1] == _MINUS) or not name[0].isupper()


def _event(parser: Parser) -> Words | None:
    """What is between the brackets of `P(A \\cup B) = ...`, as text; None where it is arithmetic."""
    at, depth, seen = parser.at + 1, 0, False
    while parser.tokens[at] != END:
        token = parser.tokens[at]
        if token == _OPEN:
            depth += 1
        elif token == _CLOSE:
            if depth == 0:
                break
            depth -= 1
        seen = seen or token in _OF_EVENTS or token[0] == "word"
        at += 1
    if not seen or parser.tokens[at + 1] != _EQUALS:
        return None
    text = " ".join(value for _, value in parser.tokens[parser.at + 1 : at])
    parser.at = at + 1
    return Words(text)


def add_prime(base: Node) -> Node:
    """The name with a prime after it."""
    match base:
        case Symbol(name):
            return Symbol(f"{name}'")
    raise Unreadable("a prime after something that is no name")


def subscripted(parser: Parser, base: Node, token: Token) -> Node:
    """The name with the subscript whose `_` has been read."""
    match base:
        case Symbol(name):
            return Symbol(f"{name}_{name_text(parser.subscript())}")
        case Number(value) if value.q == 1 and parser.tokens[parser.at - 2] == _CLOSE:
            return based(str(value), parser.subscript())
    raise Unreadable("a subscript on something that is no name")


def name_text(node: Node) -> str:
    """A subscript's text.

    Raises:
        Unreadable: a subscript that is no name.
    """
    match node:
        case Symbol(name) | Constant(name) | Words(name):
            return name
        case Number(value):
            return str(value)
        case Product(parts):
            return "".join(map(name_text, parts))
        case Sum(parts):
            return "+".join(map(name_text, parts))
        case Sequence(_, _, parts):
            return ",".join(map(name_text, parts))
        case Power(base, exponent):
            return f"{name_text(base)}^{name_text(exponent)}"
        case Negative(operand):
            return f"-{name_text(operand)}"
    raise Unreadable("a subscript that is no name")
