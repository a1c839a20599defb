"""What counts as right: a gold, other golds of which any is as good, and how far a number may be off.

    Gold("1/3", alternatives=("2/3",))     either answer is right
    Gold("4.2", tolerance="0.1")           4.1 to 4.3
    Gold("9.6", tolerance="1%")            at most 1% of 9.6 away

A gold may stand in the place of a text wherever the verifier takes one.
"""

from __future__ import annotations

from typing import NamedTuple


class Gold(NamedTuple):
    """A reference answer with all that its source accepts."""

    answer: str
    alternatives: tuple[str, ...] = ()
    """Other answers, each right on its own. The parts of one answer, all of which are needed, are one text: `1, 2`."""
    tolerance: str | None = None
    """How far a number may be off: `0.01` absolutely, `5%` of the gold; None asks for equality."""


def each(gold: str | Gold) -> tuple[str | Gold, ...]:
    """A gold as golds without alternatives; an answer is right if it equals one of them."""
    if isinstance(gold, str):
        return (gold,)
    texts = (gold.answer, *gold.alternatives)
    return texts if gold.tolerance is None else tuple(Gold(text, (), gold.tolerance) for text in texts)


def text_of(gold: str | Gold) -> str:
    """The text of a gold, without what else is accepted."""
    return gold if isinstance(gold, str) else gold.answer
