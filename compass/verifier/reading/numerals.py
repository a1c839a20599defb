"""Numbers inside an expression: thousands, repeating decimals, mixed numbers, other bases."""

from __future__ import annotations

import re

from flint import fmpq

from compass.verifier.reading.lexer import SPACED_COMMA, Token
from compass.verifier.reading.numbers import read_literal, read_number_words
from compass.verifier.reading.parser import Parser
from compass.verifier.tree import Based, Node, Number, OverBudget, Unreadable, Words, number

MAX_REPEATING = 60
"""Digits of a repeating decimal after its point."""
_POINT, _COMMA, _OPEN, _CLOSE, _FRACTION = ("op", "."), ("op", ","), ("op", "{"), ("op", "}"), ("cmd", "frac")
_DOTS = (("cmd", "ldots"), ("cmd", "dots"), ("cmd", "cdots"))
_DOT = ("cmd", "dot")
_OVERLINES = (("cmd", "overline"), ("cmd", "bar"), _DOT)
_REPEATING = frozenset([*_OVERLINES, *_DOTS, _POINT, ("op", "(")])
_PERIOD = re.compile(r"(\d)\1\1$|(\d{2,}?)\2$")
_GROUP_SIGNS = frozenset([("op", "'"), ("op", "_")])
_GROUPING = frozenset(",{'_")
_LEADING = re.compile(r"[1-9]\d{0,2}")
_DOTTED_LEADING = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_DOTTED_GROUP = re.compile(r"\.\d{3}")
_GROUP = re.compile(r"\d{3}(\.\d+)?")


def numeral(parser: Parser, token: Token) -> Node:
    """The number whose first digits have been read."""
    text = token[1]
    kind, sign = parser.tokens[parser.at]
    if (kind == "num" or sign in _GROUPING) and len(text) < 4 and _LEADING.fullmatch(text):
        text = _grouped(parser, text)
    elif kind == "num" and sign[0] == "." and _DOTTED_LEADING.fullmatch(text):
        text = _dotted(parser, text)
    if "." not in text and parser.accept(_POINT):
        repeating = _repeating(parser, f"{text}.")
        if repeating is not None:
            return repeating
        text += ".0"
    elif "." in text and parser.token in _REPEATING:
        repeating = _repeating(parser, text)
        if repeating is not None:
            return repeating
    if parser.token == ("op", "_"):
        return _based(parser, text)
    value = read_literal(text)
    return _mixed(parser, value) if value.literal is None else value


def _grouped(parser: Parser, text: str) -> str:
    """Join groups of three digits: `1,000`, `1{,}000`, `1'000`, `1 000`, `1_000`.

    Inside brackets that list values a comma joins only before a group that starts with 0 and can be nothing else.
    """
    groups, at, tokens = [text], parser.at, parser.tokens
    while True:
        token = tokens[at]
        if token == _COMMA:
            step = 0 if token is SPACED_COMMA else 1
        elif token == _OPEN:
            step = 3 if tokens[at + 1 : at + 3] == [_COMMA, _CLOSE] else 0
        elif token in _GROUP_SIGNS:
            step = 1
        elif token[0] == "num" and tokens[at + 1] != ("op", "/"):  # 1 234/567 is a mixed number
            groups.append(token[1])
            at += 1
            if not _GROUP.fullmatch(token[1]):
                return text
            continue
        else:
            break
        kind, group = tokens[at + step]
        if not step or kind != "num" or not _GROUP.fullmatch(group):
            break
        groups.append(group)
        at += step + 1
        if "." in group:
            break
    if len(groups) == 1 or (parser.commas and parser.token == _COMMA and groups[1][0] != "0"):
        return text
    parser.at = at
    return "".join(groups)


