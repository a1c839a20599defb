"""Sums, products, integrals and limits: bounds as written, the rest of the term as the body."""

from __future__ import annotations

from compass.verifier.contents import substituted
from compass.verifier.reading.parser import SETOP, SUM, Parser
from compass.verifier.tree import (
    ABSENT,
    IMAGINARY,
    ONE,
    BigOperator,
    Constant,
    Node,
    Product,
    Relation,
    Symbol,
    Unreadable,
)

BIG_OPERATORS = ("bigcup", "bigcap", "sum", "prod", "int", "lim")


def big_operator(parser: Parser, name: str) -> Node:
    """An operator whose name has been read."""
    low = high = ABSENT
    for _ in range(2):
        if parser.accept(("op", "_")):
            low = parser.argument()
        elif parser.accept(("op", "^")):
            high = parser.argument()
    body = parser.expression(SETOP if name in ("bigcup", "bigcap") else SUM)
    variable = ""
    match low:
        case Relation(_, (Symbol(variable), low, *_)):
            pass
        case Relation(_, (Constant("i"), low, *_)):  # the index of a sum called `i` is not the imaginary unit
            variable, body = "i", substituted(body, IMAGINARY, Symbol("i"))
        case _ if name == "int":
            variable, body = _differential(body)
    return BigOperator(name, variable, low, high, body)


def _differential(body: Node) -> tuple[str, Node]:
    """Take `dx` off the end of an integral's body: its variable, and what is left."""
    factors = body.factors if isinstance(body, Product) else (body,)
    for at in range(len(factors) - 1):
        match factors[at : at + 2]:
            case (Symbol("d"), Symbol(variable)):
                rest = factors[:at] + factors[at + 2 :]
                return variable, (ONE if not rest else rest[0] if len(rest) == 1 else Product(rest))
    raise Unreadable("an integral without its differential")
