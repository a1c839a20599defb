"""What stands beside a value without an operator: a unit, the second part of a quantity in two units, a factor."""

from __future__ import annotations

from compass.verifier.contents import rebuilt
from compass.verifier.reading.lexer import Token
from compass.verifier.reading.numerals import numeral
from compass.verifier.reading.operators import times
from compass.verifier.reading.parser import PRODUCT, Parser
from compass.verifier.reading.units import conversion, unit_of
from compass.verifier.tree import (
    Matrix,
    Node,
    Number,
    Product,
    Quantity,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Unreadable,
    number,
)

CURRENCIES = {"dollar": "dollar", "euro": "euro", "pounds": "pound", "yen": "yen"}
_WORDS = ("word", "roman")
_AND, _MINUTES = ("cmd", "and"), ("cmd", "min")
_ARGUMENTS = frozenset(("op", sign) for sign in ("(", "[", "{", "\\{", "_"))


def beside(parser: Parser, left: Node, power: int) -> Node | None:
    """A unit or a factor straight after a value; None where a looser operator has to read it."""
    if parser.token == _MINUTES and isinstance(left, Number) and parser.peek() not in _ARGUMENTS:
        parser.tokens[parser.at] = ("word", "min")  # minutes, not the least of something
    if power >= PRODUCT:
        return None
    kind = parser.token[0]
    if kind in _WORDS:
        return _with_unit(parser, left)
    if kind == "num" and parser.peek() != ("op", "^"):
        raise Unreadable("a number straight after a value")
    return times(left, parser.expression(PRODUCT))


def continued(parser: Parser, left: Quantity, power: int) -> Node | None:
    """A quantity in two units, `5 ft 8 in` or `2 hours and 30 minutes`, in the smaller; None where the second is missing."""
    if power >= PRODUCT:
        return None
    start, depth = parser.at, parser.depth
    parser.accept(_AND)
    if parser.token[0] == "num":
        try:
            right = _with_unit(parser, numeral(parser, parser.take()))
        except Unreadable:
            right = None
        factor = conversion(left.unit, right.unit) if isinstance(right, Quantity) else None
        if factor is not None and factor > 1:
            return Quantity(Sum((Product((number(factor), left.value)), right.value)), right.unit)
    parser.at, parser.depth = start, depth
    return None


def currency_before(parser: Parser, token: Token) -> Node:
    """`\\$5`."""
    return measured(parser.expression(PRODUCT), CURRENCIES[token[1]])


def currency_after(parser: Parser, left: Node, token: Token) -> Node:
    """`5 €`."""
    return measured(left, CURRENCIES[token[1]])


def measured(value: Node, unit: str) -> Node:
    """A value with its unit. A unit after a list, a set, an interval or a matrix measures each of its values, and one after a relation its
    last side: so no comparison of containers meets a unit."""
    match value:
        case Relation(operators, sides):
            return Relation(operators, (*sides[:-1], measured(sides[-1], unit)))
        case Sequence() | SetOperation() | Matrix():
            return rebuilt(value, lambda part: measured(part, unit))
        case _:
            return Quantity(value, unit)


def _with_unit(parser: Parser, left: Node) -> Node:
    """The value before words that name its unit."""
    words: list[str] = []
    while True:
        match parser.token:
            case ("word" | "roman", word):
                words.append(word)
                parser.at += 1
            case ("op", "/") if words and parser.peek()[0] in _WORDS:
                words.append("/")
                parser.at += 1
            case ("cmd", "cdot") | ("op", "*") if words and parser.peek()[0] in _WORDS:
                parser.at += 1
            case ("op", "^") if words:
                parser.at += 1
                match parser.argument():
                    case Number(exponent):
                        words.append(f"^{exponent}")
                    case _:
                        raise Unreadable("a unit with an unknown power")
            case ("op", ".") if words:
                parser.at += 1
            case _:
                break
    unit = unit_of(words)
    if unit is None:
        raise Unreadable(f"cannot read {' '.join(words)!r} after a value")
    return measured(left, unit)