def _dotted(parser: Parser, text: str) -> str:
    """Join groups of three digits after points, of which there are two or more: `90.000.000`."""
    groups, at = [text], parser.at
    while parser.tokens[at][0] == "num" and _DOTTED_GROUP.fullmatch(parser.tokens[at][1]):
        groups.append(parser.tokens[at][1])
        at += 1
    if parser.tokens[at][0] == "num":
        return text
    parser.at = at
    return "".join(groups).replace(".", "") if len(groups) > 1 else text


def _repeating(parser: Parser, text: str) -> Number | None:
    """A repeating decimal: `0.1\\overline{6}`, `0.\\dot{3}`, `0.(3)`, `0.333...`; None where nothing repeats."""
    whole, _, fixed = text.partition(".")
    if not (whole + fixed).isdigit():
        raise Unreadable("a repeating decimal after an exponent")
    if parser.accept(*_OVERLINES):
        period = _digits(parser)
        if parser.token[0] == "num" and parser.peek() == _DOT:  # dots over the first and the last digit
            period += parser.take()[1]
        if parser.accept(_DOT):
            period += _digits(parser)
    elif parser.token == ("op", "(") and parser.peek()[1].isdigit() and parser.peek(2) == ("op", ")"):
        period = parser.peek()[1]
        parser.at += 3
    elif parser.token in _DOTS or (parser.token == _POINT and parser.peek() == _POINT):
        while parser.accept(_POINT, *_DOTS):
            pass
        match = _PERIOD.search(fixed)
        if match is None:
            return read_literal(text)
        period = match.group(1) or match.group(2)
    else:
        return None
    if len(fixed) + len(period) > MAX_REPEATING:
        raise OverBudget("a long repeating decimal")
    return number(
        fmpq(int(whole + fixed), 10 ** len(fixed)) + fmpq(int(period), 10 ** len(fixed) * (10 ** len(period) - 1))
    )


def _digits(parser: Parser) -> str:
    braced = parser.accept(_OPEN)
    kind, value = parser.take()
    if kind != "num" or not value.isdigit():
        raise Unreadable("a repeating decimal without digits")
    if braced and not parser.accept(_CLOSE):
        raise Unreadable("a brace is not closed")
    return value


def _based(parser: Parser, digits: str) -> Node:
    """`52_8`: digits in a base. Neither the digits alone nor the value equal it."""
    parser.at += 1
    return based(digits, parser.subscript())


def based(digits: str, base: Node) -> Node:
    """Digits, perhaps with a sign, in the base that a subscript names."""
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    match base:
        case Number(value) if value.q == 1:
            return Based(f"{sign}{digits.lstrip('0') or '0'}", str(value))
        case Words(name):
            known = read_number_words([name.lower()])
            return Based(f"{sign}{digits.lstrip('0') or '0'}", name.lower() if known is None else str(known))
    raise Unreadable("a number with a subscript that is no base")


def _digits_of(token: Token) -> str:
    return token[1] if token[0] == "num" else "0"


def _mixed(parser: Parser, whole: Number) -> Node:
    """`3\\frac12` and `1 1/4` are sums: a whole number before a proper fraction of whole numbers."""
    start = parser.at
    if parser.accept(_FRACTION):
        top, bottom = parser.argument(), parser.argument()
    elif parser.token == _OPEN and parser.tokens[parser.at + 2 : parser.at + 5 : 2] == [("cmd", "over"), _CLOSE]:
        top, bottom = read_literal(_digits_of(parser.peek())), read_literal(_digits_of(parser.peek(3)))
        parser.at += 5
    elif (
        parser.token[0] == parser.peek(2)[0] == "num" and parser.peek() == ("op", "/") and parser.peek(3) != ("op", "^")
    ):
        top, bottom = read_literal(parser.token[1]), read_literal(parser.peek(2)[1])
        parser.at += 3
    else:
        return whole
    match top, bottom:
        case Number(above, None), Number(below, None) if 0 < above < below and parser.token != ("op", "^"):
            return number(whole.value + above / below)
    parser.at = start
    return whole
