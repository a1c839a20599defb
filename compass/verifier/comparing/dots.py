"""Dots that stand for terms left out: `1 + 2 + \\ldots + n`, `a_1 a_2 \\cdots a_n`, `1, 2, \\ldots, 10`.

The terms before the dots give a pattern, in which whole numbers that change do so by a constant step; the last term says where it
ends. A sum or product becomes one over an index, a list is written out.
"""

from __future__ import annotations

import re
from itertools import pairwise

from compass.verifier.comparing import scalar
from compass.verifier.comparing.exact import rational
from compass.verifier.tree import (
    ONE,
    BigOperator,
    Call,
    Inverse,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Sequence,
    Sum,
    Symbol,
    contains,
    difference,
    number,
    rebuild,
    substitute,
    symbols,
)

MAX_LISTED = 200
DOTS = frozenset(["\\ldots", "\\dots", "\\cdots", "\\vdots"])
_INDEX = Symbol(" index")
_SUBSCRIPT = re.compile(r"([A-Za-z]+)_(?:(\d+)|([A-Za-z])(?:\+(-?\d+))?)")


def has_dots(node: Node) -> bool:
    """Whether dots stand for something in a node."""
    return not symbols(node).isdisjoint(DOTS)


def expand_dots(node: Node) -> Node:
    """A copy of a node with dots written out where a pattern explains them."""
    if not has_dots(node):
        return node
    node = rebuild(node, expand_dots)
    match node:
        case Sum(terms):
            return _folded(terms, "sum") or node
        case Product(factors):
            return _folded(factors, "prod") or node
        case Sequence(opening, closing, items):
            listed = _listed(items)
            return node if listed is None else Sequence(opening, closing, listed)
    return node


def index_letters(node: Node) -> Node:
    """A copy of a node in which the letters of a sum have its index for an argument: `\\sum x_i`."""
    if not contains(node, BigOperator):
        return node
    node = rebuild(node, index_letters)
    match node:
        case BigOperator(operator, variable, low, high, body) if any(
            name.endswith(f"_{variable}") for name in symbols(body)
        ):
            return BigOperator(operator, variable, low, high, _index_letters(body))
    return node


def _is_dots(node: Node) -> bool:
    return isinstance(node, Symbol) and node.name in DOTS


def _folded(terms: tuple[Node, ...], operator: str) -> Node | None:
    """Terms with dots among them as one sum or product over an index."""
    places = [at for at, term in enumerate(terms) if _is_dots(term)]
    if len(places) != 1 or places[0] < 2 or places[0] + 1 >= len(terms):
        return None
    known, last = (
        [_index_letters(term) for term in terms[: places[0]]],
        [_index_letters(term) for term in terms[places[0] + 1 :]],
    )
    pattern = _pattern(known[-2], known[-1], len(known) - 1)
    if pattern is None or not all(_agree(_at(pattern, number(at)), term) for at, term in enumerate(known, 1)):
        return None
    length = _length(pattern, last[-1])
    if length is None or not all(
        _agree(_at(pattern, difference(length, number(back))), term) for back, term in enumerate(reversed(last))
    ):
        return None
    return BigOperator(operator, _INDEX.name, ONE, length, pattern)


def _agree(one: Node, two: Node) -> bool:
    """Whether two terms are equal; unknown functions, as subscripts are, at equal arguments."""
    if not contains(one, Call):
        return bool(scalar.compare_values(one, two).same)
    if isinstance(one, Call) and isinstance(two, Call) and one.function != two.function:
        return False
    if type(one) is type(two) and len(one.children()) == len(two.children()) > 0:
        return all(map(_agree, one.children(), two.children()))
    return bool(scalar.compare_values(one, two).same)


def _at(pattern: Node, index: Node) -> Node:
    return substitute(pattern, _INDEX, index)


