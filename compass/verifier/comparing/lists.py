"""Lists, tuples and sets: their items compared in order, or paired in any order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from compass.verifier.comparing.exact import rational
from compass.verifier.comparing.shapes import Shape, bound_names, place_variables, split_name
from compass.verifier.tree import Inverse, Negative, Node, Number, Power, Product, Sequence, Sum, infinite_sign, symbols
from compass.verifier.verdict import Finding, Leniency, lean, mark, rewind

MAX_PAIRINGS = 200
"""Comparisons of any two parts; longer lists are compared in the order given."""
SAME_PARTS = Finding(True, "structure", "the same parts")

Compare = Callable[[Node, Node], Finding]
"""Compares a part of the gold with one of the answer."""
Parts = tuple[Node, ...]


def differ(detail: str) -> Finding:
    """Different, and why."""
    return Finding(False, "structure", detail)


def compare_in_order(gold: Parts, answer: Parts, compare: Compare) -> Finding:
    """Whether two lists of one length hold the same values in the same order."""
    for at, (one, two) in enumerate(zip(gold, answer, strict=True)):
        finding = compare(one, two)
        if not finding.same:
            return finding._replace(detail=f"part {at + 1}: {finding.detail}")
    return SAME_PARTS


def compare_in_any_order(gold: Parts, answer: Parts, compare: Compare) -> Finding:
    """Whether two lists of one length hold the same values, each as often."""
    unmatched = Counter(map(_key, gold))
    rest_answer = []
    for item in answer:
        key = _key(item)
        if unmatched[key] > 0:
            unmatched[key] -= 1
        else:
            rest_answer.append(item)
    rest_gold = []
    for item in gold:
        key = _key(item)
        if unmatched[key] > 0:
            unmatched[key] -= 1
            rest_gold.append(item)
    if len(rest_gold) ** 2 > MAX_PAIRINGS:
        return compare_in_order(tuple(rest_gold), tuple(rest_answer), compare)
    for one in rest_gold:
        for at, two in enumerate(rest_answer):
            marked = mark()
            if compare(one, two).same:
                del rest_answer[at]
                break
            rewind(marked)
        else:
            return differ("a value that the other side lacks")
    return SAME_PARTS


def _key(node: Node) -> object:
    """What two equal values surely share: the value of a rational constant, else the node itself."""
    if isinstance(node, Number):
        return node.value
    value = rational(node) if isinstance(node, (Negative, Product, Sum, Inverse, Power)) and not symbols(node) else None
    return node if value is None else value


QUANTIFIERS = frozenset(["forall", "exists"])


def compare_lists(gold: Shape, answer: Shape, compare: Compare) -> Finding:
    """Compare two answers of which each is a list, a set, a tuple or (one of them) a single value."""
    kinds = {gold.kind, answer.kind}
    single = _single_tuple(gold), _single_tuple(answer)
    if any(single) and "tuple" in kinds:
        lean(Leniency.CONTAINER)
        return compare(single[0] or gold.node, single[1] or answer.node)
    if "scalar" in kinds:
        return _one_of(gold, answer, compare)
    first, second = gold.items, answer.items
    if len(first) != len(second):
        return differ(f"{len(first)} values against {len(second)}")
    if kinds == {"tuple"} and _naming(gold.names) == _naming(answer.names) == "several":
        return _by_name(gold, answer, compare)
    if kinds == {"tuple"}:
        return compare_in_order(first, second, compare) if _same_brackets(gold, answer) else differ("other brackets")
    if "tuple" in kinds:
        if "set" in kinds:
            return differ("a set against an ordered tuple")
        if not _in_a_row(*((gold, answer) if gold.kind == "tuple" else (answer, gold))):
            return differ("an interval, or values in no order, against a tuple")
        lean(Leniency.CONTAINER)
        if _naming(gold.names) == _naming(answer.names) == "several":
            return _by_name(gold, answer, compare)
        return compare_in_order(_in_usual_order(gold), _in_usual_order(answer), compare)
    if kinds == {"set"} and _sets_within(gold) != _sets_within(answer):
        return differ("sets of numbers against sets of sets")
    words = {side.node.closing for side in (gold, answer) if isinstance(side.node, Sequence)}
    if words == {"and", "or"} and all(map(symbols, (*first, *second))):
        return differ("statements that are joined otherwise")
    named = _naming(gold.names), _naming(answer.names)
    if "" not in named and _variables(gold) != _variables(answer):
        lean(Leniency.NAME)
        gold, answer = gold._replace(items=_by_place(gold)), answer._replace(items=_by_place(answer))
        first, second = gold.items, answer.items
    if "several" in named:
        if named == ("several", "several"):
            return _by_name(gold, answer, compare)
        if "" not in named or "set" in kinds:
            return differ("other names")
        lean(Leniency.NAME)
        if _are_numbered(gold.names if named[0] else answer.names):
            return compare_in_any_order(first, second, compare)
        return compare_in_order(_in_usual_order(gold), _in_usual_order(answer), compare)
    if named == ("one", "one") and set(gold.names) - {""} != set(answer.names) - {""}:
        return differ("other names")
    if gold.kind != answer.kind:
        lean(Leniency.CONTAINER)
    if named[0] != named[1]:
        lean(Leniency.NAME)
    return compare_in_any_order(first, second, compare)


def _sets_within(side: Shape) -> int:
    """How many members of a set are sets themselves."""
    return sum(isinstance(item, Sequence) and item.opening == "{" for item in side.items)


def _single_tuple(side: Shape) -> Node | None:
    """The tuple that is the only member of a set: `{(1, 2)}`."""
    match side.node:
        case Sequence("{", _, (Sequence("(" | "<") as item,)):
            return item
    return None


_EXTREME = re.compile(
    r"Words\(text='(?:maximum|minimum|max|min|largest|smallest|greatest|least)(?: value)?'\)", re.IGNORECASE
)


def _variables(side: Shape) -> list[tuple[str, ...]]:
    """The variables of each function that a list defines."""
    items = side.node.items if isinstance(side.node, Sequence) else ()
    return [() if (name := split_name(item)[0]) is None else bound_names(name) for item in items]


def _by_place(side: Shape) -> Parts:
    """The values of a list of functions with their variables replaced by their places; as they are where `±` gives more values than items."""
    if not isinstance(side.node, Sequence) or len(side.node.items) != len(side.items):
        return side.items
    pairs = (split_name(item) for item in side.node.items)
    return tuple(value if name is None else place_variables(name, value) for name, value in pairs)


def _naming(names: tuple[str, ...]) -> str:
    """`""` no item has a name, `one` they share it (`x = 1, 2`), `several` each has its own (`x = 1, y = 2`)."""
    different = set(names) - {""}
    if len(different) == 2 and all(_EXTREME.fullmatch(name) for name in different):
        return ""  # the values say which is the largest
    return "" if not different else "one" if len(different) == 1 else "several"


_ROOT = re.compile(r"\b(?:x|z|r|lambda)_\d+\b")


def _are_numbered(names: tuple[str, ...]) -> bool:
    """Whether names are those of the roots of one equation, `x_1` and `x_2`, which say no more than the values; terms such as `a_1` have an
    order."""
    return all(_ROOT.search(name) for name in names) and len({re.sub(r"_\d+", "", name) for name in names}) == 1


_LETTER = re.compile(r"Symbol\(name='([A-Za-z])(?:_(\d{1,6}))?'\)")


def _in_usual_order(side: Shape) -> Parts:
    """The values of a bare list in the order of their names, where these are neighbours in the alphabet or one letter with numbers: of `y = 2, x = 1`,
    of `a_2 = 2, a_1 = 1`. Other names, `p = 3, k = 2`, have no usual order, and the values stay as they are written."""
    letters = [_LETTER.fullmatch(name) for name in side.names]
    if side.kind != "list" or not letters or None in letters:
        return side.items
    if len({letter[1] for letter in letters}) == 1:
        places = [int(letter[2] or 0) for letter in letters]
    else:
        places = [ord(letter[1]) for letter in letters]
        if any(letter[2] for letter in letters) or max(places) - min(places) >= len(places):
            return side.items
    return tuple(item for _, item in sorted(zip(places, side.items, strict=True), key=lambda pair: pair[0]))


def _one_of(gold: Shape, answer: Shape, compare: Compare) -> Finding:
    """One value against several: equal only where the several is a single one with brackets, or each is another way to write it."""
    many, one = (gold, answer) if answer.kind == "scalar" else (answer, gold)
    if isinstance(many.node, Sequence) and many.node.closing == "or" and not symbols(many.node):
        pairs = [(item, one.node) if many is gold else (one.node, item) for item in many.items]
        if all(compare(*pair).same for pair in pairs):
            return SAME_PARTS
    if len(many.items) == 1 and many.kind in ("set", "list"):
        (item,) = many.items
        return compare(item, answer.node) if many is gold else compare(gold.node, item)
    return differ(f"{len(many.items)} values against one")


def _in_a_row(ordered: Shape, values: Shape) -> bool:
    """Whether a bare list can be a tuple without its brackets: `1, 2` or `x = 1, y = 2`, not `x = 1 or x = 2`; and the tuple no interval."""
    brackets = ordered.node.opening + ordered.node.closing
    if len(ordered.items) == 2 and (brackets not in ("()", "<>") or any(map(infinite_sign, ordered.items))):
        return False
    naming = _naming(values.names)
    if isinstance(values.node, Sequence) and values.node.closing:
        return values.node.closing == "and" and naming == "several"
    return naming != "one"


def _same_brackets(gold: Shape, answer: Shape) -> bool:
    """Whether two tuples have the same brackets; only those of two ends, which make an interval, count."""
    if any(side.node.opening in QUANTIFIERS for side in (gold, answer)):
        return gold.node.opening == answer.node.opening
    match gold.node, answer.node:
        case Sequence(opening, closing, (_, _)), Sequence(other_opening, other_closing, _):
            pair, other = opening + closing, other_opening + other_closing
            return pair == other or {pair, other} == {"()", "<>"}
    return True


def _by_name(gold: Shape, answer: Shape, compare: Compare) -> Finding:
    if Counter(gold.names) != Counter(answer.names):
        return differ("other names")
    for name in dict.fromkeys(gold.names):
        first, second = (
            tuple(item for item, other in zip(side.items, side.names, strict=True) if other == name)
            for side in (gold, answer)
        )
        finding = compare_in_any_order(first, second, compare)
        if not finding.same:
            return finding
    return SAME_PARTS
