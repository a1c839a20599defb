"""A Pratt parser: tokens to a tree, in one pass, under a bound on depth.

Reads LaTeX and plain text alike. Binding powers, loosest first: lists, relations, set operations, sums, products
(implicit ones included), signs, powers, postfix marks.
"""

from __future__ import annotations

from functools import lru_cache

from compass.verifier.reading import atoms, brackets, numerals
from compass.verifier.reading.lexer import Token, tokenize
from compass.verifier.reading.units import conversion, unit_of
from compass.verifier.reading.vocabulary import RELATIONS
from compass.verifier.tree import ZERO, Node, OverBudget, Unreadable, depth, negate, number

MAX_DEPTH = 48
MAX_TREE_DEPTH = 80
LIST, RELATION, SETOP, SUM, PRODUCT, SIGN, POWER, POSTFIX = 10, 20, 30, 40, 50, 55, 70, 80
END: Token = ("end", "")
_PADDING = [END] * 4  # the last token and those that are looked at beyond it

_INFIX: dict[Token, tuple[int, str]] = {
    **{("cmd", name): (RELATION, "rel") for name in RELATIONS if name.isalpha()},
    **{("op", name): (RELATION, "rel") for name in RELATIONS if not name.isalpha()},
    ("cmd", "cup"): (SETOP, "cup"), ("cmd", "union"): (SETOP, "cup"), ("cmd", "cap"): (SETOP, "cap"),
    ("cmd", "setminus"): (SETOP, "minus"), ("cmd", "backslash"): (SETOP, "minus"),
    ("op", "+"): (SUM, "+"), ("op", "-"): (SUM, "-"), ("cmd", "pm"): (SUM, "pm"), ("cmd", "mp"): (SUM, "mp"),
    ("op", "*"): (PRODUCT, "*"), ("cmd", "cdot"): (PRODUCT, "*"), ("cmd", "times"): (PRODUCT, "*"), ("cmd", "ast"): (PRODUCT, "*"),
    ("cmd", "bullet"): (PRODUCT, "*"), ("cmd", "star"): (PRODUCT, "*"), ("op", "/"): (PRODUCT, "/"), ("cmd", "div"): (PRODUCT, "/"),
    ("cmd", "mod"): (PRODUCT, "mod"), ("cmd", "bmod"): (PRODUCT, "mod"), ("op", ":"): (SETOP + 5, ":"), ("cmd", "colon"): (SETOP + 5, ":"),
    ("cmd", "choose"): (PRODUCT, "choose"),
    **{("cmd", name): (POSTFIX, "currency") for name in ("dollar", "euro", "pounds", "yen")},
    ("op", "^"): (POWER, "^"), ("op", "!"): (POSTFIX, "!"), ("op", "%"): (POSTFIX, "%"), ("op", "'"): (POSTFIX, "'"),
    ("cmd", "circ"): (POSTFIX, "deg"), ("cmd", "degree"): (POSTFIX, "deg"), ("cmd", "percent"): (POSTFIX, "%"), ("op", "_"): (POSTFIX, "_"),
}  # fmt: skip
_SEPARATORS = frozenset([("op", ","), ("op", ";"), ("cmd", "and"), ("cmd", "or"), ("cmd", "land"), ("cmd", "lor"), ("op", "\\\\"),
                         ("cmd", "wedge"), ("cmd", "vee"), ("op", "and"), ("op", "&")])  # fmt: skip
_CLOSERS = frozenset([("op", sign) for sign in ")]}|"] + [("op", "\\}"), ("op", "\\|"), ("cmd", "end")] + [
    ("cmd", name) for name in ("rvert", "rVert", "rfloor", "rceil", "rangle", "rbrace", "rbrack", "rgroup", "lrcorner", "urcorner", "rparen")])  # fmt: skip
_ARGUMENTS = frozenset(("op", sign) for sign in ("(", "[", "{", "\\{", "_"))
_STOPS = _SEPARATORS | _CLOSERS | {END}


