"""What comes after a value without an operator: the words and signs of a unit, a second part in another unit, a factor."""

from __future__ import annotations

from flint import fmpq

from compass.verifier.reading.lexer import Token
from compass.verifier.reading.numbers import FRACTIONS, MULTIPLES, read_literal
from compass.verifier.reading.numerals import numeral
from compass.verifier.reading.operators import divide, times
from compass.verifier.reading.parser import PRODUCT, Parser
from compass.verifier.reading.units import LETTERS, conversion_factor, find_unit, read_unit, spell_unit, split_unit
from compass.verifier.tree import (
    Call,
    Degrees,
    Matrix,
    Node,
    Number,
    Power,
    Product,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Unreadable,
    number,
    rebuild,
    symbols,
)

_WORDS = ("word", "roman")
_DOTS = frozenset([("cmd", "cdot"), ("op", "*"), ("cmd", "times")])
_OHM = frozenset([("cmd", "Omega"), ("cmd", "ohm")])
_MICRO = frozenset([("cmd", "mu"), ("cmd", "micro")])
_MINUTES = ("cmd", "min")
_SLASH, _OPEN, _CLOSE, _LEFT, _RIGHT = ("op", "/"), ("op", "("), ("op", ")"), ("op", "{"), ("op", "}")
_STARS = {"odot": "sun", "oplus": "earth"}
"""Signs of bodies whose mass and size are units."""


def starts_unit(parser: Parser) -> bool:
    """Whether the next token, which is no word, may begin a unit: a fraction of words, an ohm, a micro, a solar mass."""
    token = parser.token
    if token[0] == "sym":
        after = parser.peek()
        return (token[1] in ("k", "M", "G", "m") and after in _OHM) or (
            token[1] in "MRL" and after == ("op", "_") and parser.peek(2)[1] in _STARS
        )
    if token == ("cmd", "frac"):
        return parser.peek() == _LEFT and parser.peek(2)[0] in _WORDS
    return token in _OHM or (token in _MICRO and _unit_follows(parser, 1))


def continues_unit(token: Token) -> bool:
    """Whether a token after a prefix continues the unit: the ohm of `k\\Omega`."""
    return token in _OHM


def read_unit_words(parser: Parser) -> list[str]:
    """Read the words and signs of a unit, as `read_unit` takes them.

    Raises:
        Unreadable: a power that is no whole number, or a fraction that is no unit.
    """
    words: list[str] = []
    groups = 0
    while True:
        token = kind, word = parser.token
        if kind in _WORDS:
            words.append(word)
        elif token == _SLASH and _unit_follows(parser, 1):
            words.append("/")
        elif token in _DOTS and words and _unit_follows(parser, 1):
            pass
        elif kind == "sym" and (_continues(words, parser, token) or starts_unit(parser)):
            words.append(_star(parser, word) if parser.peek() == ("op", "_") else word)
        elif token == _MINUTES and words:
            words.append("min")
        elif token in _OHM:
            _join(words, "ohm")
        elif token in _MICRO:
            parser.at += 1
            words.append(f"μ{parser.token[1]}")
        elif token == _OPEN and words and words[-1] == "/":
            words.append("(")
            groups += 1
        elif token == _CLOSE and groups:
            words.append(")")
            groups -= 1
        elif token == ("op", "^") and words:
            words.append(_power(parser))
            continue
        elif token == ("cmd", "frac") and parser.peek() == _LEFT and parser.peek(2)[0] in _WORDS:
            words += _fraction(parser)
            continue
        elif token != ("op", ".") or not words:
            return words
        parser.at += 1


def _unit_follows(parser: Parser, ahead: int) -> bool:
    token = parser.peek(ahead)
    if token == _OPEN:
        token = parser.peek(ahead + 1)
    return token[0] in _WORDS or token in _OHM or token == _MINUTES or (token[0] == "sym" and token[1] in LETTERS)


def _continues(words: list[str], parser: Parser, token: Token) -> bool:
    """Whether a plain letter continues a unit: after a slash or a dot."""
    return bool(words) and token[1] in LETTERS and (words[-1] in ("/", "(") or parser.tokens[parser.at - 1] in _DOTS)


def _join(words: list[str], unit: str) -> None:
    """Add a unit to a prefix before it: `k` and `ohm`."""
    if words and words[-1] in ("k", "M", "G", "m"):
        words[-1] += unit
    else:
        words.append(unit)


def _star(parser: Parser, letter: str) -> str:
    parser.at += 2
    return f"{letter}_{_STARS.get(parser.token[1], parser.token[1])}"


def _power(parser: Parser) -> str:
    parser.at += 1
    match parser.argument():
        case Number(exponent) if exponent.q == 1 and abs(exponent) < 10:
            return f"^{exponent}"
    raise Unreadable("a unit with an unknown power")


