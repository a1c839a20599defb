"""Signs between values and after them: sums, products, powers, relations, set operations, marks."""

from __future__ import annotations

from flint import arb

from compass.verifier.comparing.numeric import approximate
from compass.verifier.reading.lexer import PLAIN_MOD, Token
from compass.verifier.reading.names import add_prime, name_text
from compass.verifier.reading.numbers import read_literal
from compass.verifier.reading.parser import (
    END,
    LIST,
    POSTFIX,
    POWER,
    PRODUCT,
    RATIO,
    RELATION,
    SETOP,
    SIGN,
    SUM,
    Parser,
)
from compass.verifier.reading.vocabulary import RELATIONS
from compass.verifier.tree import (
    ZERO,
    Call,
    Degrees,
    Inverse,
    NamedSet,
    Node,
    Number,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    Unreadable,
    Words,
    negate,
    quotient,
    symbols,
    walk,
)

_ARROWS = ("vec(", "hat(", "overrightarrow(")


def cross_product(left: Node, right: Node) -> Call | None:
    """`left \\times right` where both hold a letter under an arrow: it does not commute and is no dot product; None for a product of numbers."""
    if not (_has_arrow(left) and _has_arrow(right)):
        return None
    return Call("cross", (left, right))


def _has_arrow(node: Node) -> bool:
    return any(name.startswith(_ARROWS) for name in symbols(node))


RELATION_TOKENS = frozenset(("cmd" if name.isalpha() else "op", name) for name in RELATIONS)
SET_OPERATIONS = {"cup": "cup", "union": "cup", "cap": "cap", "setminus": "minus", "backslash": "minus"}
DEGREE_SIGNS = (("cmd", "circ"), ("cmd", "degree"))
_PRIMES = (("cmd", "prime"), ("op", "'"))
_OPEN, _CLOSE = ("op", "{"), ("op", "}")
_ARGUMENTS = frozenset([("op", "_"), ("op", "(")])
_TEMPERATURES = {"C": "celsius", "F": "fahrenheit"}


def minus_sign(parser: Parser, token: Token) -> Node:
    """`-a`."""
    return negate(parser.expression(SIGN))


def plus_sign(parser: Parser, token: Token) -> Node:
    """`+a`."""
    return parser.expression(SIGN)


def leading_relation(parser: Parser, token: Token) -> Node:
    """`= a`: an answer that begins with its equals sign."""
    return parser.expression(RELATION)


def leading_plus_minus(parser: Parser, token: Token) -> Node:
    """`±a`."""
    return PlusMinus(ZERO, parser.expression(SUM), token[1])


def add(parser: Parser, left: Node, token: Token) -> Node:
    """`a + b`."""
    return _sum(left, parser.expression(SUM))


def subtract(parser: Parser, left: Node, token: Token) -> Node:
    """`a - b`."""
    right = parser.expression(SUM)
    if _is_set(left) and _is_set(right) and not (_is_braced(left) and _is_braced(right)):
        return SetOperation("minus", left, right)
    return _sum(left, negate(right))


def _is_set(node: Node) -> bool:
    """Whether a node at this place can only be a set: `\\mathbb{R}`, braces, or the condition of a set-builder."""
    return isinstance(node, (NamedSet, SetOperation, Relation)) or (
        isinstance(node, Sequence) and node.opening in ("{", "")
    )


def _is_braced(node: Node) -> bool:
    """Whether a node is in braces that may only group: `\\{1+2\\}-\\{3\\}`."""
    return isinstance(node, Sequence) and len(node.items) == 1


def plus_minus(parser: Parser, left: Node, token: Token) -> Node:
    """`a ± b`."""
    return PlusMinus(left, parser.expression(SUM), token[1])


def multiply(parser: Parser, left: Node, token: Token) -> Node:
    """`a · b`. A product of names that is written with its sign, `AB \\cdot CD`, is no name, which runs of letters may be."""
    right = parser.expression(PRODUCT)
    if token[1] == "times" and (crossed := cross_product(left, right)) is not None:
        return crossed
    if isinstance(right, Symbol) and right.name[0].isupper() and isinstance(left, (Symbol, Product)):
        return Product((Product((left,)), right))
    return times(left, right)


def divide(parser: Parser, left: Node, token: Token) -> Node:
    """`a / b`."""
    return times(left, Inverse(parser.expression(PRODUCT)))


def residue(parser: Parser, left: Node, token: Token) -> Node:
    """`a (mod m)`, after a value or a congruence: the whole numbers that leave the remainder of `a`."""
    return residue_class(left, parser.argument())


def residue_class(left: Node, modulus: Node) -> Node:
    """A value, or the last side of a congruence, as its class of whole numbers."""
    match left:
        case Relation(("==" | "=",), (name, value)):
            return Relation(("=",), (name, Call("residue", (value, modulus))))
        case Relation():
            raise Unreadable("a congruence of more than two sides")
    return Call("residue", (left, modulus))


