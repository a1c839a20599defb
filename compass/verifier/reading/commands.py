"""What a LaTeX command or a known name starts: fractions, functions with their powers and bases, sums and integrals, accents, sets of numbers."""

# ruff: noqa: SIM905 - a word list reads better as words
from __future__ import annotations

from collections.abc import Callable

from compass.verifier.reading.brackets import BRACKETS, bracket, environment
from compass.verifier.reading.lexer import Token
from compass.verifier.reading.names import name_text, read_name
from compass.verifier.reading.numbers import read_literal
from compass.verifier.reading.numerals import based
from compass.verifier.reading.operators import leading_plus_minus, leading_relation, power
from compass.verifier.reading.parser import LIST, POWER, SETOP, SIGN, SUM, Parser
from compass.verifier.reading.quantities import CURRENCIES, currency_before
from compass.verifier.reading.vocabulary import FUNCTION_ALIASES, FUNCTIONS, GREEK_SET, RELATIONS
from compass.verifier.tree import (
    ABSENT,
    IMAGINARY,
    ONE,
    BigOperator,
    Call,
    Constant,
    Inverse,
    NamedSet,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Relation,
    Sequence,
    Symbol,
    Unreadable,
    Words,
    number,
    quotient,
    substitute,
    walk,
)

BIG_OPERATORS = ("bigcup", "bigcap", "sum", "prod", "int", "lim")


def big_operator(parser: Parser, name: str) -> Node:
    """An operator whose name has been read."""
    low = high = ABSENT
    for _ in range(2):
        if parser.accept(("op", "_")):
            low = parser.argument()
        elif parser.accept(("op", "^")):
            high = parser.argument()
    body = parser.expression(SETOP if name in ("bigcup", "bigcap") else SUM)
    variable = ""
    match low:
        case Relation(("=" | "in" | "to", *_), (Symbol(variable), low, *_)):
            pass
        case Relation(
            ("=" | "in", *_), (Constant("i"), low, *_)
        ):  # the index of a sum called `i` is not the imaginary unit
            variable, body = "i", substitute(body, IMAGINARY, Symbol("i"))
        case _ if name == "int":
            variable, body = _differential(body)
    node = BigOperator(name, variable, low, high, body)
    return _zeta(node) or node


def _zeta(node: BigOperator) -> Node | None:
    """The sum of all `1 / n^s` for a whole `s` above 1, which has a name and so a value."""
    match node:
        case BigOperator(
            "sum",
            variable,
            Number(first),
            Constant("inf"),
            Product((Number(top), Inverse(Power(Symbol(base), Number(raised))))),
        ) if first == top == 1 and base == variable and raised.q == 1 and raised > 1:
            return Call("zeta", (number(raised),))
    return None


def _differential(body: Node) -> tuple[str, Node]:
    """Take `dx` off the end of an integral's body: its variable, and what is left."""
    factors = body.factors if isinstance(body, Product) else (body,)
    for at in range(len(factors) - 1):
        match factors[at : at + 2]:
            case (Symbol("d"), Symbol(variable)):
                rest = factors[:at] + factors[at + 2 :]
                return variable, (ONE if not rest else rest[0] if len(rest) == 1 else Product(rest))
    raise Unreadable("an integral without its differential")


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
            exponent = _function_exponent(parser, name)
        elif name in ("log", "max", "min") and parser.accept(("op", "_")):
            base = parser.subscript() if _is_whole_base(parser) else parser.argument()
    if exponent == _MINUS_ONE and name in _INVERSE:
        name, exponent = _INVERSE[name], None
    arguments = _arguments(parser)
    node = Call("log", (arguments[0], base)) if base is not None and name == "log" else Call(name, arguments)
    return node if exponent is None else Power(node, exponent)


def _is_whole_base(parser: Parser) -> bool:
    """Whether digits after `\\log_` are the base as a whole: before a bracket or a number of its own, `\\log_16(4)`, `\\log_27 9`, and where
    TeX's reading would have the base 1, `\\log_10 x`. Else TeX's reading holds: `\\log_28` is `\\log_2 8`."""
    digits, after = parser.token[1], parser.peek()
    return after in _OPENERS or after[0] == "num" or (digits[0] == "1" and after[0] in ("sym", "cmd"))


def root(parser: Parser, name: str) -> Node:
    """A root whose `\\sqrt` has been read."""
    if parser.token == ("op", "["):
        index = parser.prefix()
        return Call("root", (parser.argument(), index))
    if parser.token == ("op", "("):
        return Call("sqrt", (parser.prefix(),))
    if parser.token[0] == "num":  # plain text: sqrt2, √15; TeX takes one digit, and writes braces where it means more
        return Call("sqrt", (read_literal(parser.take()[1]),))
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


def _function_exponent(parser: Parser, name: str) -> Node:
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
        case ("sym", "d") if parser.peek()[0] == "sym" and ("cmd", "int") in parser.tokens[: parser.at]:
            return False  # the differential of an integral: \int \sin x dx
        case ("num" | "sym", _):
            return True
        case ("cmd", name):
            return (name in GREEK_SET or name in ("frac", "sqrt")) and name != "gamma"
    return False


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
    return read_name(parser, _VARIANTS.get(name, name))


def _greek_function(parser: Parser, name: str) -> Node:
    return function(parser, name.lower()) if parser.token == ("op", "(") else _greek(parser, name)


def _accent(parser: Parser, name: str) -> Node:
    shown = "bar" if name == "overline" else name
    below = parser.argument()
    if name == "overline" and isinstance(below, Number) and parser.accept(("op", "_")):
        return based(str(below.value), parser.subscript())
    if shown == "bar" and IMAGINARY in walk(below) and below != IMAGINARY:
        return Call("conj", (below,))
    return read_name(parser, f"{shown}({name_text(below)})")


def _based(parser: Parser, name: str) -> Node:
    """`\\based{1A}{16}`, as `rewrite_numbers` writes digits with letters among them."""
    parser.at += 1
    digits = ""
    while not parser.accept(("op", "}")):
        digits += parser.take()[1]
    return based(digits, parser.argument())


def _braced(parser: Parser, name: str) -> Node:
    """What is over or under a brace; its label means nothing."""
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