def _fraction(parser: Parser) -> list[str]:
    """`\\frac{\\text{m}}{\\text{s}}`."""
    sides = []
    parser.at += 1
    for _ in range(2):
        if not parser.accept(_LEFT):
            raise Unreadable("a fraction that is no unit")
        sides.append(read_unit_words(parser))
        if not parser.accept(_RIGHT):
            raise Unreadable("a fraction that is no unit")
    return [*sides[0], "/", "(", *sides[1], ")"]


CURRENCIES = {
    "dollar": "dollar",
    "mathdollar": "dollar",
    "euro": "euro",
    "pounds": "gbp",
    "yen": "yen",
    "cent": "cent",
    "rupee": "rupee",
    "won": "won",
    "ruble": "ruble",
}
"""Commands for signs of currency, and the units that they stand for."""
_AND = ("cmd", "and")
_ARGUMENTS = frozenset(("op", sign) for sign in ("(", "[", "{", "\\{", "_"))
_PRIMES = frozenset([("op", "'"), ("cmd", "prime")])
_TEMPERATURES = frozenset(["celsius", "fahrenheit"])


def read_adjacent(parser: Parser, left: Node, power: int) -> Node | None:
    """A unit or a factor straight after a value; None where a looser operator has to read it."""
    if parser.token == _MINUTES and isinstance(left, Number) and parser.peek() not in _ARGUMENTS:
        parser.tokens[parser.at] = ("word", "min")  # minutes, not the least of something
    if power >= PRODUCT:
        return None
    kind = parser.token[0]
    if kind in _WORDS:
        if kind == "roman" and (parser.peek() == ("op", "_") or _is_variable(parser)):
            return times(left, parser.expression(PRODUCT))
        if parser.token[1] == "to" and parser.peek()[0] == "num":
            parser.at += 1
            return Ratio((left, parser.expression(PRODUCT)))
        return _with_unit(parser, left)
    if kind == "num":
        if isinstance(left, Degrees):
            return _arc(parser, left)
        if parser.peek() != ("op", "^") and not _is_factorial(left):
            raise Unreadable("a number straight after a value")
    if parser.token == _OPEN and parser.peek()[0] in _WORDS and not symbols(left):
        measured = _with_bracketed_unit(parser, left)
        if measured is not None:
            return measured
    if starts_unit(parser) and not symbols(left):
        start = parser.at
        try:
            return _with_unit(parser, left)
        except Unreadable:
            parser.at = start
    right = parser.expression(PRODUCT)
    if _is_point(left) and _is_point(right):
        points = left.items if left.opening == "" else (left,)
        return Sequence("", "", (*points, right))
    return times(left, right)


def _is_point(node: Node) -> bool:
    """Whether a node is a tuple, or tuples in a row: `(2,3)(2,7)`."""
    match node:
        case Sequence("", "", items):
            return all(map(_is_point, items))
        case Sequence("(", ")", (_, _, *_)):
            return True
    return False


def _is_factorial(node: Node) -> bool:
    """Whether a number may stand straight after: `3!7!`."""
    last = node.factors[-1] if isinstance(node, Product) else node
    return isinstance(last, Call) and last.function == "factorial"


def read_second_unit(parser: Parser, left: Quantity, power: int) -> Node | None:
    """A quantity in two units, `5 ft 8 in` or `2 hours and 30 minutes`, in the smaller; None where the second is missing."""
    if power >= PRODUCT:
        return None
    start, depth, commas = parser.at, parser.depth, parser.commas
    parser.accept(_AND)
    if parser.token[0] == "num":
        try:
            right = _with_unit(parser, numeral(parser, parser.take()))
        except Unreadable:
            right = None
        factor = conversion_factor(left.unit, right.unit) if isinstance(right, Quantity) else None
        if factor is not None and factor > 1:
            values = (left.value, right.value)
            if isinstance(values[0], Number) and isinstance(values[1], Number):
                return Quantity(number(factor * values[0].value + values[1].value), right.unit)
            return Quantity(Sum((Product((number(factor), left.value)), right.value)), right.unit)
    parser.at, parser.depth, parser.commas = start, depth, commas
    return None


def _is_variable(parser: Parser) -> bool:
    """Whether an upright letter names no unit, alone or with the sign after it: `3\\mathrm{x}`."""
    return find_unit(parser.token[1]) is None and not continues_unit(parser.peek())


def _with_bracketed_unit(parser: Parser, left: Node) -> Node | None:
    """`12 (meters)`, `12 (million)`, `12 (quarters)` which are coins; None, having read nothing, where the brackets hold anything else."""
    start = parser.at
    parser.at += 1
    if parser.token[1] in FRACTIONS and parser.peek() == _CLOSE:
        parser.at += 2
        return attach_unit(left, parser.peek(-2)[1].removesuffix("s"))
    try:
        measured = _with_unit(parser, left)
    except Unreadable:
        measured = left
    if measured is not left and parser.accept(_CLOSE):
        return measured
    parser.at = start
    return None