def share_modulus(items: list[Node]) -> list[Node]:
    """`n \\equiv 1, 3 (mod 4)`: the modulus after the last item holds for all."""
    match items[-1]:
        case Relation(("=",), (_, Call("residue", (_, modulus)))) | Call("residue", (_, modulus)):
            pass
        case _:
            return items
    first = items[0].sides[0] if isinstance(items[0], Relation) else None
    shared = [residue_class(item, modulus) if _lacks_modulus(item) else item for item in items]
    if first is None:
        return shared
    return [item if isinstance(item, Relation) else Relation(("=",), (first, item)) for item in shared]


def _lacks_modulus(node: Node) -> bool:
    match node:
        case Relation(operators, (_, value)):
            return operators == ("==",) or (operators == ("=",) and not isinstance(value, Call))
        case Call("residue"):
            return False
    return not isinstance(node, (Relation, Sequence))


def remainder(parser: Parser, left: Node, token: Token) -> Node:
    """`a mod b`."""
    return Call("mod", (left, parser.expression(PRODUCT)))


def remainder_or_class(parser: Parser, left: Node, token: Token) -> Node:
    """`a mod b` in plain text. `5 mod 7` names a class of numbers: nobody writes that for 5."""
    modulus = parser.expression(PRODUCT)
    match left, modulus:
        case Number(value), Number(size) if 0 <= value < size:
            return residue_class(left, modulus)
    return Call("mod", (left, modulus))


def over(parser: Parser, left: Node, token: Token) -> Node:
    """`{a \\over b}`: everything before it over everything after it."""
    return quotient(left, parser.expression(SETOP))


def choose(parser: Parser, left: Node, token: Token) -> Node:
    """`{n \\choose k}`, whose lower part reaches to the brace."""
    return Call("binom", (left, parser.expression(SETOP)))


def _is_minute(token: Token) -> bool:
    """Whether a token is two digits of which the first is 0, which no part of a ratio is."""
    return token[0] == "num" and len(token[1]) == 2 and token[1][0] == "0"


def ratio(parser: Parser, left: Node, token: Token) -> Node:
    """`a : b`, and on: `a : b : c`."""
    if _is_minute(parser.token) and isinstance(left, Number):
        return Words(f"{left.value}:{parser.take()[1]}")  # 6:03 is a time in any place
    right = parser.expression(RATIO)
    match left:
        case Ratio(items):
            return Ratio((*items, right))
        case _:
            return Ratio((left, right))


def set_operation(parser: Parser, left: Node, token: Token) -> Node:
    """A union, an intersection or a difference of sets."""
    return SetOperation(SET_OPERATIONS[token[1]], _braced(left), _braced(parser.expression(SETOP)))


def _braced(node: Node) -> Node:
    """A number next to a sign of set operations is the only member of a set: TeX takes the braces of `{3}` for its own."""
    return Sequence("{", "}", (node,)) if isinstance(node, Number) else node


def relation(parser: Parser, left: Node, token: Token) -> Node:
    """A chain of relations, whose first operator has just been read."""
    signs, operators, sides = [token[1]], [RELATIONS[token[1]]], [left]
    if operators == ["="] and parser.token == END:
        raise Unreadable("nothing after the relation")
    while True:
        sides.append(parser.expression(RELATION))
        token = parser.token
        if token not in RELATION_TOKENS:
            match sides[-1]:
                case Call("mod", (value, modulus)) if operators == ["=="]:
                    return residue_class(Relation(("==",), (left, value)), modulus)
            return _without_roundings(signs, operators, sides)
        parser.at += 1
        signs.append(token[1])
        operators.append(RELATIONS[token[1]])


def _without_roundings(signs: list[str], operators: list[str], sides: list[Node]) -> Node:
    """A chain of relations that ends before the first `≈` after a value and a number near it, which only rounds it: `\\sqrt2 \\approx 1.414`."""
    for at, sign in enumerate(signs):
        if sign == "approx" and not symbols(sides[at]) and all(_may_round(near, sides[at]) for near in sides[at + 1 :]):
            operators, sides = operators[:at], sides[: at + 1]
            break
    return Relation(tuple(operators), tuple(sides)) if operators else sides[0]


def _may_round(near: Node, exact: Node) -> bool:
    """Whether a number is within 1% of a value, in degrees where it counts radians, or less than one unit of its own last digit away."""
    digits = next((part for part in walk(near) if isinstance(part, Number)), None)
    value, rounded = (approximate(side.value if isinstance(side, Quantity) else side) for side in (exact, near))
    if value is None or rounded is None:
        return isinstance(exact, (Sequence, PlusMinus)) and type(exact) is type(near)
    written = "" if digits is None else digits.literal or str(digits.value)
    unit = (
        10.0 ** -len(written.partition(".")[2]) if "." in written else 10.0 ** (len(written) - len(written.rstrip("0")))
    )
    return any(
        (away := abs(float(scaled) - float(rounded))) < unit * (1 - 1e-9) or away <= abs(float(scaled)) / 100
        for scaled in (value, value * 180 / arb.pi())
    )


