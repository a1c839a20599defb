"""Commands and named functions: fractions, roots, logarithms, sums, matrices, accents, sets of numbers."""

# ruff: noqa: SIM905 - a word list reads better as words
from __future__ import annotations

from typing import TYPE_CHECKING

from compass.verifier.comparing.matrix import determinant
from compass.verifier.reading import atoms, brackets, numerals
from compass.verifier.reading.vocabulary import FUNCTION_ALIASES, FUNCTIONS, GREEK_SET, RELATIONS
from compass.verifier.tree import ONE, Node, Unreadable, number

if TYPE_CHECKING:
    from compass.verifier.reading.parser import Parser

_CONSTANTS = {"pi": "pi", "infty": "inf", "infin": "inf", "infinity": "inf", "inf": "inf", "exponentialE": "e"}
_ACCENTS = frozenset(
    "bar overline vec hat tilde widehat widetilde dot ddot overrightarrow overarc arc angle triangle square".split()
)
_BIG = {"bigcup": "bigcup", "bigcap": "bigcap", "sum": "sum", "prod": "prod", "int": "int", "lim": "lim"}
_INVERSE = {"sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot", "sec": "arcsec", "csc": "arccsc",
            "sinh": "arsinh", "cosh": "arcosh", "tanh": "artanh"}  # fmt: skip
_PLAIN_SYMBOLS = frozenset(
    "odot oplus otimes dagger ast star prime bullet ell hbar partial nabla ldots dots cdots vdots".split()
)
CURRENCY = {"dollar": "dollar", "euro": "euro", "pounds": "pound", "yen": "yen"}
_OPENERS = {
    ("op", "("),
    ("op", "["),
    ("op", "{"),
    ("op", "\\{"),
    ("cmd", "lgroup"),
    ("cmd", "lbrace"),
    ("cmd", "lbrack"),
    ("cmd", "lparen"),
}


def read(parser: Parser, name: str) -> Node:
    """The expression that starts with the command `name`, which has been read."""
    if name == "frac":
        top = atoms.argument(parser)
        return ("mul", (top, ("inv", atoms.argument(parser))))
    name = FUNCTION_ALIASES.get(name, name) if name not in GREEK_SET else name
    if name == "sqrt":
        return _root(parser)
    if name in _CONSTANTS:
        return ("const", _CONSTANTS[name])
    if name == "cbrt":
        return ("call", "root", (_operand(parser), number(3)))
    if name in ("binom", "tbinom", "dbinom") and parser.token != ("op", "("):
        return ("call", "binom", (atoms.argument(parser), atoms.argument(parser)))
    if name in GREEK_SET and not (name == "gamma" and parser.token == ("op", "(")):
        return _greek(parser, name)
    if name in FUNCTIONS:
        return _function(parser, name)
    if name in _BIG:
        return _big(parser, name)
    if name == "begin":
        return _environment(parser)
    if name in ("pm", "mp"):
        return ("pm", number(0), parser.expression(atoms.SUM), name)
    if name in _ACCENTS:
        return _accent(parser, name)
    if name in ("variable", "boxed", "fbox"):
        return atoms.argument(parser)
    if name in ("emptyset", "varnothing", "oslash"):
        return ("seq", "{", "}", ())
    if name == "mathbb":
        return ("named set", str(_letter(parser)))
    if name in _PLAIN_SYMBOLS:
        return ("sym", f"\\{name}")
    if name in CURRENCY:
        return ("unit", parser.expression(atoms.PRODUCT), CURRENCY[name])
    if name in RELATIONS and RELATIONS[name] == "=":
        return parser.expression(atoms.RELATION)
    raise Unreadable(f"cannot read \\{name}")


def _letter(parser: Parser) -> str:
    node = atoms.argument(parser)
    if node[0] not in ("sym", "const", "word"):
        raise Unreadable("a letter is expected after \\mathbb")
    return node[1]


def _greek(parser: Parser, name: str) -> Node:
    name = {"varepsilon": "epsilon", "varphi": "phi", "vartheta": "theta", "varrho": "rho", "varsigma": "sigma"}.get(
        name, name
    )
    return atoms._symbol(parser, name)


def _accent(parser: Parser, name: str) -> Node:
    node = atoms.argument(parser)
    shown = {"overline": "bar"}.get(name, name)
    return atoms._symbol(parser, f"{shown}({atoms._name(node)})")


def _root(parser: Parser) -> Node:
    if parser.token == ("op", "["):
        index = brackets.bracket(parser, parser.take())
        return ("call", "root", (atoms.argument(parser), index))
    if parser.token == ("op", "("):
        return ("call", "sqrt", (brackets.bracket(parser, parser.take()),))
    if parser.token[0] == "num":  # plain text: sqrt2, √15; TeX takes one digit, and writes braces where it means more
        return ("call", "sqrt", (numerals.literal(parser.take()[1]),))
    return ("call", "sqrt", (atoms.argument(parser),))


