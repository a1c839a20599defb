"""Named functions with their powers, bases and operands: `\\sin^2 x`, `\\log_2 8`, `\\gcd(4, 6)`, `\\sqrt[3]{x}`."""

from __future__ import annotations

from compass.verifier.reading.operators import power
from compass.verifier.reading.parser import POWER, Parser
from compass.verifier.reading.plain_number import literal
from compass.verifier.reading.vocabulary import GREEK_SET
from compass.verifier.tree import Call, Negative, Node, Power, Product, Sequence, Symbol, Unreadable, Words, number

_INVERSE = {"sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot", "sec": "arcsec", "csc": "arccsc",
            "sinh": "arsinh", "cosh": "arcosh", "tanh": "artanh"}  # fmt: skip
_OPENERS = frozenset(
    [("op", sign) for sign in ("(", "[", "{", "\\{")]
    + [("cmd", name) for name in ("lgroup", "lbrace", "lbrack", "lparen")]
)
_MINUS_ONE = number(-1)


def function(parser: Parser, name: str) -> Node:
    """A function whose name has been read."""
    if parser.token == ("op", "}"):
        return Words(name)  # a subscript: m_{\max}
    exponent: Node | None = None
    base: Node | None = None
    for _ in range(2):
        if parser.accept(("op", "^")):
            exponent = _exponent(parser, name)
        elif name in ("log", "max", "min") and parser.accept(("op", "_")):
            base = parser.argument()
    if exponent == _MINUS_ONE and name in _INVERSE:
        name, exponent = _INVERSE[name], None
    arguments = _arguments(parser)
    node = Call("log", (arguments[0], base)) if base is not None and name == "log" else Call(name, arguments)
    return node if exponent is None else Power(node, exponent)


def root(parser: Parser, name: str) -> Node:
    """A root whose `\\sqrt` has been read."""
    if parser.token == ("op", "["):
        index = parser.prefix()
        return Call("root", (parser.argument(), index))
    if parser.token == ("op", "("):
        return Call("sqrt", (parser.prefix(),))
    if parser.token[0] == "num":  # plain text: sqrt2, √15; TeX takes one digit, and writes braces where it means more
        return Call("sqrt", (literal(parser.take()[1]),))
    return Call("sqrt", (parser.argument(),))


def cube_root(parser: Parser, name: str) -> Node:
    """`cbrt x`."""
    return Call("root", (_operand(parser), number(3)))


def binomial(parser: Parser, name: str) -> Node:
    """`\\binom{n}{k}`; with a bracket after it, a function of two arguments."""
    if parser.token != ("op", "("):
        return Call("binom", (parser.argument(), parser.argument()))
    if name == "binom":
        return function(parser, name)
    raise Unreadable(f"cannot read \\{name}")


def _exponent(parser: Parser, name: str) -> Node:
    match power(parser, Symbol("?"), ("op", "^")):
        case Power(_, exponent):
            return exponent
    raise Unreadable(f"a power of {name} that is no exponent")


def _arguments(parser: Parser) -> tuple[Node, ...]:
    if parser.token not in _OPENERS:
        return (_operand(parser),)
    depth, parser.depth = parser.depth, parser.depth + 1
    inside = parser.prefix()
    parser.depth = depth
    match inside:
        case Sequence(_, _, items):
            return items
    return (inside,)


def _operand(parser: Parser) -> Node:
    """A function's operand without brackets: factors up to the next sign or function."""
    if parser.token in _OPENERS:
        return _arguments(parser)[0]
    sign = parser.accept(("op", "-"))
    factors = [parser.expression(POWER - 1)]
    while _starts_factor(parser):
        factors.append(parser.expression(POWER - 1))
    node = factors[0] if len(factors) == 1 else Product(tuple(factors))
    return Negative(node) if sign else node


def _starts_factor(parser: Parser) -> bool:
    match parser.token:
        case ("num" | "sym", _):
            return True
        case ("cmd", name):
            return (name in GREEK_SET or name in ("frac", "sqrt")) and name != "gamma"
    return False
