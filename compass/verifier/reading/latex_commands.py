"""What a LaTeX command or a known name starts: fractions, constants, accents, functions, matrices, sets of numbers."""

# ruff: noqa: SIM905 - a word list reads better as words
from __future__ import annotations

from collections.abc import Callable

from compass.verifier.contents import walk
from compass.verifier.reading.big_operators import BIG_OPERATORS, big_operator
from compass.verifier.reading.brackets import BRACKETS, bracket
from compass.verifier.reading.environments import environment
from compass.verifier.reading.functions import binomial, cube_root, function, root
from compass.verifier.reading.lexer import Token
from compass.verifier.reading.names import named, text_of
from compass.verifier.reading.numerals import based
from compass.verifier.reading.operators import leading_plus_minus, leading_relation
from compass.verifier.reading.parser import LIST, SIGN, Parser
from compass.verifier.reading.quantities import CURRENCIES, currency_before
from compass.verifier.reading.vocabulary import FUNCTION_ALIASES, FUNCTIONS, GREEK_SET, RELATIONS
from compass.verifier.tree import (
    IMAGINARY,
    Call,
    Constant,
    NamedSet,
    Node,
    Number,
    Sequence,
    Symbol,
    Unreadable,
    Words,
    quotient,
)

CONSTANTS = {"pi": "pi", "infty": "inf", "infin": "inf", "infinity": "inf", "inf": "inf", "exponentialE": "e"}
ACCENTS = (
    "bar overline vec hat tilde widehat widetilde dot ddot overrightarrow overarc arc angle triangle square".split()
)
PLAIN_SYMBOLS = "top intercal imath jmath odot oplus otimes dagger ast star prime bullet ell hbar partial nabla ldots dots cdots vdots".split()
_PARTS = {
    **dict.fromkeys(("+", ">0", "gt0", "++"), "+"),
    **dict.fromkeys(("0", "ge0", "geq0", ">=0", "geqslant0", "0+", "+0"), "0+"),
    **dict.fromkeys(("-", "<0", "lt0"), "-"),
    **dict.fromkeys(("*", "ast", "star", "ne0", "neq0", "times"), "*"),
}
"""Marks after the letter of a set of numbers, and the part of it that they name."""
_VARIANTS = {
    "varepsilon": "epsilon",
    "varphi": "phi",
    "vartheta": "theta",
    "varrho": "rho",
    "varsigma": "sigma",
}


def command(parser: Parser, token: Token) -> Node:
    """The expression that starts with a command."""
    if token in BRACKETS:
        return bracket(parser, token)
    name = token[1]
    if name not in GREEK_SET:
        name = FUNCTION_ALIASES.get(name, name)
    rule = COMMANDS.get(name)
    if rule is None:
        raise Unreadable(f"cannot read \\{name}")
    return rule(parser, name)


def _fraction(parser: Parser, name: str) -> Node:
    top = parser.argument()
    return quotient(top, parser.argument())


def _constant(parser: Parser, name: str) -> Node:
    return Constant(CONSTANTS[name])


def _greek(parser: Parser, name: str) -> Node:
    return named(parser, _VARIANTS.get(name, name))


def _greek_function(parser: Parser, name: str) -> Node:
    return function(parser, name.lower()) if parser.token == ("op", "(") else _greek(parser, name)


def _accent(parser: Parser, name: str) -> Node:
    shown = "bar" if name == "overline" else name
    below = parser.argument()
    if name == "overline" and isinstance(below, Number) and parser.accept(("op", "_")):
        return based(str(below.value), parser.argument())
    if shown == "bar" and IMAGINARY in walk(below) and below != IMAGINARY:
        return Call("conj", (below,))
    return named(parser, f"{shown}({text_of(below)})")


