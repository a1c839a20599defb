"""Typed comparison: what two answers are decides how they are compared; single values at the leaves."""

from __future__ import annotations

from collections.abc import Callable

from compass.verifier.comparing import scalar
from compass.verifier.comparing.dots import DOTS, has_dots, without_dots
from compass.verifier.comparing.families import compare_families, has_domain
from compass.verifier.comparing.lists import compare_lists
from compass.verifier.comparing.matrix import matrix_of
from compass.verifier.comparing.pairing import YES, any_order, in_order, no
from compass.verifier.comparing.relations import compare_equations, compare_relations, compare_sets
from compass.verifier.comparing.selections import may_select, selected
from compass.verifier.comparing.shapes import Shape, bound_names, label, shape, unnamed, with_signs
from compass.verifier.comparing.vectors import BASIS, as_vectors, is_in_basis
from compass.verifier.contents import contains, substituted, symbols
from compass.verifier.leniency import Leniency, lean, mark, rewind
from compass.verifier.reading.wording import wording
from compass.verifier.tree import (
    Based,
    Cases,
    Inverse,
    Matrix,
    NamedSet,
    Node,
    Number,
    OverBudget,
    PlusMinus,
    Product,
    Ratio,
    Relation,
    Sequence,
    SetOperation,
    Symbol,
    Unreadable,
    Words,
    cells,
    quotient,
)
from compass.verifier.verdict import Finding

_STRUCTURED = (
    Relation, Sequence, Matrix, Cases, SetOperation, Ratio, Based, NamedSet, Words, PlusMinus,
)  # fmt: skip


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
        one, two = without_dots(one), without_dots(two)
    if listed or is_in_basis(one) or is_in_basis(two):
        one, two = as_vectors(one, two)
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


def compare(gold: Node, answer: Node) -> Finding:
    """Compare two answers of any kind, or parts of them, as they stand.

    Raises:
        OverBudget, Unreadable: a part that cannot be evaluated.
    """
    if not contains(gold, *_STRUCTURED) and not contains(answer, *_STRUCTURED):
        return scalar.compare(gold, answer)  # most answers: the same as below, sooner
    gold_name, gold_value = unnamed(gold)
    answer_name, answer_value = unnamed(answer)
    if gold_name is not None and answer_name is not None:
        if gold_name == answer_name:
            return compare(gold_value, answer_value)
        if bound_names(gold_name) and label(gold_name) == label(answer_name):
            lean(Leniency.NAME)
            return compare(_by_place(gold_name, gold_value), _by_place(answer_name, answer_value))
        if not (isinstance(gold, Relation) and isinstance(answer, Relation)):
            return no("other names")  # points: M(1,2) and N(1,2)
        return compare_equations(gold, answer, compare)
    if gold_name is not None or answer_name is not None:
        if isinstance(gold, Relation) and isinstance(answer, Relation):
            return compare_relations(gold, answer, compare)
        if (_in_interval(gold) and shape(answer).kind == "list") or (
            _in_interval(answer) and shape(gold).kind == "list"
        ):
            return no("an interval against single values")
        lean(Leniency.NAME)
        gold, answer = gold_value, answer_value
    if isinstance(gold, Relation) and not isinstance(answer, Relation):
        gold = _evaluated(gold)
    elif isinstance(answer, Relation) and not isinstance(gold, Relation):
        answer = _evaluated(answer)
    return _compare_shapes(shape(matrix_of(gold) or gold), shape(matrix_of(answer) or answer))


def _by_place(name: Node, value: Node) -> Node:
    """The value of `f(x, y)` with its variables replaced by their places, so that no other letter can become one of them."""
    for at, variable in enumerate(bound_names(name)):
        value = substituted(value, Symbol(variable), Symbol(f" {at}"))
    return value


def _in_interval(node: Node) -> bool:
    """`x \\in (1,2)`, where the brackets are no pair of numbers."""
    match node:
        case Relation(("in",), (_, Sequence("(" | "[", _, (_, _)))):
            return True
    return False


def _evaluated(chain: Relation) -> Node:
    """`1+1 = 2` is 2 where every side agrees; a chain that contradicts itself says nothing."""
    *others, last = chain.sides
    if set(chain.operators) != {"="} or symbols(chain):
        return chain
    if any(isinstance(side, (Sequence, Relation, SetOperation)) for side in chain.sides):
        return chain
    for side in others:
        if not scalar.compare(last, side).same:
            raise Unreadable("an equation that does not hold")
    return last


