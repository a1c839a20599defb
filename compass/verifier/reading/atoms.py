"""What an expression starts with, and the marks that may follow: numbers, names, functions, brackets, matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compass.verifier.reading import brackets, latex_commands, numerals
from compass.verifier.reading.vocabulary import FUNCTIONS
from compass.verifier.tree import Node, Unreadable, negate

if TYPE_CHECKING:
    from compass.verifier.reading.parser import Parser

LIST, RELATION, SETOP, SUM, PRODUCT, SIGN, POWER, POSTFIX = 10, 20, 30, 40, 50, 55, 70, 80


_HEDGES = frozenset(["about", "approximately", "approx", "roughly", "exactly", "nearly", "almost"])


def prefix(parser: Parser) -> Node:
    """The part of an expression that stands first: an atom, or a sign and what it signs."""
    token = parser.take()
    kind, value = token
    if kind == "num":
        return numerals.read_number(parser, value)
    if kind == "sym":
        return _symbol(parser, value)
    if kind == "op":
        if value == "-":
            return negate(parser.expression(SIGN))
        if value == "+":
            return parser.expression(SIGN)
        if value in ("=", "~"):
            return parser.expression(RELATION)
        if value == "?" or value == '"':
            raise Unreadable(f"unexpected {value!r}")
    if token in brackets.BRACKETS:
        return brackets.bracket(parser, token)
    if kind == "cmd":
        return latex_commands.read(parser, value)
    if kind in ("word", "roman"):
        if value.lower() in _HEDGES and parser.token[0] == "num":
            return parser.expression(RELATION)
        if kind == "roman" and parser.token[0] not in ("word", "roman"):
            return ("sym", value)
        words = [value]
        while parser.token[0] in ("word", "roman"):
            words.append(parser.take()[1])
        return ("word", " ".join(words))
    raise Unreadable("something is missing" if kind == "end" else f"unexpected {value!r}")


def argument(parser: Parser) -> Node:
    """A TeX argument: a braced group, or one token (one digit of a number)."""
    token = parser.token
    if token == ("op", "{"):
        return brackets.bracket(parser, parser.take())
    if token[0] == "num":
        digits = token[1]
        if len(digits) > 1:
            parser.tokens[parser.at] = ("num", digits[1:])
            if digits[1] == ".":
                parser.at += 1
                return numerals.literal(digits)
        else:
            parser.at += 1
        return numerals.literal(digits[0])
    if token[0] == "cmd" and token[1] in FUNCTIONS | {"frac", "sqrt"}:
        return prefix(parser)
    if token == ("op", "-"):
        parser.at += 1
        return negate(argument(parser))
    if token[0] in ("sym", "word", "roman"):
        parser.at += 1
        if token[0] == "sym":
            return ("const", token[1]) if token[1] in ("i", "e") else ("sym", token[1])
        return ("word", token[1])
    return prefix(parser)


def power(parser: Parser, base: Node) -> Node:
    """What follows `^`: an exponent, a degree sign, a prime, or an inverse function's `-1`."""
    if parser.token in (("cmd", "circ"), ("cmd", "degree")):
        parser.at += 1
        return ("degree", base)
    if (
        parser.token == ("op", "{")
        and parser.peek() in (("cmd", "circ"), ("cmd", "degree"))
        and parser.peek(2) == ("op", "}")
    ):
        parser.at += 3
        return ("degree", base)
    if parser.token in (("cmd", "prime"), ("op", "'")):
        parser.at += 1
        return _primed(base)
    if parser.token == ("op", "{") and parser.peek() in (("cmd", "prime"), ("op", "'")):
        count = 0
        parser.at += 1
        while parser.accept(("cmd", "prime"), ("op", "'")):
            count += 1
        if not parser.accept(("op", "}")):
            raise Unreadable("an exponent after a prime")
        for _ in range(count):
            base = _primed(base)
        return base
    if parser.token == ("op", "("):
        exponent = parser.expression(POWER)
    elif parser.token == ("op", "{") or parser.token[0] != "num":
        exponent = argument(parser)
    else:  # plain text writes 2^10, LaTeX 2^{10}: a whole number is the exponent
        exponent = numerals.literal(parser.take()[1])
    if base[0] == "sym" and parser.token == ("op", "_"):
        parser.at += 1
        return ("pow", ("sym", f"{base[1]}_{_name(argument(parser))}"), exponent)
    if parser.token == ("op", "^"):
        parser.at += 1
        exponent = power(parser, exponent)
    return ("pow", base, exponent)


def _primed(base: Node) -> Node:
    if base[0] != "sym":
        raise Unreadable("a prime after something that is no name")
    return ("sym", base[1] + "'")


def postfix(parser: Parser, left: Node, name: str) -> Node:
    """A mark after a value."""
    if name == "!":
        double = parser.accept(("op", "!"))
        return ("call", "factorial2" if double else "factorial", (left,))
    if name == "%":
        return ("percent", left)
    if name == "currency":
        return ("unit", left, latex_commands.CURRENCY[parser.tokens[parser.at - 1][1]])
    if name == "deg":
        return ("degree", left)
    if name == "'":
        return _primed(left)
    if left[0] == "sym":
        return ("sym", f"{left[1]}_{_name(argument(parser))}")
    raise Unreadable("a subscript on something that is no name")


def _symbol(parser: Parser, name: str) -> Node:
    while parser.token == ("op", "_"):
        parser.at += 1
        name = f"{name}_{_name(argument(parser))}"
    while parser.token in (("op", "'"),):
        parser.at += 1
        name += "'"
    if name in ("i", "e"):
        return ("const", name)
    if name in ("f", "g", "F", "G") and parser.token == ("op", "("):
        arguments = brackets.bracket(parser, parser.take())
        return ("call", name, arguments[3] if arguments[0] == "seq" else (arguments,))
    return ("sym", name)


def _name(node: Node) -> str:
    """A subscript's text."""
    kind = node[0]
    if kind in ("sym", "word", "const"):
        return str(node[1])
    if kind == "num":
        return str(node[1])
    if kind in ("mul", "add"):
        return ("" if kind == "mul" else "+").join(_name(part) for part in node[1])
    if kind == "seq":
        return ",".join(_name(part) for part in node[3])
    if kind == "pow":
        return f"{_name(node[1])}^{_name(node[2])}"
    if kind == "neg":
        return "-" + _name(node[1])
    raise Unreadable("a subscript that is no name")
