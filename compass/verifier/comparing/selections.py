"""Numbers of selections written with a letter: `C(10,3)`, `C_{10}^3`, `P(5,2)`, `A_5^2`, which could be points or powers."""

from __future__ import annotations

import re

from compass.verifier.contents import contains, rebuilt, symbols
from compass.verifier.tree import Call, Inverse, Node, Number, Power, Product, Sequence, Sum, Symbol, negate, number

_INDEXED = re.compile(r"([CPA])_([1-9]\d*|[a-z])")
_LETTERS = frozenset("CPA")


def may_select(node: Node) -> bool:
    """Whether a letter of selections occurs."""
    names = symbols(node)
    if not names.isdisjoint(_LETTERS) and contains(node, Sequence):
        return True
    return any(_INDEXED.fullmatch(name) for name in names if len(name) > 2)


def selected(node: Node) -> Node:
    """A copy of a node in which the letters of selections mean what they do in combinatorics."""
    match node:
        case Power(Symbol(name), exponent) if (found := _INDEXED.fullmatch(name)) and not contains(exponent, Sequence):
            return _count(found[1], _size(found[2]), exponent)
        case Product(factors):
            return _product(factors)
    return rebuilt(node, selected)


def _product(factors: tuple[Node, ...]) -> Node:
    parts: list[Node] = []
    for factor in factors:
        match parts[-1:], factor:
            case [Symbol(letter)], Sequence("(", ")", (size, chosen)) if letter in _LETTERS:
                parts[-1] = _count(letter, size, chosen)
            case _:
                parts.append(selected(factor))
    return parts[0] if len(parts) == 1 else Product(tuple(parts))


def _size(text: str) -> Node:
    return number(int(text)) if text.isdigit() else Symbol(text)


def _count(letter: str, size: Node, chosen: Node) -> Node:
    """Unordered selections for `C`, ordered ones for `P` and `A`."""
    if letter == "C":
        return Call("binom", (size, chosen))
    match size, chosen:
        case Number(top), Number(bottom) if bottom > top:
            return number(0)
    return Product((Call("factorial", (size,)), Inverse(Call("factorial", (Sum((size, negate(chosen))),)))))