def _based(parser: Parser, name: str) -> Node:
    """`\\based{1A}{16}`, as `written_numbers` writes digits with letters among them."""
    parser.at += 1
    digits = ""
    while not parser.accept(("op", "}")):
        digits += parser.take()[1]
    return based(digits, parser.argument())


def _braced(parser: Parser, name: str) -> Node:
    """What stands over or under a brace; its label says nothing."""
    inside = parser.argument()
    if parser.accept(("op", "_"), ("op", "^")):
        parser.argument()
    return inside


def _argument(parser: Parser, name: str) -> Node:
    return parser.argument()


def _quantifier(parser: Parser, name: str) -> Node:
    """`\\forall x > 0`: a statement of its own, before the one that it is about."""
    return Sequence(name, "", (parser.expression(LIST),))


def _denial(parser: Parser, name: str) -> Node:
    return Call("not", (parser.expression(SIGN),))


def _empty_set(parser: Parser, name: str) -> Node:
    return Sequence("{", "}", ())


def _named_set(parser: Parser, name: str) -> Node:
    match parser.argument():
        case Symbol(letter) | Constant(letter) | Words(letter):
            return NamedSet(letter + _part(parser, letter))
    raise Unreadable("a letter is expected after \\mathbb")


def _part(parser: Parser, letter: str) -> str:
    """Which of the numbers of a set are meant, by a mark after its letter: `+` the positive ones, `0+` and zero, `-` the negative ones,
    `*` all but zero; empty where nothing says so."""
    if parser.token not in (("op", "^"), ("op", "_")):
        return ""
    signs = [value for _, value in (parser.peek(ahead) for ahead in range(1, 4))]
    width = 1
    if signs[0] == "{":
        closing = [value for _, value in parser.tokens[parser.at + 1 : parser.at + 6]]
        if "}" not in closing:
            return ""
        width = closing.index("}") + 1
        signs = closing[1 : width - 1]
    text = "".join(signs if width > 1 else signs[:1])
    part = _PARTS.get(text, "")
    if part:
        parser.at += width + 1
    return "+" if letter == "N" and part == "*" else part


def _plain_symbol(parser: Parser, name: str) -> Node:
    return Symbol(f"\\{name}")


def _plus_minus(parser: Parser, name: str) -> Node:
    return leading_plus_minus(parser, ("cmd", name))


def _relation(parser: Parser, name: str) -> Node:
    return leading_relation(parser, ("cmd", name))


def _currency(parser: Parser, name: str) -> Node:
    return currency_before(parser, ("cmd", name))


COMMANDS: dict[str, Callable[[Parser, str], Node]] = {
    **{name: _relation for name, meaning in RELATIONS.items() if meaning == "="},
    **dict.fromkeys(CURRENCIES, _currency),
    **dict.fromkeys(PLAIN_SYMBOLS, _plain_symbol),
    "mathbb": _named_set,
    **dict.fromkeys(("emptyset", "varnothing", "oslash"), _empty_set),
    **dict.fromkeys(("variable", "boxed", "fbox"), _argument),
    **dict.fromkeys(ACCENTS, _accent),
    **dict.fromkeys(("pm", "mp"), _plus_minus),
    "begin": environment,
    **dict.fromkeys(("forall", "exists"), _quantifier),
    **dict.fromkeys(("neg", "lnot"), _denial),
    **dict.fromkeys(BIG_OPERATORS, big_operator),
    **dict.fromkeys(FUNCTIONS, function),
    **dict.fromkeys(GREEK_SET, _greek),
    **dict.fromkeys(("gamma", "Gamma", "zeta"), _greek_function),
    **dict.fromkeys(("binom", "tbinom", "dbinom"), binomial),
    **dict.fromkeys(CONSTANTS, _constant),
    "cbrt": cube_root,
    "based": _based,
    **dict.fromkeys(("underbrace", "overbrace"), _braced),
    "sqrt": root,
    "frac": _fraction,
}
"""Every command that starts an expression, and its rule; of two for one name the later holds."""