def _index_letters(node: Node) -> Node:
    """Letters with a subscript as unknown functions of it: `a_{n-1}`."""
    match node:
        case Symbol(name) if found := _SUBSCRIPT.fullmatch(name):
            base, digits, letter, shift = found.groups()
            index: Node = number(int(digits)) if digits else Symbol(letter)
            if shift:
                index = Sum((index, number(int(shift))))
            return Call(f" {base}", (index,))
    return rebuild(node, _index_letters)


def _pattern(one: Node, two: Node, at: int) -> Node | None:
    """A term with the index in it, that is `one` at the index `at` and `two` at the next."""
    if one == two:
        return one
    first, second = rational(one) if not symbols(one) else None, rational(two) if not symbols(two) else None
    if (
        isinstance(one, (Number, Negative))
        and isinstance(two, (Number, Negative))
        and first is not None
        and second is not None
    ):
        return Sum((number(first), Product((number(second - first), Sum((_INDEX, number(-at)))))))
    if isinstance(two, Power) and not isinstance(one, Power) and two.base == one:
        one = Power(one, ONE)
    if isinstance(one, (Sum, Symbol)) and isinstance(two, (Sum, Symbol)):
        step = difference(two, one)
        value = next((rational(part) for part in (_simple(step),) if part is not None), None)
        return None if value is None else Sum((one, Product((number(value), Sum((_INDEX, number(-at)))))))
    if type(one) is not type(two) or len(one.children()) != len(two.children()) or not one.children():
        return None
    if isinstance(one, Call) and one.function != two.function:
        return None
    parts = [_pattern(a, b, at) for a, b in zip(one.children(), two.children(), strict=True)]
    if None in parts:
        return None
    left = iter(parts)
    return rebuild(one, lambda _: next(left))


def _simple(node: Node) -> Node | None:
    """A difference whose letters cancel, as a number."""
    for value in range(-4, 5):
        if scalar.compare_values(node, number(value)).same:
            return number(value)
    return None


def _length(pattern: Node, last: Node) -> Node | None:
    """How many terms there are: the index at which the pattern is the last term."""
    found: list[Node] = []
    return found[0] if _matched(pattern, last, found) and found else None


def _matched(pattern: Node, last: Node, found: list[Node]) -> bool:
    """Find the index in a last term of the pattern's form."""
    match pattern:
        case Sum((start, Product((Number(step), Sum((index, Number(shift))))))) if index == _INDEX:
            found.append(Sum((Product((difference(last, start), Inverse(number(step)))), number(-shift))))
            return True
    if not contains(pattern, Symbol) or _INDEX.name not in symbols(pattern):
        return bool(pattern == last)
    if isinstance(pattern, Power) and not isinstance(last, Power) and pattern.base == last:
        last = Power(last, ONE)
    if type(pattern) is not type(last) or len(pattern.children()) != len(last.children()):
        return False
    return all(_matched(a, b, found) for a, b in zip(pattern.children(), last.children(), strict=True))


def _listed(items: tuple[Node, ...]) -> tuple[Node, ...] | None:
    """A list whose dots a constant step explains, written out; one without an end by its first terms and the dots."""
    places = [at for at, item in enumerate(items) if _is_dots(item)]
    if len(places) != 1 or places[0] < 2:
        return None
    known, rest = [rational(item) if not symbols(item) else None for item in items[: places[0]]], items[places[0] + 1 :]
    if None in known:
        return None
    step = known[1] - known[0]
    if step == 0 or any(two - one != step for one, two in pairwise(known)):
        return None
    if not rest:
        return (*(number(known[0] + step * at) for at in range(3)), Symbol("\\ldots")) if len(known) > 2 else None
    if symbols(rest[0]):
        return (*(number(value) for value in known[:2]), Symbol("\\ldots"), *rest)
    last = rational(rest[0])
    if last is None or ((last - known[0]) / step).q != 1 or not 0 < (last - known[0]) / step < MAX_LISTED:
        return None
    whole = tuple(number(known[0] + step * at) for at in range(int(((last - known[0]) / step).p) + 1))
    return (*whole, *rest[1:])
