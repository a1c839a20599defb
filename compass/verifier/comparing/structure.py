"""Typed comparison: lists, sets, tuples, intervals, matrices, equations, ratios; single values at the leaves."""

from __future__ import annotations

from collections import Counter

from compass.verifier.comparing import real_sets, scalar
from compass.verifier.comparing.exact import rational, same_zeros
from compass.verifier.comparing.matrix import matrix_of
from compass.verifier.comparing.numeric import same_equation
from compass.verifier.comparing.shapes import Shape, bound_name, renamed, shape, unnamed
from compass.verifier.reading.wording import wording
from compass.verifier.tree import Node, OverBudget, Unreadable, contains, symbols
from compass.verifier.verdict import Finding

MAX_PAIRINGS = 200
_REALS = frozenset(["setop", "relation", "named set"])
_ORDERED = frozenset(["tuple", "matrix"])
YES = Finding(True, "structure", "the same parts")


def no(detail: str) -> Finding:
    """Different, and why."""
    return Finding(False, "structure", detail)


def compare(gold: Node, answer: Node) -> Finding:
    """Compare two answers of any kind.

    Raises:
        OverBudget, Unreadable: a part that cannot be evaluated.
    """
    gold_name, gold_value = unnamed(gold)
    answer_name, answer_value = unnamed(answer)
    if gold_name is not None and answer_name is not None:
        if gold_name == answer_name:
            return compare(gold_value, answer_value)
        old, new = bound_name(answer_name), bound_name(gold_name)
        if old is not None and new is not None and old != new:
            return compare(gold_value, renamed(answer_value, old, new))
        return _equations(gold, answer)
    if (gold_name is None) != (answer_name is None):
        other = answer if gold_name is not None else gold
        if other[0] == "rel":
            return _relations(gold, answer)
        gold, answer = gold_value, answer_value
    if gold[0] == "rel" and answer[0] != "rel":
        gold = _evaluated(gold)
    if answer[0] == "rel" and gold[0] != "rel":
        answer = _evaluated(answer)
    gold, answer = matrix_of(gold) or gold, matrix_of(answer) or answer
    return _shapes(shape(gold), shape(answer))


def _evaluated(chain: Node) -> Node:
    """`1+1 = 2` is 2 where every side agrees; a chain that contradicts itself says nothing."""
    ops, sides = chain[1], chain[2]
    if set(ops) != {"="} or symbols(chain) or any(side[0] in ("seq", "rel", "setop") for side in sides):
        return chain
    for side in sides[:-1]:
        if not scalar.compare(sides[-1], side).same:
            raise Unreadable("an equation that does not hold")
    return sides[-1]


def _shapes(gold: Shape, answer: Shape) -> Finding:
    kinds = {gold.kind, answer.kind}
    if kinds == {"scalar"}:
        return scalar.compare(gold.node, answer.node)
    if "text" in kinds:
        if len(kinds) == 1 and wording(gold.node[1]) == wording(answer.node[1]) != "":
            return Finding(True, "text", "the same words")
        return Finding(False, "text", "other words")
    if kinds == {"matrix"}:
        return _matrices(gold.node[1], answer.node[1])
    if "based" in kinds:
        return YES if gold.node == answer.node else no("a number in another base, or without one")
    if "ratio" in kinds:
        return _ratios(gold, answer)
    if "cases" in kinds:
        return _cases(gold, answer)
    if kinds <= {"list", "set", "tuple", "scalar"} and not (kinds & _REALS):
        return _collections(gold, answer)
    if "matrix" in kinds:
        return _vector(gold, answer)
    if kinds & _REALS:
        return _sets(gold, answer)
    return no(f"{gold.kind} against {answer.kind}")


def _collections(gold: Shape, answer: Shape) -> Finding:
    kinds = {gold.kind, answer.kind}
    if "scalar" in kinds:
        return _one_of(gold, answer)
    first, second = gold.items, answer.items
    if len(first) != len(second):
        return no(f"{len(first)} values against {len(second)}")
    if kinds == {"tuple"}:
        if not _same_brackets(gold.node, answer.node):
            return no("other brackets")
        return _in_order(first, second)
    if "tuple" in kinds:
        return no("a set against an ordered tuple") if "set" in kinds else _in_order(first, second)
    named = _naming(gold.names), _naming(answer.names)
    if "several" in named:
        if named == ("several", "several"):
            return _by_name(gold, answer)
        return _in_order(first, second) if "" in named and "set" not in kinds else no("other names")
    if "one" in named and "" not in named and set(gold.names) - {""} != set(answer.names) - {""}:
        return no("other names")
    return _any_order(first, second)


