"""The words and signs of a unit among a parser's tokens: `m/s`, `\\text{m}\\cdot\\text{s}^{-1}`, `\\frac{\\text{m}}{\\text{s}}`, `k\\Omega`."""

from __future__ import annotations

from compass.verifier.reading.lexer import Token
from compass.verifier.reading.parser import Parser
from compass.verifier.reading.units import LETTERS
from compass.verifier.tree import Number, Unreadable

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


def starts_unit_sign(token: Token) -> bool:
    """Whether a token after a prefix goes on with the unit: the ohm of `k\\Omega`."""
    return token in _OHM


def unit_words(parser: Parser) -> list[str]:
    """Read the words and signs of a unit, as `unit_of` takes them.

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
    """Whether a plain letter goes on with a unit: after a slash or a dot."""
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
        sides.append(unit_words(parser))
        if not parser.accept(_RIGHT):
            raise Unreadable("a fraction that is no unit")
    return [*sides[0], "/", "(", *sides[1], ")"]
