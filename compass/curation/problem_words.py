"""A problem as words: the one normalised form that deduplication and decontamination compare, and their n-grams.

Two texts that a reader takes for the same problem should give the same tokens, whatever their typesetting (`lexemes.py`).
What changes the mathematics stays: words, numbers, operators, and which of them belong together (`grouping.py`). Words
and numbers are *words*; operators and brackets are tokens that no n-gram counts, so that `x + 1` and `x - 1` are near each
other and still two problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from compass.curation.grouping import deciding_bars, deciding_brackets, grouped
from compass.curation.lexemes import lexemes

# Words that make another problem of the same text, as a number does; the words of one line mean the same.
_DECIDING_WORDS = """
    minimum minimal minimize smallest least lowest
    maximum maximal maximize largest greatest highest
    even
    odd
    pentagon
    hexagon
    heptagon
    octagon
    nonagon
    decagon
    dodecagon
    sin sine
    cos cosine
    tan tangent
    cot cotangent
    sec secant
    csc cosecant
    arcsin
    arccos
    arctan
    third
    fourth
    fifth
    sixth
    median
    mean average
    mode
"""
_DECIDING = {
    **{word: line.split()[0] for line in _DECIDING_WORDS.strip().splitlines() for word in line.split()},
    **{sign: sign for sign in "+-^!<>"},
}
OPERATORS = frozenset("+-*/^=<>|!%()[]{}'")
"""Tokens that are no words: no n-gram counts them."""
_BRACKETS_BARS_AND_PRIMES = frozenset("(['|")
_DIGITS = frozenset("0123456789")
_MAY_DECIDE = _DIGITS.union("()[]/'|", (word[0] for word in _DECIDING))
"""First letters of what `numbers` can hold."""


def tokens(text: str | None) -> list[str]:
    """The words, numbers, operators and brackets of a problem, in order; none of None."""
    return grouped(lexemes(text or ""))


def words(tokens: Iterable[str]) -> list[str]:
    """The words and numbers among the tokens."""
    return [token for token in tokens if token not in OPERATORS]


def numbers(tokens: Sequence[str]) -> list[str]:
    """What makes another problem of the same words: numbers, signs (`+ - ^ ! < >`), brackets that group an operation or end
    an interval, bars around something, primes of functions, and words that decide as a number does (`smallest`, `odd`, `hexagon`, `sin`; synonyms as one word), in
    their order.
    """
    if _BRACKETS_BARS_AND_PRIMES.isdisjoint(tokens):
        return [_DECIDING.get(token, token) for token in tokens if token in _DECIDING or token[0] in _DIGITS]
    brackets, bars = deciding_brackets(tokens), deciding_bars(tokens)
    return [
        brackets.get(place) or _DECIDING.get(token, token)
        for place, token in enumerate(tokens)
        if token[0] in _MAY_DECIDE
        and (
            token in _DECIDING
            or token[0] in _DIGITS
            or place in brackets
            or place in bars
            or (token == "/" and brackets)
            or (token == "'" and len(tokens[place - 1]) == 1)
        )
    ]


def ngrams(words: Sequence[str], n: int) -> list[str]:
    """The n-grams of a text, each as its words joined by blanks; a text shorter than n is one n-gram, no words are none."""
    if not words:
        return []
    return [" ".join(words[start : start + n]) for start in range(max(1, len(words) - n + 1))]


def jaccard(one: Set[str], other: Set[str]) -> float:
    """The Jaccard similarity of two sets; 0 for two empty ones."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def similarity(one: str, other: str, n: int) -> float:
    """The Jaccard similarity of two problems' n-grams."""
    return jaccard(*(set(ngrams(words(tokens(text)), n)) for text in (one, other)))
