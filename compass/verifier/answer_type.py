"""The type of an answer, as the records call it."""

from __future__ import annotations

import re

from compass.verifier import budget
from compass.verifier.comparing.exact import rational
from compass.verifier.comparing.shapes import Shape, shape, split_name
from compass.verifier.reading.grammar import parse
from compass.verifier.reading.normalise import MAX_LENGTH, normalise
from compass.verifier.reading.numbers import read_plain_number
from compass.verifier.reading.words import (
    KINDS,
    SYNONYMS,
    is_prose,
    is_sentence,
    plain_words,
    read_choice,
    read_date,
    read_number_kind,
    read_predicate,
    read_time,
)
from compass.verifier.tree import (
    IMAGINARY,
    INFINITY,
    Degrees,
    Matrix,
    Node,
    Percent,
    Quantity,
    Relation,
    Unreadable,
    contains,
    symbols,
    walk,
)

NAMING_WORDS = 2
"""So many words may name a thing; more make a statement."""
_SEPARATOR = re.compile(r"[,;]|\b(?:and|or)\b")
_VERBS = frozenset(
    "is are was were be wins win loses lose can cannot could will would should must may has have had does do exists exist".split()  # noqa: SIM905
)
_TYPE_OF_SHAPE = {"setop": "set", "named set": "set"}
"""Kinds of answers that the records call by another name."""
_LOOKED_INTO = frozenset(["scalar", "tuple", "relation", "conditions"])
"""Kinds of answers of which there are several types."""


def answer_type(answer: str) -> str:
    """What an answer is: `integer`, `fraction`, `decimal`, `percent`, `expression`, `constant`, `complex`, `interval`,
    `set`, `list`, `tuple`, `matrix`, `equation`, `inequality`, `ratio`, `based`, `cases`, `quantity` (with a unit),
    `choice`, `text`, or `unrecognised`."""
    if len(answer) > MAX_LENGTH:
        return "unrecognised"
    text = normalise(answer)
    number = read_plain_number(text)
    if number is not None:
        if number.mark:
            return "percent" if number.mark == "%" else "quantity"
        return "integer" if number.value.q == 1 else "decimal" if number.literal else "fraction"
    if read_choice(text) is not None:
        return "choice"
    if is_prose(text) or read_time(text) is not None or read_date(text) is not None:
        return "text"
    tree = parse(text)
    if isinstance(tree, Unreadable):
        return "text" if is_sentence(text) else "unrecognised"
    budget.start()
    try:
        return _type(tree)
    except Unreadable:
        return "unrecognised"


def is_wordy(answer: str) -> bool:
    """Whether an answer is a statement in words, which hardly any other wording equals: `at least two of them`, `Ann wins`.

    Not wordy are one or two words that name something (`Tuesday`, `right triangle`, `Team A`), phrases with known synonyms (`no solution`),
    lists of such names, sentences that count by what they say ("the function is odd"), times, dates, choices, and everything with a value.
    """
    text = normalise(answer) if len(answer) <= MAX_LENGTH else ""
    if not text or answer_type(answer) != "text" or read_time(text) is not None or read_date(text) is not None:
        return False
    predicate = read_predicate(text)
    words = read_number_kind(text) if predicate is None else predicate
    if words in SYNONYMS:
        return False
    parts = [plain_words(part).split() for part in _SEPARATOR.split(text)] if predicate is None else [words.split()]
    if words in KINDS:
        return False
    return any(len(part) > NAMING_WORDS or not _VERBS.isdisjoint(part) for part in parts)


def _type(tree: Node) -> str:
    name, value = split_name(tree)
    if name is not None and symbols(value):
        return "equation"
    typed = shape(value)
    if typed.kind not in _LOOKED_INTO:
        return _TYPE_OF_SHAPE.get(typed.kind, typed.kind)
    if typed.kind == "tuple":
        return "interval" if _is_interval(typed) else "tuple"
    match value:
        case Relation(operators):
            return "equation" if set(operators) == {"="} else "inequality"
        case Percent():
            return "percent"
        case Quantity() | Degrees():
            return "quantity"
    constant = rational(value)
    if constant is not None:
        return "integer" if constant.q == 1 else "fraction"
    if symbols(value):
        return "expression"
    if IMAGINARY in walk(value):
        return "complex"
    return "matrix" if contains(value, Matrix) else "constant"


def _is_interval(typed: Shape) -> bool:
    brackets = typed.node.opening + typed.node.closing
    return (brackets not in ("()", "<>") and len(typed.items) == 2) or any(
        INFINITY in walk(item) for item in typed.items
    )
