"""What an expression starts with, and the marks that may follow: numbers, names, functions, brackets, matrices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flint import fmpq

from compass.verifier.tree import Node, OverBudget, Unreadable, negate, number
from compass.verifier.vocabulary import FUNCTIONS

if TYPE_CHECKING:
    from compass.verifier.parser import Parser

MAX_DIGITS = 1000
MAX_DECIMAL_EXPONENT = 400
LIST, RELATION, SUM, PRODUCT, SIGN, POWER, POSTFIX = 10, 20, 40, 50, 55, 70, 80

_BRACKETS = {
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


def prefix(parser: Parser) -> Node:
    """The part of an expression that stands first: an atom, or a sign and what it signs."""
    token = parser.take()
    kind, value = token
    if kind == "num":
        return _number(parser, value)
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
    if token in _BRACKETS:
        return bracket(parser, token)
    if kind == "cmd":
        return command(parser, value)
    if kind in ("word", "roman"):
        words = [value]
        while parser.token[0] in ("word", "roman"):
            words.append(parser.take()[1])
        return ("word", " ".join(words))
    raise Unreadable("something is missing" if kind == "end" else f"unexpected {value!r}")


def _number(parser: Parser, text: str) -> Node:
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
    base = argument(parser)
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
        top, bottom = argument(parser), argument(parser)
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


def argument(parser: Parser) -> Node:
    """A TeX argument: a braced group, or one token (one digit of a number)."""
    token = parser.token
    if token == ("op", "{"):
        return bracket(parser, parser.take())
    if token[0] == "num":
        digits = token[1]
        if len(digits) > 1:
            parser.tokens[parser.at] = ("num", digits[1:])
            if digits[1] == ".":
                parser.at += 1
                return literal(digits)
        else:
            parser.at += 1
        return literal(digits[0])
    if token[0] == "cmd" and token[1] in FUNCTIONS | {"frac", "sqrt"}:
        return prefix(parser)
    if token == ("op", "-"):
        parser.at += 1
        return negate(argument(parser))
    if token[0] in ("sym", "word", "roman"):
        parser.at += 1
        return ("sym", token[1]) if token[0] == "sym" else ("word", token[1])
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
        exponent = literal(parser.take()[1])
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
        arguments = bracket(parser, parser.take())
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


def bracket(parser: Parser, token: tuple[str, str]) -> Node:
    """A bracket whose opening sign has been read: a group, a tuple, an interval, a set, an absolute value."""
    opening, closers = _BRACKETS[token]
    bars, parser.bars = parser.bars, (1 if opening == "|" else 0)
    items, separators = parser.items(frozenset(closers))
    parser.bars = bars
    closing = parser.take()
    if opening == "|":
        return ("call", "abs", (_only(items),))
    if opening in ("floor", "ceil"):
        return ("call", opening, (_only(items),))
    if opening == "{}" and (len(items) == 1 or not items):
        return items[0] if items else ("word", "")
    if opening == "{" and len(items) == 1 and items[0][0] == "rel" and items[0][1][0] == "mid":
        return _builder(items[0])
    close = _CLOSE[closing]
    if len(items) == 1 and opening in "([" and (opening + close) in ("()", "[]"):
        return items[0]
    if not items and opening != "{":
        raise Unreadable("empty brackets")
    return ("seq", opening[0], close, tuple(items if opening[0] == "{" else split_rows(items, separators)))


def _builder(relation: Node) -> Node:
    """`{x | x > 3}`: the set of what satisfies the condition."""
    ops, sides = relation[1][1:], relation[2][1:]
    return ("rel", ops, sides) if ops else sides[0]


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


def command(parser: Parser, name: str) -> Node:
    """An expression that starts with a command or a known name."""
    from compass.verifier import commands

    return commands.read(parser, name)
