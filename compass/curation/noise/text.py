"""Views of a problem's text that several filters share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_DRAWING = re.compile(
    r"\[asy\].*?(?:\[/asy\]|\Z)|\\begin\{(asy|tikzpicture|pspicture|picture)\}.*?(?:\\end\{\1\}|\Z)", re.S | re.I
)
_MATH = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|\\\[.*?\\\]|\\\(.*?\\\)|\\[A-Za-z]+", re.S)
_SENTENCE_END = re.compile(r"(?<=[.?!。？！])[\s\"”)]+|\n+|<br ?/?>")

ASK = re.compile(
    r"\?|？|_{2,}|\\_\\_|\b(?:find|determine|calculate|compute|evaluate|solve|simplify|prove|show that|write|express|state|"
    r"discuss|identify|factor(?:ize)?|compare|estimate|judge|verify|explain|draw|sketch|describe|list|what|how many|how much|how long|"
    r"which|when does|design|complete|fill in|convert|please|try to|try|provide|give|discover|guess|observe|investigate)\b",
    re.I,
)
"""Signs that a piece of text asks for something."""


def holds_any(text: str, pieces: Iterable[str]) -> bool:
    """Whether one of the pieces stands in the text: asked first, since a regular expression takes many times as long."""
    return any(map(text.__contains__, pieces))  # a generator takes three times as long


@lru_cache(maxsize=4)
def without_figures(text: str) -> str:
    """The text with blanks for drawing code, whose labels look like options and parts; every place stays the same."""
    return _DRAWING.sub(blank, text) if "asy" in text or "picture}" in text else text


@lru_cache(maxsize=4)
def prose(text: str) -> str:
    """The text with blanks for formulas and figure code: the words a person reads, each in its place."""
    return _MATH.sub(blank, without_figures(text))


def blank(match: re.Match[str]) -> str:
    """Blanks for what matched, so that places in the text stay the same."""
    return " " * len(match[0])


def sentences(text: str) -> list[str]:
    """The text's sentences, roughly: split at full stops, question marks and line ends."""
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def excerpt(text: str, start: int, end: int, margin: int = 40) -> str:
    """What matched, with a little of what stands around it, for the ledger."""
    end = min(end, start + 120)
    return text[max(0, start - margin) : end + margin]


ANSWER_TOLD = re.compile(
    r"\b(?:answer|result)(?: (?:to|of|for) (?:the|this|that) (?:\w+ ){0,2}(?:question|problem)s?)?(?: above)? (?:is|was|are|were|equals)"
    r"\s+\W{0,3}(?:about )?[\d\\]",
    re.I,
)
"""What answers the question before it: "If the answer to the above question is 38, what is x?"."""
