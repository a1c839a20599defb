"""Whole answers: as they are written first, then by the other meanings that a notation may have, then as families with a letter.

`(\\pm 1, 2)` may be two points, `C_{10}^3` a number of selections, dots may leave terms out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import permutations

from compass.verifier.comparing.dots import DOTS, expand_dots, has_dots, index_letters
from compass.verifier.comparing.families import compare_families, has_domain
from compass.verifier.comparing.lists import compare_in_any_order
from compass.verifier.comparing.matrices import BASIS, as_vectors, is_in_basis
from compass.verifier.comparing.relations import compare_equations
from compass.verifier.comparing.shapes import choose_sign, split_name
from compass.verifier.comparing.structure import compare
from compass.verifier.tree import (
    Call,
    Inverse,
    Matrix,
    Node,
    Number,
    OverBudget,
    PlusMinus,
    Power,
    Product,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Unreadable,
    Words,
    contains,
    negate,
    number,
    rebuild,
    substitute,
    symbols,
    walk,
)
from compass.verifier.verdict import Finding, mark, rewind

MAX_ORDERED = 4
"""Values of a point whose permutations are listed."""
MAX_SIGNS = 3
"""Signs of one point that are chosen each by itself."""


def expand_signs(node: Node) -> list[Node]:
    """The readings of an answer with `±` inside tuples: `(\\pm 1, \\pm 2)` is two points where the signs go together, four where they don't."""
    if not contains(node, PlusMinus) or not contains(node, Sequence):
        return [node]
    linked = _points(node, lambda point: [choose_sign(point, plus=True), choose_sign(point, plus=False)])
    if linked == node:
        return [node]  # a list whose signs stand outside tuples
    if any(isinstance(part, PlusMinus) and part.sign == "mp" for part in walk(node)):
        return [linked]
    return [linked, _points(node, _independent)]


def _points(node: Node, split: Callable[[Node], list[Node]]) -> Node:
    value = split_name(node)[1] if isinstance(node, Relation) else node
    match value:
        case Sequence("(" | "<") if contains(value, PlusMinus):
            return Sequence("", "", tuple(split(value)))
        case Sequence("" | "{" as opening, closing, items):
            points = [part for item in items for part in (split(item) if _is_signed_point(item) else [item])]
            return Sequence(opening, closing, tuple(points))
    return node


def _is_signed_point(node: Node) -> bool:
    return isinstance(node, Sequence) and contains(node, PlusMinus)


def _independent(point: Node) -> list[Node]:
    """Every choice of signs, up to `MAX_SIGNS` of them."""
    points = [point]
    for _ in range(MAX_SIGNS):
        points = [part for item in points for part in _first_sign(item)]
    return points


def _first_sign(point: Node) -> list[Node]:
    for part in walk(point):
        match part:
            case PlusMinus(left, right, _):
                return [
                    substitute(point, part, Sum((left, right))),
                    substitute(point, part, Sum((left, negate(right)))),
                ]
    return [point]


_INDEXED = re.compile(r"([CPA])_([1-9]\d*|[a-z])")
_LETTERS = frozenset("CPA")


def may_select(node: Node) -> bool:
    """Whether a letter of selections occurs."""
    names = symbols(node)
    if not names.isdisjoint(_LETTERS) and contains(node, Sequence):
        return True
    return any(_INDEXED.fullmatch(name) for name in names if len(name) > 2)


def write_selections(node: Node) -> Node:
    """A copy of a node in which the letters of selections mean what they do in combinatorics."""
    match node:
        case Power(Symbol(name), exponent) if (found := _INDEXED.fullmatch(name)) and not contains(exponent, Sequence):
            return _count(found[1], _size(found[2]), exponent)
        case Product(factors):
            return _product(factors)
    return rebuild(node, write_selections)


def _product(factors: tuple[Node, ...]) -> Node:
    parts: list[Node] = []
    for factor in factors:
        match parts[-1:], factor:
            case [Symbol(letter)], Sequence("(", ")", (size, chosen)) if letter in _LETTERS:
                parts[-1] = _count(letter, size, chosen)
            case _:
                parts.append(write_selections(factor))
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