def factorial(parser: Parser, left: Node, token: Token) -> Node:
    """`n!` and `n!!`."""
    return Call("factorial2" if parser.accept(("op", "!")) else "factorial", (left,))


def percent(parser: Parser, left: Node, token: Token) -> Node:
    """`a %`."""
    return Percent(left)


def degrees(parser: Parser, left: Node, token: Token) -> Node:
    """`a °`, and a temperature: `a °C`."""
    if parser.token[1] in _TEMPERATURES and parser.token[0] in ("sym", "roman") and parser.peek() not in _ARGUMENTS:
        return Quantity(left, _TEMPERATURES[parser.take()[1]])
    return Degrees(left)


def prime(parser: Parser, left: Node, token: Token) -> Node:
    """`a'`."""
    return add_prime(left)


def power(parser: Parser, base: Node, token: Token) -> Node:
    """What follows `^`: an exponent, a degree sign or primes."""
    if parser.accept(*DEGREE_SIGNS):
        return degrees(parser, base, token)
    if parser.token == _OPEN and parser.peek() in DEGREE_SIGNS and parser.peek(2) == _CLOSE:
        parser.at += 3
        return degrees(parser, base, token)
    if parser.accept(*_PRIMES):
        return add_prime(base)
    if parser.token == _OPEN and parser.peek() in _PRIMES:
        return _primes(parser, base)
    exponent = _exponent(parser)
    if isinstance(base, Symbol) and parser.accept(("op", "_")):
        return Power(Symbol(f"{base.name}_{name_text(parser.subscript())}"), exponent)
    if parser.accept(("op", "^")):
        exponent = power(parser, exponent, token)
    return Power(base, exponent)


def _exponent(parser: Parser) -> Node:
    if parser.token == ("op", "("):
        return parser.expression(POWER)
    if parser.token[0] == "num":  # plain text writes 2^10, LaTeX 2^{10}: a whole number is the exponent
        return read_literal(parser.take()[1])
    if parser.token == ("op", "-") and parser.peek()[0] == "num":  # plain text: 10^-23
        parser.at += 1
        return negate(read_literal(parser.take()[1]))
    return parser.argument()


def _primes(parser: Parser, base: Node) -> Node:
    start = parser.at = parser.at + 1
    while parser.accept(*_PRIMES):
        pass
    count = parser.at - start
    if not parser.accept(_CLOSE):
        raise Unreadable("an exponent after a prime")
    for _ in range(count):
        base = add_prime(base)
    return base


def times(left: Node, right: Node) -> Node:
    """The product of two parts; a product on the left grows."""
    left, right = _group(left), _group(right)
    return Product((*left.factors, right)) if isinstance(left, Product) else Product((left, right))


def _sum(left: Node, right: Node) -> Node:
    return Sum((*left.terms, right)) if isinstance(left, Sum) else Sum((left, right))


def _group(node: Node) -> Node:
    """Braces around one factor group it: `\\{1+2\\}\\{3-4\\}`."""
    match node:
        case Sequence("{", _, (item,)):
            return item
    return node


PREFIX = {
    ("op", "-"): minus_sign,
    ("op", "+"): plus_sign,
    ("op", "="): leading_relation,
    ("op", "~"): leading_relation,
}
"""Operators before a value."""

INFIX = {
    **dict.fromkeys(RELATION_TOKENS, (RELATION, relation)),
    **{("cmd", name): (SETOP, set_operation) for name in SET_OPERATIONS},
    **dict.fromkeys([("op", ":"), ("cmd", "colon")], (RATIO, ratio)),
    ("op", "+"): (SUM, add),
    ("op", "-"): (SUM, subtract),
    **dict.fromkeys([("cmd", "pm"), ("cmd", "mp")], (SUM, plus_minus)),
    ("op", "*"): (PRODUCT, multiply),
    **{("cmd", name): (PRODUCT, multiply) for name in ("cdot", "times", "ast", "bullet", "star")},
    **dict.fromkeys([("cmd", "mod"), ("cmd", "bmod")], (PRODUCT, remainder)),
    ("cmd", "pmod"): (LIST + 5, residue),
    ("cmd", "choose"): (SETOP, choose),
    ("cmd", PLAIN_MOD): (PRODUCT, remainder_or_class),
    ("cmd", "over"): (SETOP, over),
    ("op", "^"): (POWER, power),
    ("op", "!"): (POSTFIX, factorial),
    **dict.fromkeys([("op", "%"), ("cmd", "percent")], (POSTFIX, percent)),
    **dict.fromkeys(DEGREE_SIGNS, (POSTFIX, degrees)),
    ("op", "'"): (POSTFIX, prime),
}
"""Operators after a value: how tightly each binds, and what reads on from it."""