def _naming(names: tuple[str, ...]) -> str:
    """`""` no item has a name, `one` they share it (`x = 1, 2`), `several` each has its own (`x = 1, y = 2`)."""
    different = set(names) - {""}
    return "" if not different else "one" if len(different) == 1 else "several"


def _one_of(gold: Shape, answer: Shape) -> Finding:
    """One value against several: equal only where the several is a single one written with brackets."""
    many, one = (gold, answer) if answer.kind == "scalar" else (answer, gold)
    if len(many.items) == 1 and many.kind in ("set", "list"):
        pair = (many.items[0], one.node) if many is gold else (one.node, many.items[0])
        return compare(*pair)
    return no(f"{len(many.items)} values against one")


def _same_brackets(gold: Node, answer: Node) -> bool:
    if len(gold[3]) != 2:
        return True  # only two ends make an interval
    pair, other = gold[1] + gold[2], answer[1] + answer[2]
    return pair == other or {pair, other} == {"()", "<>"}


def _in_order(gold: tuple[Node, ...], answer: tuple[Node, ...]) -> Finding:
    for at, (one, two) in enumerate(zip(gold, answer, strict=True)):
        found = compare(one, two)
        if not found.same:
            return found._replace(detail=f"part {at + 1}: {found.detail}")
    return YES


def _by_name(gold: Shape, answer: Shape) -> Finding:
    if Counter(gold.names) != Counter(answer.names):
        return no("other names")
    for name in dict.fromkeys(gold.names):
        sides = [
            tuple(item for item, other in zip(side.items, side.names, strict=True) if other == name)
            for side in (gold, answer)
        ]
        found = _any_order(sides[0], sides[1])
        if not found.same:
            return found
    return YES


def _key(node: Node) -> object:
    if node[0] == "num":
        return node[1]
    value = rational(node) if node[0] in ("neg", "mul", "add", "inv", "pow") and not symbols(node) else None
    return node if value is None else value


def _any_order(gold: tuple[Node, ...], answer: tuple[Node, ...]) -> Finding:
    """Whether two lists hold the same values, each as often."""
    left = Counter(_key(item) for item in gold)
    rest_answer = []
    for item in answer:
        key = _key(item)
        if left[key] > 0:
            left[key] -= 1
        else:
            rest_answer.append(item)
    rest_gold = []
    for item in gold:
        key = _key(item)
        if left[key] > 0:
            left[key] -= 1
            rest_gold.append(item)
    if len(rest_gold) ** 2 > MAX_PAIRINGS:
        return _in_order(tuple(rest_gold), tuple(rest_answer))
    for one in rest_gold:
        for two in rest_answer:
            if compare(one, two).same:
                rest_answer.remove(two)
                break
        else:
            return no("a value that the other side lacks")
    return YES


def _matrices(gold: tuple[tuple[Node, ...], ...], answer: tuple[tuple[Node, ...], ...]) -> Finding:
    if [len(row) for row in gold] != [len(row) for row in answer]:
        return no("matrices of other sizes")
    return _in_order(tuple(cell for row in gold for cell in row), tuple(cell for row in answer for cell in row))


def _vector(gold: Shape, answer: Shape) -> Finding:
    """A row or column against a tuple of the same entries."""
    matrix, other = (gold, answer) if gold.kind == "matrix" else (answer, gold)
    rows = matrix.node[1]
    cells = tuple(cell for row in rows for cell in row)
    if (
        other.kind == "tuple"
        and min(len(rows), len(rows[0])) == 1
        and len(cells) == len(other.items)
        and other.node[1:3] in (("(", ")"), ("<", ">"))
    ):
        return _in_order(cells, other.items) if matrix is gold else _in_order(other.items, cells)
    if other.kind == "scalar" and len(cells) == 1:
        return compare(cells[0], other.node) if matrix is gold else compare(other.node, cells[0])
    return no("a matrix against something else")


def _ratios(gold: Shape, answer: Shape) -> Finding:
    first = gold.node[1] if gold.kind == "ratio" else None
    second = answer.node[1] if answer.kind == "ratio" else None
    if first is not None and second is not None:
        if len(first) != len(second):
            return no("ratios of other lengths")
        if _looks_like_a_time(first) or _looks_like_a_time(second):
            return _in_order(first, second)
        scaled = [[("mul", (part, ("inv", side[0]))) for part in side[1:]] for side in (first, second)]
        return _in_order(tuple(scaled[0]), tuple(scaled[1]))
    ratio, other = (first, answer) if first is not None else (second, gold)
    if ratio is None or len(ratio) != 2 or other.kind != "scalar" or _looks_like_a_time(ratio):
        return no("a ratio against something else")
    quotient = ("mul", (ratio[0], ("inv", ratio[1])))
    return scalar.compare(quotient, other.node) if first is not None else scalar.compare(other.node, quotient)


