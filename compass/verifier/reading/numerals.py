"""Numbers as they are written: decimals, thousands, repeating decimals, mixed numbers, other bases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flint import fmpq

from compass.verifier.reading import atoms
from compass.verifier.tree import Node, OverBudget, Unreadable, number

if TYPE_CHECKING:
    from compass.verifier.reading.parser import Parser

MAX_DIGITS = 1000
MAX_DECIMAL_EXPONENT = 400


def literal(text: str) -> Node:
    """A number as written, exactly."""
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or (exponent and abs(int(exponent)) > MAX_DECIMAL_EXPONENT):
        raise OverBudget(f"a number of {len(text)} digits")
    whole, _, decimals = mantissa.partition(".")
    value = fmpq(int(whole + decimals or "0"), 10 ** len(decimals))
    if exponent:
        value *= fmpq(10) ** int(exponent)
    return ("num", value, text if decimals or exponent else None)


def read_number(parser: Parser, text: str) -> Node:
    if parser.token in (("op", ","), ("op", "{")) and parser.bars == 0:
        text = _grouped(parser, text)
    if parser.token == ("op", ".") and "." not in text:
        text = _repeating(parser, text + ".")
        if isinstance(text, tuple):
            return text
    elif "." in text and parser.token in (
        ("cmd", "overline"),
        ("cmd", "bar"),
        ("cmd", "dot"),
        ("op", "("),
        ("cmd", "ldots"),
        ("cmd", "dots"),
        ("cmd", "cdots"),
        ("op", "."),
    ):
        found = _repeating(parser, text)
        if isinstance(found, tuple):
            return found
    if parser.token == ("op", "_"):
        return _based(parser, text)
    node = literal(text)
    if node[2] is None:
        return _mixed(parser, node)
    return node


def _grouped(parser: Parser, text: str) -> str:
    """Join `1,000` and `1{,}000`: at the top level, or where a group starts with 0 and can be nothing else."""
    groups, at = [text], parser.at
    while True:
        tokens = parser.tokens[at : at + 4]
        if len(tokens) >= 2 and tokens[0] == ("op", ",") and tokens[1][0] == "num":
            step, value = 2, tokens[1][1]
        elif len(tokens) == 4 and tokens[:3] == [("op", "{"), ("op", ","), ("op", "}")] and tokens[3][0] == "num":
            step, value = 4, tokens[3][1]
        else:
            break
        if not re.fullmatch(r"\d{3}(\.\d+)?", value):
            break
        groups.append(value)
        at += step
        if "." in value:
            break
    if len(groups) == 1 or not re.fullmatch(r"[1-9]\d{0,2}", text):
        return text
    if parser.depth > 1 and groups[1][0] != "0":
        return text
    parser.at = at
    return "".join(groups)


def _repeating(parser: Parser, text: str) -> str | Node:
    """A repeating decimal: `0.1\\overline{6}`, `0.\\dot{3}`, `0.(3)`, `0.333...`."""
    whole, _, fixed = text.partition(".")
    if not (whole + fixed).isdigit():
        raise Unreadable("a repeating decimal after an exponent")
    token = parser.token
    if token == ("op", ".") and not fixed:
        parser.at += 1
        token = parser.token
    if token in (("cmd", "overline"), ("cmd", "bar"), ("cmd", "dot")):
        parser.at += 1
        period = _digits(parser)
    elif (
        token == ("op", "(")
        and parser.peek()[0] == "num"
        and parser.peek(2) == ("op", ")")
        and parser.peek()[1].isdigit()
    ):
        period = parser.peek()[1]
        parser.at += 3
    elif token in (("cmd", "ldots"), ("cmd", "dots"), ("cmd", "cdots")) or (
        token == ("op", ".") and parser.peek() == ("op", ".")
    ):
        while parser.token in (("op", "."), ("cmd", "ldots"), ("cmd", "dots"), ("cmd", "cdots")):
            parser.at += 1
        found = re.search(r"(\d)\1\1$|(\d{2,}?)\2$", fixed)
        if found is None:
            return literal(text)
        period = found.group(1) or found.group(2)
    else:
        return text if fixed else text + "0"
    if len(fixed) + len(period) > 60:
        raise OverBudget("a long repeating decimal")
    value = fmpq(int(whole + fixed or "0"), 10 ** len(fixed)) + fmpq(
        int(period), 10 ** len(fixed) * (10 ** len(period) - 1)
    )
    return number(value)


def _digits(parser: Parser) -> str:
    braced = parser.accept(("op", "{"))
    kind, value = parser.take()
    if kind != "num" or not value.isdigit():
        raise Unreadable("a repeating decimal without digits")
    if braced and not parser.accept(("op", "}")):
        raise Unreadable("a brace is not closed")
    return value


def _based(parser: Parser, digits: str) -> Node:
    """`52_8`: digits in a base. Neither the digits alone nor the value equal it."""
    parser.at += 1
    base = atoms.argument(parser)
    if base[0] == "num" and base[1].q == 1:
        return ("based", digits.lstrip("0") or "0", str(base[1]))
    if base[0] == "word":
        return ("based", digits, base[1].lower())
    raise Unreadable("a number with a subscript that is no base")


def _mixed(parser: Parser, whole: Node) -> Node:
    """`3\\frac12` and `1 1/4` are sums: a whole number before a proper fraction of whole numbers."""
    if parser.token == ("cmd", "frac"):
        start = parser.at
        parser.at += 1
        top, bottom = atoms.argument(parser), atoms.argument(parser)
    elif (
        parser.token[0] == "num"
        and parser.peek() == ("op", "/")
        and parser.peek(2)[0] == "num"
        and parser.peek(3) != ("op", "^")
    ):
        start = parser.at
        top, bottom = literal(parser.token[1]), literal(parser.peek(2)[1])
        parser.at += 3
    else:
        return whole
    if (
        top[0] == bottom[0] == "num"
        and top[2] is None
        and bottom[2] is None
        and 0 < top[1] < bottom[1]
        and parser.token != ("op", "^")
    ):
        return number(whole[1] + top[1] / bottom[1])
    parser.at = start
    return whole
