"""The grammar of answers: which token starts what, from the tables of the modules that read each kind of token."""

from __future__ import annotations

from functools import lru_cache

from compass.verifier.reading import operators
from compass.verifier.reading.brackets import BRACKETS, bracket, build_list
from compass.verifier.reading.commands import command
from compass.verifier.reading.lexer import Token, tokenize
from compass.verifier.reading.names import subscripted, symbol
from compass.verifier.reading.notation import rewrite_notation, rewrite_numbers
from compass.verifier.reading.numerals import numeral
from compass.verifier.reading.parser import (
    END,
    LIST,
    POSTFIX,
    PRODUCT,
    RELATION,
    Grammar,
    Parser,
)
from compass.verifier.reading.quantities import (
    CURRENCIES,
    currency_after,
    currency_word,
    read_adjacent,
    read_division,
    read_second_unit,
)
from compass.verifier.reading.units import CURRENCY_WORDS
from compass.verifier.tree import Node, OverBudget, Symbol, Unreadable, Words, depth
from compass.verifier.verdict import Leniency, lean, mark, rewind

MAX_TREE_DEPTH = 80
_HEDGES = frozenset(["about", "approximately", "approx", "roughly", "exactly", "nearly", "almost"])
_WORDS = ("word", "roman")


def _words(parser: Parser, token: Token) -> Node:
    """Prose where a value is expected; a word such as "about" before a number says nothing."""
    kind, word = token
    if word.lower() in _HEDGES and parser.token[0] == "num":
        lean(Leniency.APPROXIMATE)
        return parser.expression(RELATION)
    if word.lower() in ("only", "either") and parser.token[0] not in _WORDS:
        lean(Leniency.WORDING)
        return parser.expression(LIST)
    if word in CURRENCY_WORDS and (amount := currency_word(parser, word)) is not None:
        return amount
    if kind == "roman" and parser.token[0] not in _WORDS:
        return Symbol(word)
    words = [word]
    while parser.token[0] in _WORDS:
        words.append(parser.take()[1])
    return Words(" ".join(words))


GRAMMAR = Grammar(
    prefix={**operators.PREFIX, **{token: bracket for token in BRACKETS if token[0] == "op"}},
    prefix_of_kind={"num": numeral, "sym": symbol, "cmd": command, "word": _words, "roman": _words},
    infix={
        **operators.INFIX,
        **dict.fromkeys([("op", "/"), ("cmd", "div")], (PRODUCT, read_division)),
        **{("cmd", name): (POSTFIX, currency_after) for name in CURRENCIES},
        ("op", "_"): (POSTFIX, subscripted),
    },
    second_unit=read_second_unit,
    adjacent=read_adjacent,
)


def parse(text: str) -> Node | Unreadable:
    """The tree of normalised text, or the error that says why it cannot be read. What its reading leans on is recorded."""
    tree, leaned = parse_once(text)
    if leaned:
        rewind(mark() | leaned)
    return tree


@lru_cache(maxsize=1024)
def parse_once(text: str) -> tuple[Node | Unreadable, int]:
    """The tree or the error, so that both are cached, and what its reading leans on."""
    before = rewind()
    tree = _parse(text)
    return tree, rewind(before)


def _parse(text: str) -> Node | Unreadable:
    try:
        tokens = tokenize(rewrite_notation(rewrite_numbers(text)))
        node = _answer(Parser(tokens, GRAMMAR))
        # a token adds at most two levels, as a division does
        if len(tokens) > MAX_TREE_DEPTH // 2 and depth(node) > MAX_TREE_DEPTH:
            return OverBudget(f"nested deeper than {MAX_TREE_DEPTH}")
        return node
    except Unreadable as error:
        return type(error)(str(error))  # without its traceback, which would keep every frame alive in the cache
    except RecursionError:
        return OverBudget("nested too deep")


def _answer(parser: Parser) -> Node:
    """The tree of a whole answer; several items make a bare list."""
    items, separators = parser.items(frozenset([END]))
    if not items:
        raise Unreadable("nothing to read")
    if len(items) == 1:
        return items[0]
    if "&" in separators:
        raise Unreadable("an alignment mark outside a matrix")
    return build_list(operators.share_modulus(items), separators)