def _looks_like_a_time(parts: tuple[Node, ...]) -> bool:
    values = [rational(part) for part in parts if part[0] == "num"]
    return (
        len(values) == len(parts) == 2
        and values[0] is not None
        and values[0] <= 24
        and values[1] is not None
        and 10 <= values[1] < 60
    )


def _cases(gold: Shape, answer: Shape) -> Finding:
    if gold.kind != answer.kind:
        return no("a definition by cases, or a system, against something else")
    rows = [
        tuple(("seq", "(", ")", row) if len(row) > 1 else row[0] for row in side.node[1]) for side in (gold, answer)
    ]
    if len(rows[0]) != len(rows[1]):
        return no("another number of cases")
    return _any_order(rows[0], rows[1])


def _sets(gold: Shape, answer: Shape) -> Finding:
    """Sets of reals, inequalities, equations."""
    if gold.node == answer.node:
        return YES
    if gold.kind == answer.kind == "relation":
        return _relations(gold.node, answer.node)
    first, second = _pieces(gold.node), _pieces(answer.node)
    if first is not None and second is not None:
        return YES if real_sets.same(first, second) else no("other sets of numbers")
    if gold.kind == answer.kind == "setop" and gold.node[1] == answer.node[1]:
        return _set_operation(gold.node, answer.node)
    return no(f"{gold.kind} against {answer.kind}")


def _pieces(node: Node) -> list[real_sets.Piece] | None:
    if node[0] == "unit":
        return _pieces(node[1])
    return real_sets.pieces(node)


def _set_operation(gold: Node, answer: Node) -> Finding:
    """A union or the like with variables in it: operand by operand."""
    sides = [_operands(gold, gold[1]), _operands(answer, answer[1])]
    if len(sides[0]) != len(sides[1]):
        return no("another number of sets")
    if gold[1] == "minus":
        return _in_order(tuple(sides[0]), tuple(sides[1]))
    return _any_order(tuple(sides[0]), tuple(sides[1]))


def _operands(node: Node, op: str) -> list[Node]:
    if node[0] == "setop" and node[1] == op and op != "minus":
        return _operands(node[2], op) + _operands(node[3], op)
    return [node[2], node[3]] if node[0] == "setop" and op == "minus" and node[1] == op else [node]


def _relations(gold: Node, answer: Node) -> Finding:
    """Two relations, or one and a name with its value."""
    if set(gold[1]) == set(answer[1]) == {"="}:
        return _equations(gold, answer)
    if symbols(gold) == symbols(answer) and len(symbols(gold)) <= 2:
        first, second = _pieces(gold), _pieces(answer)
        if first is not None and second is not None:
            return YES if real_sets.same(first, second) else no("other sets of numbers")
    chains = [_rising(node) for node in (gold, answer)]
    if chains[0][0] == chains[1][0] and len(chains[0][1]) == len(chains[1][1]):
        found = _in_order(chains[0][1], chains[1][1])
        if found.same:
            return found
    if len(gold[1]) == len(answer[1]) == 1 and chains[0][0] == chains[1][0]:
        sides = [("add", (chain[1][1], ("neg", chain[1][0]))) for chain in chains]
        if same_zeros(sides[0], sides[1], signed=True):
            return Finding(True, "algebra", "the same inequality up to a factor")
    return no("other relations")


def _rising(node: Node) -> tuple[tuple[str, ...], tuple[Node, ...]]:
    """A chain of relations turned so that its first inequality points up."""
    ops, sides = node[1], node[2]
    if any(op in (">", ">=") for op in ops) and not any(op in ("<", "<=") for op in ops):
        return tuple({">": "<", ">=": "<="}.get(op, op) for op in reversed(ops)), tuple(reversed(sides))
    return ops, sides


def _equations(gold: Node, answer: Node) -> Finding:
    """Two equations: the same up to moving terms and a constant factor."""
    if (
        len(gold[2]) != 2
        or len(answer[2]) != 2
        or contains(gold, "seq", "word", "matrix", "setop")
        or contains(answer, "seq", "word", "matrix", "setop")
    ):
        if len(gold[2]) != len(answer[2]):
            return no("other equations")
        return _in_order(gold[2], answer[2])
    sides = [("add", (node[2][0], ("neg", node[2][1]))) for node in (gold, answer)]
    if symbols(sides[0]) != symbols(sides[1]):
        return no("equations in other variables")
    try:
        found = same_zeros(sides[0], sides[1])
    except OverBudget:
        found = None
    if found is not None:
        return Finding(found, "algebra", "as polynomials up to a factor")
    if not symbols(sides[0]) or contains(gold, "unit") or contains(answer, "unit"):
        return _in_order(gold[2], answer[2])
    same = same_equation(sides[0], sides[1])
    return Finding(same, "numeric", "up to a constant factor")