def _compare_shapes(gold: Shape, answer: Shape) -> Finding:
    kinds = {gold.kind, answer.kind}
    if kinds == {"scalar"}:
        return scalar.compare(gold.node, answer.node)
    if "text" in kinds:
        return _words(gold.node, answer.node)
    if kinds == {"matrix"}:
        return _matrices(gold.node, answer.node)
    if "based" in kinds:
        return YES if gold.node == answer.node else no("a number in another base, or without one")
    if "ratio" in kinds:
        return _ratios(gold, answer)
    if "cases" in kinds:
        if len(kinds) > 1:
            gold, answer = _without_brace(gold), _without_brace(answer)
        return _cases(gold, answer) if "cases" in (gold.kind, answer.kind) else _compare_shapes(gold, answer)
    if kinds <= {"list", "set", "tuple", "scalar"}:
        return compare_lists(gold, answer, compare)
    if "matrix" in kinds:
        return _vector(gold, answer)
    return compare_sets(gold, answer, compare)


def _words(gold: Node, answer: Node) -> Finding:
    match gold, answer:
        case Words(one), Words(two) if wording(one) == wording(two) != "":
            lean(Leniency.WORDING)
            return Finding(True, "text", "the same words")
    return Finding(False, "text", "other words")


def _matrices(gold: Matrix, answer: Matrix) -> Finding:
    if [len(row) for row in gold.rows] != [len(row) for row in answer.rows]:
        return no("matrices of other sizes")
    return in_order(cells(gold.rows), cells(answer.rows), compare)


def _vector(gold: Shape, answer: Shape) -> Finding:
    """A row or column against a tuple of the same entries, or a matrix of one entry against a value."""
    matrix, other = (gold, answer) if gold.kind == "matrix" else (answer, gold)
    rows = matrix.node.rows
    entries = cells(rows)
    if other.kind == "tuple" and min(len(rows), len(rows[0])) == 1 and len(entries) == len(other.items):
        if other.node.opening + other.node.closing in ("()", "<>"):
            values = other.items
            lean(Leniency.CONTAINER)
            return in_order(entries, values, compare) if matrix is gold else in_order(values, entries, compare)
    elif other.kind == "scalar" and len(entries) == 1:
        return compare(entries[0], other.node) if matrix is gold else compare(other.node, entries[0])
    return no("a matrix against something else")


def _ratios(gold: Shape, answer: Shape) -> Finding:
    match gold.node, answer.node:
        case Ratio(first), Ratio(second):
            if len(first) != len(second):
                return no("ratios of other lengths")
            if _looks_like_a_time(first) and _looks_like_a_time(second):
                return in_order(first, second, compare)
            return in_order(_scaled(first), _scaled(second), compare)
        case Ratio((top, bottom)), other if answer.kind == "scalar":
            return scalar.compare(quotient(top, bottom), other)
        case other, Ratio((top, bottom)) if gold.kind == "scalar":
            return scalar.compare(other, quotient(top, bottom))
    return no("a ratio against something else")


def _scaled(ratio: tuple[Node, ...]) -> tuple[Node, ...]:
    """The parts after the first, as multiples of it."""
    first, *others = ratio
    return tuple(Product((part, Inverse(first))) for part in others)


def _looks_like_a_time(parts: tuple[Node, ...]) -> bool:
    """Whether two digits, or none, stand after the colon."""
    match parts:
        case (Number(hour), Number(minute)):
            return hour <= 24 and (minute == 0 or 10 <= minute < 100)
    return False


def _without_brace(side: Shape) -> Shape:
    """A system of one equation per row as the list of them."""
    match side.node:
        case Cases(rows) if all(len(row) == 1 and isinstance(row[0], Relation) for row in rows):
            return shape(Sequence("", "and", cells(rows)))
    return side


def _cases(gold: Shape, answer: Shape) -> Finding:
    match gold.node, answer.node:
        case Cases(first), Cases(second):
            if len(first) != len(second):
                return no("another number of cases")
            return any_order(tuple(map(_row, first)), tuple(map(_row, second)), compare)
    return no("a definition by cases, or a system, against something else")


def _row(row: tuple[Node, ...]) -> Node:
    return Sequence("(", ")", row) if len(row) > 1 else row[0]