LOADED = DOTS | BASIS.keys()
"""Letters that may stand for more than themselves."""


def compare_answers(gold: Node, answer: Node) -> Finding:
    """Compare two whole answers of any kind: as they stand, then as families with a letter.

    Raises:
        OverBudget, Unreadable: a part that cannot be evaluated.
    """
    marked, finding, unread = mark(), None, None
    try:
        finding = compare(gold, answer)
    except OverBudget:
        raise
    except Unreadable as error:
        unread = error
    if finding is None or not finding.same:
        for look in (_rewritten, _as_families):
            rewind(marked)
            second = look(gold, answer)
            if second is not None and second.same:
                return second
        rewind(marked)
    if unread is not None:
        raise unread
    return finding


def _rewritten(gold: Node, answer: Node) -> Finding | None:
    """A second look at notations that can mean something else: letters of selections, and dots."""
    if (finding := _compare_lines(gold, answer)) is not None:
        return finding
    listed = contains(gold, Sequence, Matrix) or contains(answer, Sequence, Matrix)
    loaded = not (symbols(gold) | symbols(answer)).isdisjoint(LOADED)
    if not (listed or loaded or may_select(gold) or may_select(answer)):
        return None
    one, two = gold, answer
    if may_select(gold) != may_select(answer):
        one, two = (write_selections(gold), answer) if may_select(gold) else (gold, write_selections(answer))
    if has_dots(gold) or has_dots(answer):
        one, two = expand_dots(index_letters(one)), expand_dots(index_letters(two))
    if listed or is_in_basis(one) or is_in_basis(two):
        one, two = as_vectors(one, two)
    one, two = _all_orders(one), _all_orders(two)
    for first in expand_signs(one):
        for second in expand_signs(two):
            if first is not gold or second is not answer:
                finding = _tried(compare, first, second)
                if finding is not None and finding.same:
                    return finding
    return None


def _all_orders(node: Node) -> Node:
    """`(1,2,3) and its permutations` as the set of all of them; any other node as it is."""
    match node:
        case Sequence("", _, (point, Words(text))) if "permutation" in text:
            point = split_name(point)[1]
            if isinstance(point, Sequence) and len(point.items) <= MAX_ORDERED:
                orders = dict.fromkeys(permutations(point.items))
                return Sequence("{", "}", tuple(Sequence("(", ")", order) for order in orders))
    return node


def _compare_lines(gold: Node, answer: Node) -> Finding | None:
    """Two sets of equations of which one is written with `±`, as in `y = \\pm 2x` and `y - 2x = 0 or y + 2x = 0`; None for anything else."""
    if not (contains(gold, PlusMinus) or contains(answer, PlusMinus)):
        return None
    one, two = _equations(gold), _equations(answer)
    if one is None or two is None or len(one) != len(two):
        return None
    return compare_in_any_order(one, two, lambda first, second: compare_equations(first, second, compare))


def _equations(node: Node) -> tuple[Relation, ...] | None:
    """The equations in several letters that a node is, each sign of a `±` giving one; None for anything else."""
    match node:
        case Relation(("=",), (_, _)) if len(symbols(node)) > 1 and not contains(node, Sequence):
            return tuple(dict.fromkeys(choose_sign(node, plus=plus) for plus in (True, False)))
        case Sequence("", _, items):
            parts = [_equations(item) for item in items]
            return None if None in parts else tuple(equation for part in parts for equation in part)
    return None


def _as_families(gold: Node, answer: Node) -> Finding | None:
    if symbols(gold) == symbols(answer) and not (has_domain(gold) or has_domain(answer)):
        return None
    return _tried(lambda one, two: compare_families(one, two, compare), gold, answer)


def _tried(look: Callable[[Node, Node], Finding | None], gold: Node, answer: Node) -> Finding | None:
    """What a second look finds; None where it cannot read a part."""
    try:
        return look(gold, answer)
    except OverBudget:
        raise
    except Unreadable:
        return None
