"""A Pratt parser's engine: tokens to a tree, in one pass, under a bound on depth.

What a token starts and what an operator makes of the value on its left stand in the tables of `grammar.py`, which hands
them in. A rule gets the parser and the token just read, and reads on with `expression`, `argument`, `items` and `accept`.

Binding powers, loosest first: lists, relations, set operations, ratios, sums, products (implicit ones included), signs,
powers, marks after a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from compass.verifier.reading.lexer import Token
from compass.verifier.reading.numbers import read_literal
from compass.verifier.tree import Constant, Node, OverBudget, Quantity, Symbol, Unreadable, Words, negate

MAX_DEPTH = 48
LIST, RELATION, SETOP, RATIO, SUM, PRODUCT, SIGN, POWER, POSTFIX = 10, 20, 30, 35, 40, 50, 55, 70, 80
END: Token = ("end", "")
_PADDING = [END] * 4  # the last token and those that are looked at beyond it
BAR: Token = ("op", "|")

SEPARATORS = frozenset([("op", ","), ("op", ";"), ("cmd", "and"), ("cmd", "or"), ("cmd", "land"), ("cmd", "lor"), ("op", "\\\\"),
                        ("cmd", "wedge"), ("cmd", "vee"), ("op", "and"), ("op", "&")])  # fmt: skip
JOINERS = {"land": "and", "wedge": "and", "lor": "or", "vee": "or"}
"""Signs that join as the words do."""
_CLOSERS = frozenset([("op", sign) for sign in ")]}|"] + [("op", "\\}"), ("op", "\\|"), ("cmd", "end")] + [
    ("cmd", name) for name in ("rvert", "rVert", "rfloor", "rceil", "rangle", "rbrace", "rbrack", "rgroup", "lrcorner", "urcorner", "rparen")])  # fmt: skip
SUCH_THAT: Token = ("op", "such that")
"""Put in the place of the sign between the head of a set-builder and its condition."""
_STOPS = SEPARATORS | _CLOSERS | {END, SUCH_THAT}

Prefix = Callable[["Parser", Token], Node]
Infix = Callable[["Parser", Node, Token], Node]
Adjacent = Callable[["Parser", Node, int], Node | None]
SecondUnit = Callable[["Parser", Quantity, int], Node | None]


class Grammar(NamedTuple):
    """The tables of a parser.

    `prefix_of_kind` reads what starts with any token of a kind, `prefix` with one token of the other kinds; `infix` holds an operator's binding
    power and its rule. `second_unit` reads the second part of a quantity in two units, if there is one; `adjacent` what comes after a
    value without an operator. Both return None, having read nothing, where the value ends.
    """

    prefix: Mapping[Token, Prefix]
    prefix_of_kind: Mapping[str, Prefix]
    infix: Mapping[Token, tuple[int, Infix]]
    second_unit: SecondUnit
    adjacent: Adjacent


class Parser:
    """Reads one token list.

    `depth` counts nested calls; `bars` the `|...|` that are open; `commas` is true inside brackets that list values, where `1,250` is two
    of them; `grouping` before the braces of a TeX argument, which list none.
    """

    def __init__(self, tokens: list[Token], grammar: Grammar) -> None:
        self.tokens = [*tokens, *_PADDING]
        self.grammar = grammar
        self.at = 0
        self.depth = 0
        self.bars = 0
        self.commas = False
        self.grouping = False

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

    def expression(self, power: int) -> Node:
        """An expression whose operators bind tighter than `power`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise OverBudget(f"nested deeper than {MAX_DEPTH}")
        grammar = self.grammar
        left = self.prefix()
        while True:
            more = grammar.second_unit(self, left, power) if isinstance(left, Quantity) else None
            if more is not None:
                left = more
                continue
            token = self.tokens[self.at]
            # a bar where none is open begins an absolute value: 2|x|
            if token in _STOPS and (token != BAR or self.bars or power > PRODUCT):
                break
            operator = grammar.infix.get(token)
            if operator is None:
                more = grammar.adjacent(self, left, power)
                if more is None:
                    break
                left = more
                continue
            binding, rule = operator
            if binding <= power:
                break
            self.at += 1
            left = rule(self, left, token)
        self.depth -= 1
        return left

    def prefix(self) -> Node:
        """What an expression begins with: a value, or a sign and what it signs."""
        token = self.take()
        rule = self.grammar.prefix_of_kind.get(token[0]) or self.grammar.prefix.get(token)
        if rule is None:
            raise Unreadable("something is missing" if token is END else f"unexpected {token[1]!r}")
        return rule(self, token)

    def items(self, closers: frozenset[Token]) -> tuple[list[Node], list[str]]:
        """A list up to a closer (not read): the items, and the separators between them."""
        items: list[Node] = []
        separators: list[str] = []
        while (token := self.tokens[self.at]) not in closers:
            if token in SEPARATORS:
                self.at += 1
                sign = JOINERS.get(token[1], token[1])
                if len(separators) < len(items):
                    separators.append(sign)
                elif separators and sign in ("and", "or"):
                    separators[-1] = f", {sign}" if separators[-1] == "," else sign  # the comma before a last "or"
            elif token is END:
                raise Unreadable("a bracket is not closed")
            elif len(items) > len(separators):
                raise Unreadable(f"unexpected {token[1]!r}")
            else:
                items.append(self.expression(LIST))
        return items, separators[: max(0, len(items) - 1)]

    def subscript(self) -> Node:
        """What follows `_`: a TeX argument, or a whole number, which plain text writes without braces: `x_12`.

        Before an exponent TeX's reading stays, in which the digits after the first are a factor: `a_12^n` is `a_1 2^n`.
        """
        kind, digits = self.token
        if kind != "num" or not digits.isdigit() or (self.peek() == ("op", "^") and digits[1:2] != "0"):
            return self.argument()
        self.at += 1
        return read_literal(digits)

    def argument(self) -> Node:
        """A TeX argument: a braced group, or one token (one digit of a number)."""
        match self.token:
            case ("num", digits):
                if len(digits) == 1 or digits[1] == ".":
                    self.at += 1
                    return read_literal(digits)
                self.tokens[self.at] = ("num", digits[1:])
                return read_literal(digits[0])
            case ("op", "-"):
                self.at += 1
                return negate(self.argument())
            case ("sym", "i" | "e" as name):
                self.at += 1
                return Constant(name)
            case ("sym", name):
                self.at += 1
                return Symbol(name)
            case ("word" | "roman", word):
                self.at += 1
                return Words(word)
            case _:
                self.grouping = True
                node = self.prefix()
                self.grouping = False
                return node
