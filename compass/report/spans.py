"""Which parts of two texts are the same, and where evidence stands in a text: spans to mark when both are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

Span = tuple[int, int]

_WORD = re.compile(r"\\?[^\W_]+|[^\w\s]|_")

LONGEST = 3_000
"""Words of a text that are compared; the rest stays unmarked, since time grows with the square."""


def shared(one: str, other: str, least: int = 1) -> tuple[list[Span], list[Span]]:
    """The parts that stand in both texts in the same order, whatever their case and white space.

    Args:
        one: a text.
        other: another.
        least: words and signs that a part needs to count.

    Returns:
        Spans of characters in the one text and in the other, in order.
    """
    places = [[match.span() for match in _WORD.finditer(text)][:LONGEST] for text in (one, other)]
    words = [
        [text[start:end].casefold() for start, end in spans] for text, spans in zip((one, other), places, strict=True)
    ]
    spans: tuple[list[Span], list[Span]] = ([], [])
    for block in SequenceMatcher(None, *words, autojunk=False).get_matching_blocks():
        if block.size >= max(1, least):
            for own, found, first in zip(spans, places, (block.a, block.b), strict=True):
                own.append((found[first][0], found[first + block.size - 1][1]))
    return spans


def find_pieces(text: str, pieces: Iterable[str]) -> list[Span]:
    """Where pieces stand in a text, each at its first place and whatever its white space; overlapping spans are joined."""
    spans = []
    for piece in pieces:
        words = piece.split()
        if words and (match := re.search(r"\s+".join(map(re.escape, words)), text)):
            spans.append(match.span())
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def parts(text: str, spans: Sequence[Span]) -> list[str]:
    """The text cut at its spans: what stands before the first, the first, what stands between, and so on.

    Every second part is a span; together the parts are the text.
    """
    cut, end = [], 0
    for start, stop in spans:
        cut += [text[end:start], text[start:stop]]
        end = stop
    return [*cut, text[end:]]


def marked(text: str, spans: Sequence[Span], signs: tuple[str, str] = ("⟪", "⟫")) -> str:
    """The text with a sign before and after each span."""
    return "".join(part if number % 2 == 0 else part.join(signs) for number, part in enumerate(parts(text, spans)))
