"""Whole answers: as they stand first, then by the other meanings that a notation may have, then as families with a letter."""

from __future__ import annotations

from collections.abc import Callable

from compass.verifier.comparing.dots import DOTS, has_dots, indexed, without_dots
from compass.verifier.comparing.families import compare_families, has_domain
from compass.verifier.comparing.selections import may_select, selected
from compass.verifier.comparing.shapes import bound_names, unnamed
from compass.verifier.comparing.signs import with_signs
from compass.verifier.comparing.structure import compare
from compass.verifier.comparing.vectors import BASIS, as_vectors, is_in_basis
from compass.verifier.contents import contains, substituted, symbols
from compass.verifier.leniency import Leniency, lean, mark, rewind
from compass.verifier.tree import Matrix, Node, OverBudget, Sequence, Symbol, Unreadable
from compass.verifier.verdict import Finding

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
    listed = contains(gold, Sequence, Matrix) or contains(answer, Sequence, Matrix)
    loaded = not (symbols(gold) | symbols(answer)).isdisjoint(LOADED)
    if not (listed or loaded or may_select(gold) or may_select(answer)):
        return None
    one, two = gold, answer
    if may_select(gold) != may_select(answer):
        one, two = (selected(gold), answer) if may_select(gold) else (gold, selected(answer))
    if has_dots(gold) or has_dots(answer):
        one, two = without_dots(indexed(one)), without_dots(indexed(two))
    if listed or is_in_basis(one) or is_in_basis(two):
        one, two = as_vectors(one, two)
    if listed:
        two = with_variables_of(one, two)
    for first in with_signs(one):
        for second in with_signs(two):
            if first is not gold or second is not answer:
                finding = _tried(compare, first, second)
                if finding is not None and finding.same:
                    return finding
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


def with_variables_of(gold: Node, answer: Node) -> Node:
    """The answer with the variable of its `f(t) = ...` called as in the gold, where neither side uses the other's for anything else."""
    ours, theirs = _variables(gold), _variables(answer)
    if ours is None or theirs is None or ours == theirs or len(ours) != len(theirs):
        return answer
    if not symbols(answer).isdisjoint(ours) or not symbols(gold).isdisjoint(theirs):
        return answer
    lean(Leniency.NAME)
    for old, new in zip(theirs, ours, strict=True):
        answer = substituted(answer, Symbol(old), Symbol(new))
    return answer


def _variables(node: Node) -> tuple[str, ...] | None:
    """The variables of the functions that a list defines, if they are the same in all."""
    items = node.items if isinstance(node, Sequence) else (node,)
    found = {bound_names(name) for item in items if (name := unnamed(item)[0]) is not None}
    return found.pop() if len(found) == 1 else None