def _arc(parser: Parser, left: Degrees) -> Node:
    """Minutes and seconds of arc after degrees: `30^\\circ 15' 36''`."""
    value, size = left.value, fmpq(1)
    while parser.token[0] == "num" and size > fmpq(1, 3600):
        part = read_literal(parser.take()[1])
        primes = 0
        while parser.token in _PRIMES or (parser.token == ("op", "^") and parser.peek() in _PRIMES):
            parser.at += 1 if parser.token in _PRIMES else 2
            primes += 1
        if primes not in (1, 2) or fmpq(1, 60**primes) >= size:
            raise Unreadable("a number straight after a value")
        size = fmpq(1, 60**primes)
        value = Sum((value, Product((part, number(size)))))
    return Degrees(value)


def read_division(parser: Parser, left: Node, token: Token) -> Node:
    """`a / b`; `\\$5 / hour` has a unit."""
    if parser.token[0] in _WORDS and isinstance(left, Quantity):
        parser.at -= 1
        return _with_unit(parser, left)
    return divide(parser, left, token)


def currency_before(parser: Parser, token: Token) -> Node:
    """`\\$5`."""
    return attach_unit(parser.expression(PRODUCT), CURRENCIES[token[1]])


def currency_after(parser: Parser, left: Node, token: Token) -> Node:
    """`5 €`."""
    return attach_unit(left, CURRENCIES[token[1]])


def currency_word(parser: Parser, word: str) -> Node | None:
    """`USD 5`, `Rs. 5`; None where no amount follows."""
    ahead = 1 if parser.token == ("op", ".") else 0
    unit = find_unit(word)
    if unit is None or parser.peek(ahead)[0] != "num":
        return None
    parser.at += ahead
    return attach_unit(parser.expression(PRODUCT), unit)


def attach_unit(value: Node, unit: str) -> Node:
    """A value with its unit. A unit after a list, a set, an interval or a matrix measures each of its values, and one after a relation its
    last side: so no comparison of containers meets a unit."""
    match value:
        case Relation(operators, sides):
            return Relation(operators, (*sides[:-1], attach_unit(sides[-1], unit)))
        case Sequence() | SetOperation() | Matrix():
            return rebuild(value, lambda part: attach_unit(part, unit))
        case Degrees(inner) if unit in _TEMPERATURES:
            return Quantity(inner, unit)
        case Quantity(inner, own):
            return Quantity(
                inner, own if conversion_factor(own, unit) == 1 else spell_unit([*split_unit(own), *split_unit(unit)])
            )
        case _:
            return Quantity(value, unit)


def _with_unit(parser: Parser, left: Node) -> Node:
    """The value before words that multiply it (`million`, `squared`) or name its unit."""
    words = read_unit_words(parser)
    shown = " ".join(words)
    while words and not symbols(left):
        changed = _multiplied(left, words[0].lower(), of_things=words[1:2] == ["of"])
        if changed is None:
            break
        left, words = changed, words[1:]
    if not words:
        return left
    unit = read_unit(words)
    if unit is None or _has_late_multiple(words):
        raise Unreadable(f"cannot read {shown!r} after a value")
    return attach_unit(left, unit)


def _has_late_multiple(words: list[str]) -> bool:
    """Whether a word that multiplies stands where it is not the number's: `45 mph dozen`; `12 eggs per dozen` has it in its unit."""
    return any(
        word.lower() in MULTIPLES and (at == 0 or words[at - 1] not in ("per", "/", "("))
        for at, word in enumerate(words)
    )


def _multiple(value: Node, factor: int) -> Node:
    """A value times what a word stands for; `9 million` is a number, no product that is still to be worked out."""
    return number(value.value * factor) if isinstance(value, Number) else times(value, number(factor))


def _multiplied(value: Node, word: str, *, of_things: bool) -> Node | None:
    """The value that a word makes of the number before it: `5 million`, `5 halves`, `5 squared`; None for any other word."""
    match value:
        case Quantity(inner, unit) if word in MULTIPLES:
            return Quantity(_multiple(inner, MULTIPLES[word]), unit)
        case Quantity():
            return None
    if word in MULTIPLES:
        return _multiple(value, MULTIPLES[word])
    if word in FRACTIONS:
        return times(value, number(fmpq(1, FRACTIONS[word])))
    match word:
        case "squared":
            return Power(value, number(2))
        case "cubed":
            return Power(value, number(3))
        case "gross" if of_things:  # `500 gross` alone may be money before deductions, whose sign is gone
            return _multiple(value, 144)
        case "factorial":
            return Call("factorial", (value,))
    return None