class Parser:
    """Reads one token list. `depth` counts nested calls; `bars` the `|...|` that are open."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = [*tokens, *_PADDING]
        self.at = 0
        self.depth = 0
        self.bars = 0

    @property
    def token(self) -> Token:
        """The token to read next; `END` after the last."""
        return self.tokens[self.at]

    def peek(self, ahead: int = 1) -> Token:
        """The token `ahead` places after the next."""
        return self.tokens[self.at + ahead]

    def take(self) -> Token:
        """Read one token."""
        token = self.tokens[self.at]
        if token is not END:
            self.at += 1
        return token

    def accept(self, *wanted: Token) -> bool:
        """Read the next token if it is one of those wanted."""
        if self.tokens[self.at] in wanted:
            self.at += 1
            return True
        return False

    def items(self, closers: frozenset[Token]) -> tuple[list[Node], list[str]]:
        """A list up to a closer (not read): the items, and the separators between them."""
        found: list[Node] = []
        separators: list[str] = []
        while self.token not in closers:
            if self.token in _SEPARATORS:
                sign = self.take()[1]
                if len(separators) < len(found):
                    separators.append(sign)
                continue
            if self.token == END:
                raise Unreadable("a bracket is not closed")
            if len(found) > len(separators):
                raise Unreadable(f"unexpected {self.token[1]!r}")
            found.append(self.expression(LIST))
        return found, separators[: max(0, len(found) - 1)]

    def expression(self, power: int) -> Node:
        """An expression whose operators bind tighter than `power`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise OverBudget(f"nested deeper than {MAX_DEPTH}")
        left = atoms.prefix(self)
        while True:
            token = self.tokens[self.at]
            if left[0] == "unit" and power < PRODUCT and (token[0] == "num" or token == ("cmd", "and")):
                compound = self.compound(left)
                if compound is not None:
                    left = compound
                    continue
            if token in _STOPS and (token != ("op", "|") or self.bars or token == END or power > PRODUCT):
                break
            infix = _INFIX.get(token)
            if infix is None:
                if token == ("cmd", "min") and left[0] == "num" and self.peek() not in _ARGUMENTS:
                    self.tokens[self.at] = token = ("word", "min")  # minutes, not the least of something
                if token[0] == "word" or token[0] == "roman":
                    if power >= PRODUCT:
                        break
                    left = self.unit(left)
                    continue
                if power >= PRODUCT:
                    break
                if token[0] == "num" and self.peek() != ("op", "^"):
                    raise Unreadable("a number straight after a value")
                left = _times(left, self.expression(PRODUCT))
                continue
            binding, name = infix
            if binding <= power:
                break
            self.at += 1
            left = self.infix(left, binding, name)
        self.depth -= 1
        return left

    def infix(self, left: Node, binding: int, name: str) -> Node:
        """The node of an operator whose left side has been read."""
        if name == "+":
            return _sum(left, self.expression(SUM))
        if name == "-":
            return _sum(left, negate(self.expression(SUM)))
        if name == "*":
            return _times(left, self.expression(PRODUCT))
        if name == "/":
            return _times(left, ("inv", self.expression(PRODUCT)))
        if name == "^":
            return atoms.power(self, left)
        if name == "rel":
            return self.relation(left)
        if name in ("pm", "mp"):
            return ("pm", left, self.expression(SUM), name)
        if name in ("cup", "cap", "minus"):
            return ("setop", name, left, self.expression(SETOP))
        if name == "mod":
            return ("call", "mod", (left, self.expression(PRODUCT)))
        if name == "choose":
            return ("call", "binom", (left, self.expression(SETOP)))
        if name == ":":
            right = self.expression(SETOP + 5)
            return ("ratio", (*left[1], right) if left[0] == "ratio" else (left, right))
        return atoms.postfix(self, left, name)

    def relation(self, left: Node) -> Node:
        """A chain of relations, whose first operator has just been read."""
        ops, sides = [RELATIONS[self.tokens[self.at - 1][1]]], [left]
        while True:
            if self.token in _STOPS and ops[-1] == "=" and len(sides) == 1 and self.token == END:
                raise Unreadable("nothing after the relation")
            sides.append(self.expression(RELATION))
            token = self.token
            if _INFIX.get(token, (0, ""))[1] != "rel":
                return ("rel", tuple(ops), tuple(sides))
            self.at += 1
            ops.append(RELATIONS[token[1]])

    def unit(self, left: Node) -> Node:
        """Words after a value: its unit."""
        words: list[str] = []
        while True:
            kind, value = self.token
            if kind in ("word", "roman"):
                words.append(value)
                self.at += 1
            elif words and (kind, value) == ("op", "/") and self.peek()[0] in ("word", "roman"):
                words.append("/")
                self.at += 1
            elif words and (kind, value) in (("cmd", "cdot"), ("op", "*")) and self.peek()[0] in ("word", "roman"):
                self.at += 1
            elif words and (kind, value) == ("op", "^"):
                self.at += 1
                exponent = atoms.argument(self)
                if exponent[0] != "num":
                    raise Unreadable("a unit with an unknown power")
                words.append(f"^{exponent[1]}")
            elif words and (kind, value) == ("op", "."):
                self.at += 1
            else:
                break
        unit = unit_of(words)
        if unit is None:
            raise Unreadable(f"cannot read {' '.join(words)!r} after a value")
        if left[0] == "rel":
            return ("rel", left[1], (*left[2][:-1], ("unit", left[2][-1], unit)))
        return ("unit", left, unit)

    def compound(self, left: Node) -> Node | None:
        """A quantity in two units, `5 ft 8 in` or `2 hours and 30 minutes`, in the smaller; None (and nothing read)
        where what follows is another thing."""
        start, depth = self.at, self.depth
        self.accept(("cmd", "and"))
        if self.token[0] == "num":
            try:
                right = self.unit(numerals.read_number(self, self.take()[1]))
            except Unreadable:
                right = ZERO
            factor = conversion(left[2], right[2]) if right[0] == "unit" else None
            if factor is not None and factor > 1:
                return ("unit", ("add", (("mul", (number(factor), left[1])), right[1])), right[2])
        self.at, self.depth = start, depth
        return None


