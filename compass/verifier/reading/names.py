"""Names: variables with their subscripts and primes, and the functions `f` and `g`."""

from __future__ import annotations

from compass.verifier.reading.lexer import Token
from compass.verifier.reading.parser import Parser
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
_SUBSCRIPT, _PRIME = ("op", "_"), ("op", "'")


def symbol(parser: Parser, token: Token) -> Node:
    """The variable, constant or function call that starts with a letter."""
    return named(parser, token[1])


def named(parser: Parser, name: str) -> Node:
    """The same for a name that has been read already."""
    while parser.accept(_SUBSCRIPT):
        name = f"{name}_{text_of(parser.argument())}"
    while parser.accept(_PRIME):
        name += "'"
    if name in ("i", "e"):
        return Constant(name)
    if name in FUNCTION_NAMES and parser.token == ("op", "("):
        match parser.prefix():
            case Sequence(_, _, items):
                return Call(name, items)
            case argument:
                return Call(name, (argument,))
    return Symbol(name)


def primed(base: Node) -> Node:
    """The name with a prime after it."""
    match base:
        case Symbol(name):
            return Symbol(f"{name}'")
    raise Unreadable("a prime after something that is no name")


def subscripted(parser: Parser, base: Node, token: Token) -> Node:
    """The name with the subscript whose `_` has been read."""
    match base:
        case Symbol(name):
            return Symbol(f"{name}_{text_of(parser.argument())}")
    raise Unreadable("a subscript on something that is no name")


def text_of(node: Node) -> str:
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
            return "".join(map(text_of, parts))
        case Sum(parts):
            return "+".join(map(text_of, parts))
        case Sequence(_, _, parts):
            return ",".join(map(text_of, parts))
        case Power(base, exponent):
            return f"{text_of(base)}^{text_of(exponent)}"
        case Negative(operand):
            return f"-{text_of(operand)}"
    raise Unreadable("a subscript that is no name")
