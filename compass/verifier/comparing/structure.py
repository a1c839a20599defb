"""Typed comparison: what two answers are decides how they are compared; single values at the leaves."""

from __future__ import annotations

from collections import Counter

from compass.verifier.comparing import scalar
from compass.verifier.comparing.lists import SAME_PARTS, compare_in_any_order, compare_in_order, compare_lists, differ
from compass.verifier.comparing.matrices import to_matrix, to_tuple
from compass.verifier.comparing.real_sets import same_piecewise
from compass.verifier.comparing.relations import compare_equations, compare_relations, compare_sets
from compass.verifier.comparing.shapes import (
    Shape,
    bound_names,
    is_name,
    label,
    name_items,
    place_variables,
    shape,
    split_name,
)
from compass.verifier.reading.words import plain_words
from compass.verifier.tree import (
    WITHOUT_VALUE,
    Call,
    Cases,
    Inverse,
    Matrix,
    Negative,
    Node,
    Number,
    PlusMinus,
    Power,
    Product,
    Ratio,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    Unreadable,
    Words,
    cells,
    contains,
    quotient,
    symbols,
)
from compass.verifier.verdict import Finding, Leniency, lean

_STRUCTURED = (*WITHOUT_VALUE, PlusMinus)


def compare(gold: Node, answer: Node) -> Finding:
    """Compare two answers of any kind, or parts of them, as they stand.

    Raises:
        OverBudget, Unreadable: a part that cannot be evaluated.
    """
    if isinstance(gold, Relation) and isinstance(answer, Relation) and contains(gold, Ratio) != contains(answer, Ratio):
        gold, answer = _without_ratios(gold), _without_ratios(answer)
    if not contains(gold, *_STRUCTURED) and not contains(answer, *_STRUCTURED):
        return scalar.compare(gold, answer)  # most answers: the same as below, sooner
    gold_name, gold_value = split_name(gold)
    answer_name, answer_value = split_name(answer)
    if gold_name is not None and answer_name is not None:
        if gold_name == answer_name:
            return compare(gold_value, answer_value)
        if _name_one_function(gold_name, answer_name):
            lean(Leniency.NAME)
            return compare(gold_value, answer_value)
        if bound_names(gold_name) and label(gold_name) == label(answer_name):
            lean(Leniency.NAME)
            return compare(place_variables(gold_name, gold_value), place_variables(answer_name, answer_value))
        if _name_the_same_items(gold_name, answer_name):
            return compare(name_items(gold_name, gold_value), name_items(answer_name, answer_value))
        if not (isinstance(gold, Relation) and isinstance(answer, Relation)):
            return differ("other names")  # points: M(1,2) and N(1,2)
        return compare_equations(gold, answer, compare)
    if gold_name is not None or answer_name is not None:
        if isinstance(gold, Relation) and isinstance(answer, Relation):
            one, two = _named_set(gold) or gold, _named_set(answer) or answer
            if (one, two) != (gold, answer):
                lean(Leniency.NAME)
                return compare(one, two)
            return compare_relations(gold, answer, compare)
        if (_in_interval(gold) and shape(answer).kind == "list") or (
            _in_interval(answer) and shape(gold).kind == "list"
        ):
            return differ("an interval against single values")
        gold_only, answer_only = _only_item(gold), _only_item(answer)
        if (gold_only or answer_only) is not None:
            return compare(gold_only or gold, answer_only or answer)
        lean(Leniency.NAME)
        gold, answer = name_items(gold_name, gold_value), name_items(answer_name, answer_value)
    if isinstance(gold, Relation) and not isinstance(answer, Relation):
        gold = _identity(gold, answer) if symbols(gold) else _evaluated(gold)
    elif isinstance(answer, Relation) and not isinstance(gold, Relation):
        answer = _identity(answer, gold) if symbols(answer) else _evaluated(answer)
    return _compare_shapes(shape(_worked_out(gold)), shape(_worked_out(answer)))


def _without_ratios(relation: Relation) -> Relation:
    """`a:b = 2:3` with each ratio of two parts as a quotient."""
    return Relation(
        relation.operators,
        tuple(
            quotient(*side.items) if isinstance(side, Ratio) and len(side.items) == 2 else side
            for side in relation.sides
        ),
    )


def _worked_out(node: Node) -> Node:
    """Sums and multiples of matrices and tuples as one."""
    if isinstance(node, (Sum, Product, Negative, Power)):
        return to_matrix(node) or to_tuple(node) or node
    return node


def _name_one_function(one: Node, two: Node) -> bool:
    """Whether two names are a function with its variables and without: `y(x)` and `y`."""
    match one, two:
        case (Call(function), Symbol(name)) | (Symbol(name), Call(function)):
            return function == name
    return False


def _name_the_same_items(one: Node, two: Node) -> bool:
    """Whether two names are tuples of the same names in another order: `(x, y)` and `(y, x)`."""
    match one, two:
        case Sequence(_, _, first), Sequence(_, _, second):
            return Counter(first) == Counter(second)
    return False