def _group(node: Node) -> Node:
    """Braces around one factor group it: `\\{1+2\\}\\{3-4\\}`."""
    return node[3][0] if node[0] == "seq" and node[1] == "{" and len(node[3]) == 1 else node


def _sum(left: Node, right: Node) -> Node:
    return ("add", (*left[1], right)) if left[0] == "add" else ("add", (left, right))


def _times(left: Node, right: Node) -> Node:
    left, right = _group(left), _group(right)
    return ("mul", (*left[1], right)) if left[0] == "mul" else ("mul", (left, right))


def parse_tokens(tokens: list[Token]) -> Node:
    """The tree of a whole answer; several items make a bare list."""
    parser = Parser(tokens)
    items, separators = parser.items(frozenset([END]))
    if not items:
        raise Unreadable("nothing to read")
    if len(items) == 1:
        return items[0]
    if "&" in separators:
        raise Unreadable("an alignment mark outside a matrix")
    return ("seq", "", "", tuple(brackets.split_rows(items, separators)))


@lru_cache(maxsize=1024)
def parse(text: str) -> Node | Unreadable:
    """The tree of normalised text, or the error that says why it cannot be read (so that both are cached)."""
    try:
        tokens = tokenize(text)
        node = parse_tokens(tokens)
        # a token adds at most two levels, as a division does
        if len(tokens) > MAX_TREE_DEPTH // 2 and depth(node) > MAX_TREE_DEPTH:
            return OverBudget(f"nested deeper than {MAX_TREE_DEPTH}")
        return node
    except Unreadable as error:
        return type(error)(str(error))  # without its traceback, which would keep every frame alive in the cache
    except RecursionError:
        return OverBudget("nested too deep")
