"""Parts of two answers, compared in order or in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from compass.verifier.comparing.exact import rational
from compass.verifier.contents import symbols
from compass.verifier.leniency import mark, rewind
from compass.verifier.tree import Inverse, Negative, Node, Number, Power, Product, Sum
from compass.verifier.verdict import Finding

MAX_PAIRINGS = 200
"""Comparisons of any two parts; longer lists are compared in the order given."""
YES = Finding(True, "structure", "the same parts")

Compare = Callable[[Node, Node], Finding]
"""Compares a part of the gold with one of the answer."""
Parts = tuple[Node, ...]


def no(detail: str) -> Finding:
    """Different, and why."""
    return Finding(False, "structure", detail)


def in_order(gold: Parts, answer: Parts, compare: Compare) -> Finding:
    """Whether two lists of one length hold the same values in the same order."""
    for at, (one, two) in enumerate(zip(gold, answer, strict=True)):
        finding = compare(one, two)
        if not finding.same:
            return finding._replace(detail=f"part {at + 1}: {finding.detail}")
    return YES


def any_order(gold: Parts, answer: Parts, compare: Compare) -> Finding:
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
        return in_order(tuple(rest_gold), tuple(rest_answer), compare)
    for one in rest_gold:
        for at, two in enumerate(rest_answer):
            marked = mark()
            if compare(one, two).same:
                del rest_answer[at]
                break
            rewind(marked)
        else:
            return no("a value that the other side lacks")
    return YES


def _key(node: Node) -> object:
    """What two equal values surely share: the value of a rational constant, else the node itself."""
    if isinstance(node, Number):
        return node.value
    value = rational(node) if isinstance(node, (Negative, Product, Sum, Inverse, Power)) and not symbols(node) else None
    return node if value is None else value