def _function(parser: Parser, name: str) -> Node:
    """A function with its powers, base and operand: `\\sin^2 x`, `\\log_2 8`, `\\gcd(4, 6)`."""
    if parser.token == ("op", "}"):
        return ("word", name)  # a subscript: m_{\\max}
    power: Node | None = None
    base: Node | None = None
    for _ in range(2):
        if parser.accept(("op", "^")):
            power = atoms.power(parser, ("sym", "?"))
            if power[0] != "pow":
                raise Unreadable(f"a power of {name} that is no exponent")
            power = power[2]
        elif name in ("log", "max", "min") and parser.accept(("op", "_")):
            base = atoms.argument(parser)
    if power is not None and power == ("num", number(-1)[1], None) and name in _INVERSE:
        name, power = _INVERSE[name], None
    arguments = _arguments(parser)
    if base is not None and name == "log":
        node: Node = ("call", "log", (arguments[0], base))
    else:
        node = ("call", name, arguments)
    return node if power is None else ("pow", node, power)


def _arguments(parser: Parser) -> tuple[Node, ...]:
    if parser.token in _OPENERS:
        depth, parser.depth = parser.depth, parser.depth + 1
        inside = brackets.bracket(parser, parser.take())
        parser.depth = depth
        if inside[0] == "seq":
            return inside[3]
        return (inside,)
    return (_operand(parser),)


def _operand(parser: Parser) -> Node:
    """A function's operand without brackets: factors up to the next sign or function."""
    if parser.token in _OPENERS:
        return _arguments(parser)[0]
    sign = parser.accept(("op", "-"))
    factors = [_factor(parser)]
    while _starts_factor(parser):
        factors.append(_factor(parser))
    node = factors[0] if len(factors) == 1 else ("mul", tuple(factors))
    return ("neg", node) if sign else node


def _factor(parser: Parser) -> Node:
    return parser.expression(atoms.POWER - 1)


def _starts_factor(parser: Parser) -> bool:
    kind, value = parser.token
    if kind in ("num", "sym"):
        return True
    return kind == "cmd" and (value in GREEK_SET or value in ("frac", "sqrt", "pi")) and value != "gamma"


def _big(parser: Parser, name: str) -> Node:
    """A sum, product, integral or limit: bounds as written, the rest of the term as its body."""
    low: Node | None = None
    high: Node | None = None
    for _ in range(2):
        if parser.accept(("op", "_")):
            low = atoms.argument(parser)
        elif parser.accept(("op", "^")):
            high = atoms.argument(parser)
    body = parser.expression(atoms.SETOP if name in ("bigcup", "bigcap") else atoms.SUM)
    variable = ""
    if low is not None and low[0] == "rel" and low[2][0][0] == "sym":
        variable, low = low[2][0][1], low[2][1]
    elif low is not None and low[0] == "rel" and low[2][0] == ("const", "i"):
        variable, low, body = "i", low[2][1], _rename(body)
    elif name == "int":
        variable, body = _differential(body)
    return ("big", name, variable, low or ("word", ""), high or ("word", ""), body)


def _rename(node: Node) -> Node:
    """The index of a sum called `i` is a variable, not the imaginary unit."""
    if node == ("const", "i"):
        return ("sym", "i")
    return tuple(_rename(part) if isinstance(part, tuple) else part for part in node)


def _differential(body: Node) -> tuple[str, Node]:
    """Take `dx` off the end of an integral's body."""
    factors = list(body[1]) if body[0] == "mul" else [body]
    for at in range(len(factors) - 1):
        if factors[at] == ("sym", "d") and factors[at + 1][0] == "sym":
            variable = factors[at + 1][1]
            rest = factors[:at] + factors[at + 2 :]
            return variable, (ONE if not rest else rest[0] if len(rest) == 1 else ("mul", tuple(rest)))
    raise Unreadable("an integral without its differential")


def _environment(parser: Parser) -> Node:
    """`\\begin{...} ... \\end{...}`: rows of cells."""
    name = _environment_name(parser)
    if name in ("array", "tabular") and parser.token == ("op", "{"):
        while parser.take() != ("op", "}"):
            if parser.token[0] == "end":
                raise Unreadable("an environment is not closed")
    rows: list[tuple[Node, ...]] = []
    row: list[Node] = []
    conjunctions = tuple(("word", word) for word in ("if", "for", "when", "where"))
    end = frozenset([("cmd", "end"), ("op", "\\\\"), ("op", "&"), ("op", ","), ("op", ";")])
    while True:
        token = parser.token
        if token[0] == "end":
            raise Unreadable("an environment is not closed")
        if token == ("op", "&") or (name in ("cases", "aligned", "array") and token in (("op", ","), ("op", ";"))):
            parser.at += 1
        elif token in (("op", "\\\\"), ("cmd", "end")):
            parser.at += 1
            if row:
                rows.append(tuple(row))
            row = []
            if token == ("cmd", "end"):
                break
        elif token in end:
            raise Unreadable(f"unexpected {token[1]!r} in a matrix")
        elif not parser.accept(*conjunctions):
            items, _ = parser.items(end)
            row.extend(items)
    if _environment_name(parser) != name or not rows:
        raise Unreadable(f"the environment {name} is not well formed")
    if name in ("cases", "aligned", "align", "gathered", "split"):
        return ("cases", tuple(rows))
    if len({len(cells) for cells in rows}) != 1:
        raise Unreadable("a matrix whose rows differ in length")
    if name in ("vmatrix", "Vmatrix"):
        return determinant(tuple(rows))
    return ("matrix", tuple(rows))


def _environment_name(parser: Parser) -> str:
    letters = []
    if not parser.accept(("op", "{")):
        raise Unreadable("an environment without a name")
    while not parser.accept(("op", "}")):
        kind, value = parser.take()
        if kind == "end":
            raise Unreadable("an environment without a name")
        letters.append(value)
    return "".join(letters).strip("*")