def _named_set(node: Node) -> Node | None:
    """The set in `A \\cap B = \\{x | x < 3\\}` or `A = \\{x | x < 3\\}`, whose left side only names it; None for another equation."""
    match node:
        case Relation(("=",), (SetOperation() as name, value)) if is_name(name):
            return value
        case Relation(("=",), (Symbol(name), Relation() as value)) if name[:1].isupper():
            return value
    return None


def _in_interval(node: Node) -> bool:
    """`x \\in (1,2)`, where the brackets are no pair of numbers."""
    match node:
        case Relation(("in",), (_, Sequence("(" | "[", _, (_, _)))):
            return True
    return False


def _only_item(node: Node) -> Node | None:
    """The item of a set of one that says what it is about, `\\{y = 2\\}`; None for any other node."""
    match node:
        case Sequence("{", _, (Relation() as item,)) if split_name(item)[0] is not None:
            return item
    return None


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


def _identity(chain: Relation, value: Node) -> Node:
    """`(x-1)(x+1) = x^2-1` holds for every x and names the expression, where the other side's value is that; any other equation stays one."""
    if set(chain.operators) != {"="} or any(contains(side, *_STRUCTURED) for side in (*chain.sides, value)):
        return chain
    return value if all(scalar.compare(side, value).same for side in chain.sides) else chain


def _compare_shapes(gold: Shape, answer: Shape) -> Finding:
    kinds = {gold.kind, answer.kind}
    if kinds == {"scalar"}:
        return scalar.compare(gold.node, answer.node)
    if "text" in kinds:
        return _words(gold.node, answer.node)
    if kinds == {"matrix"}:
        return _matrices(gold.node, answer.node)
    if "based" in kinds:
        return SAME_PARTS if gold.node == answer.node else differ("a number in another base, or without one")
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
        case Words(one), Words(two) if plain_words(one) == plain_words(two) != "":
            lean(Leniency.WORDING)
            return Finding(True, "text", "the same words")
    return Finding(False, "text", "other words")


def _matrices(gold: Matrix, answer: Matrix) -> Finding:
    if [len(row) for row in gold.rows] != [len(row) for row in answer.rows]:
        return differ("matrices of other sizes")
    return compare_in_order(cells(gold.rows), cells(answer.rows), compare)


def _vector(gold: Shape, answer: Shape) -> Finding:
    """A row or column against a tuple of the same entries, or a matrix of one entry against a value."""
    matrix, other = (gold, answer) if gold.kind == "matrix" else (answer, gold)
    rows = matrix.node.rows
    entries = cells(rows)
    if other.kind == "tuple" and min(len(rows), len(rows[0])) == 1 and len(entries) == len(other.items):
        if other.node.opening + other.node.closing in ("()", "<>"):
            values = other.items
            lean(Leniency.CONTAINER)
            return (
                compare_in_order(entries, values, compare)
                if matrix is gold
                else compare_in_order(values, entries, compare)
            )
    elif other.kind == "scalar" and len(entries) == 1:
        return compare(entries[0], other.node) if matrix is gold else compare(other.node, entries[0])
    elif (listed := _listed_rows(other.node)) is not None:
        return _matrices(matrix.node, listed) if matrix is gold else _matrices(listed, matrix.node)
    return differ("a matrix against something else")


def _listed_rows(node: Node) -> Matrix | None:
    """`[[1,2],[3,4]]`, a matrix as programs write it, row by row."""
    match node:
        case Sequence("[", "]", rows) if all(
            isinstance(row, Sequence) and row.opening + row.closing == "[]" for row in rows
        ):
            return Matrix(tuple(row.items for row in rows))
    return None


def _ratios(gold: Shape, answer: Shape) -> Finding:
    match gold.node, answer.node:
        case Ratio(first), Ratio(second):
            if len(first) != len(second):
                return differ("ratios of other lengths")
            if _looks_like_a_time(first) and _looks_like_a_time(second):
                return compare_in_order(first, second, compare)
            return compare_in_order(_scaled(first), _scaled(second), compare)
        case Ratio((top, bottom)), other if answer.kind == "scalar":
            return scalar.compare(quotient(top, bottom), other)
        case other, Ratio((top, bottom)) if gold.kind == "scalar":
            return scalar.compare(other, quotient(top, bottom))
    return differ("a ratio against something else")


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
        case Cases(first), Cases(second) if len(first) == len(second):
            finding = compare_in_any_order(tuple(map(_row, first)), tuple(map(_row, second)), compare)
            if finding.same:
                return finding
    same = same_piecewise(gold.node, answer.node) if {gold.kind, answer.kind} <= {"cases", "scalar"} else None
    if same is None:
        return differ("a definition by cases, or a system, against something else")
    return Finding(same, "numeric", "equal at points of every case" if same else "different at a point")


def _row(row: tuple[Node, ...]) -> Node:
    return Sequence("(", ")", row) if len(row) > 1 else row[0]
