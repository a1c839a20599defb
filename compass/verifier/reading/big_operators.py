"""Sums, products, integrals and limits: bounds as written, the rest of the term as the body."""

from __future__ import annotations

from compass.verifier.contents import substituted
from compass.verifier.reading.parser import SETOP, SUM, Parser
from compass.verifier.tree import (
    ABSENT,
    IMAGINARY,
    ONE,
    BigOperator,
    Call,
    Constant,
    Inverse,
    Node,
    Number,
    Power,
    Product,
    Relation,
    Symbol,
    Unreadable,
    number,
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
    node = BigOperator(name, variable, low, high, body)
    return _zeta(node) or node


def _zeta(node: BigOperator) -> Node | None:
    """The sum of all `1 / n^s` for a whole `s` above 1, which has a name and so a value."""
    match node:
        case BigOperator(
            "sum",
            variable,
            Number(first),
            Constant("inf"),
            Product((Number(top), Inverse(Power(Symbol(base), Number(raised))))),
        ) if first == top == 1 and base == variable and raised.q == 1 and raised > 1:
            return Call("zeta", (number(raised),))
    return None


def _differential(body: Node) -> tuple[str, Node]:
    """Take `dx` off the end of an integral's body: its variable, and what is left."""
    factors = body.factors if isinstance(body, Product) else (body,)
    for at in range(len(factors) - 1):
        match factors[at : at + 2]:
            case (Symbol("d"), Symbol(variable)):
                rest = factors[:at] + factors[at + 2 :]
                return variable, (ONE if not rest else rest[0] if len(rest) == 1 else Product(rest))
    raise Unreadable("an integral without its differential")
