"""The type of an answer, as the records call it."""

from __future__ import annotations

from compass.verifier import budget
from compass.verifier.comparing.exact import rational
from compass.verifier.comparing.shapes import shape, unnamed
from compass.verifier.reading import plain_number, wording
from compass.verifier.reading.normalise import MAX_LENGTH, normalise
from compass.verifier.reading.parser import parse
from compass.verifier.tree import Node, Unreadable, contains, symbols

_PLAIN_KINDS = {
    "ratio": "ratio",
    "based": "based",
    "matrix": "matrix",
    "cases": "cases",
    "setop": "set",
    "set": "set",
    "list": "list",
    "named set": "set",
}


def answer_type(answer: str) -> str:
    """What an answer is: `integer`, `fraction`, `decimal`, `percent`, `expression`, `constant`, `complex`, `interval`,
    `set`, `list`, `tuple`, `matrix`, `equation`, `inequality`, `ratio`, `based`, `cases`, `quantity` (with a unit),
    `choice`, `text`, or `unrecognised`."""
    if len(answer) > MAX_LENGTH:
        return "unrecognised"
    text = normalise(answer)
    number = plain_number.read(text)
    if number is not None:
        if number.mark:
            return "percent" if number.mark == "%" else "quantity"
        return "integer" if number.value.q == 1 else "decimal" if number.literal else "fraction"
    if wording.choice(text) is not None:
        return "choice"
    if wording.is_prose(text) or wording.clock(text) is not None or wording.date(text) is not None:
        return "text"
    tree = parse(text)
    if isinstance(tree, Unreadable):
        return "text" if wording.is_sentence(text) else "unrecognised"
    budget.start()
    try:
        return _type(tree)
    except Unreadable:
        return "unrecognised"


def _type(tree: Node) -> str:
    name, value = unnamed(tree)
    if name is not None and symbols(value):
        return "equation"
    typed = shape(value)
    if typed.kind in _PLAIN_KINDS:
        return _PLAIN_KINDS[typed.kind]
    if typed.kind == "relation":
        return "equation" if set(value[1]) == {"="} else "inequality"
    if typed.kind == "tuple":
        brackets = value[1] + value[2]
        return (
            "interval"
            if (brackets not in ("()", "<>") and len(typed.items) == 2) or any(_infinite(item) for item in typed.items)
            else "tuple"
        )
    if typed.kind == "text":
        return "text"
    if value[0] == "percent":
        return "percent"
    if value[0] in ("unit", "degree"):
        return "quantity"
    constant = rational(value)
    if constant is not None:
        return "integer" if constant.q == 1 else "fraction"
    if symbols(value):
        return "expression"
    return "complex" if ("const", "i") in _leaves(value) else "matrix" if contains(value, "matrix") else "constant"


def _leaves(node: Node) -> list[Node]:
    from compass.verifier.tree import walk

    return walk(node)


def _infinite(node: Node) -> bool:
    return ("const", "inf") in _leaves(node)
