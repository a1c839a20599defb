"""Families of answers: what a letter that runs over the whole numbers, or stands for any constant, describes.

`x = \\frac{\\pi}{4} + k\\pi, k \\in \\mathbb{Z}` is decided as a union of progressions, whatever its letter, its start, its sign or how it is
split into cases. Other families are equal if one becomes the other when its letters are renamed.
"""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

from compass.verifier.comparing.lines import Line, linear, named_value, progressions, same_line
from compass.verifier.comparing.pairing import YES, Compare, no
from compass.verifier.comparing.progressions import same_union
from compass.verifier.comparing.shapes import label
from compass.verifier.contents import contains, substituted, symbols, walk
from compass.verifier.leniency import Leniency, lean, mark, rewind
from compass.verifier.tree import (
    PI,
    ZERO,
    BigOperator,
    Call,
    Constant,
    Degrees,
    NamedSet,
    Node,
    Power,
    Product,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
)
from compass.verifier.verdict import Finding

WHOLE = {"Z": None, "N": 0, "N0+": 0, "Z0+": 0, "N+": 1, "Z+": 1}
"""Sets of whole numbers, and the first of each."""
_INDICES = frozenset(["k", "n", "m", "l", "j", "p", "q", "r", "t", "N"])
_PARAMETERS = frozenset(
    ["t", "s", "r", "u", "v", "k", "n", "m", "l", "j", "c", "a", "\\lambda", "lambda", "mu", "alpha"]
)
_CONSTANTS = frozenset(["C", "c", "K", "k"])
_MORE_CONSTANTS = _CONSTANTS | frozenset(["A", "B", "D", "a", "b"])
MAX_PARAMETERS = 3
MAX_ITEMS = 24


class Family(NamedTuple):
    """Items, what joins them, the sets that letters were said to run over, and whether a saying was passed over."""

    items: tuple[Node, ...]
    word: str
    domains: dict[str, str]
    dropped: bool


def has_domain(node: Node) -> bool:
    """Whether an answer says what a letter runs over, or is a class of remainders."""
    return contains(node, NamedSet) or _has_class(node)


def _has_class(node: Node) -> bool:
    return contains(node, Call) and any(isinstance(part, Call) and part.function == "residue" for part in walk(node))


def _as_class(node: Node, other: Node) -> Node:
    """The remainder `10 mod 7` as a class of numbers where the other side is one, such as `3 mod 7`."""
    _, value = named_value(node)
    match value:
        case Call("mod", parts) if not symbols(value) and _has_class(other):
            return substituted(node, value, Call("residue", parts))
    return node


def compare_families(gold: Node, answer: Node, compare: Compare) -> Finding | None:
    """Compare two answers of which one may be a family; None where neither is."""
    gold, answer = _as_class(gold, answer), _as_class(answer, gold)
    if contains(gold, NamedSet, BigOperator, Call) or contains(answer, NamedSet, BigOperator, Call):
        one, two = _family(gold), _family(answer)
    else:
        one, two = Family(_items(gold), "", {}, False), Family(_items(answer), "", {}, False)
    if one is None or two is None or not one.items or not two.items or max(len(one.items), len(two.items)) > MAX_ITEMS:
        return None
    if not one.domains and not two.domains:
        if not (one.dropped or two.dropped):
            return _renamed_constants(one, two, compare)
        lean(Leniency.CONDITION)
        return compare(_joined(one), _joined(two))
    both = _with_domains(one, two)
    if both is None:
        return no("a family against something else")
    if bool(one.domains) != bool(two.domains):
        lean(Leniency.CONDITION)
    return _decided(*both, compare)


def _items(node: Node) -> tuple[Node, ...]:
    match node:
        case Sequence("", _, items):
            return tuple(part for item in items for part in _items(item))
        case SetOperation("cup", left, right):
            return _items(left) + _items(right)
        case Sequence("{", _, items):
            return items
    return (node,)


def _family(node: Node) -> Family | None:
    """The family that a node is; None where a set restricts the values themselves, as in `x > 1, x \\in \\mathbb{Z}`."""
    domains: dict[str, str] = {}
    items: list[Node] = []
    for item in _items(node):
        match item:
            case Relation(("in",), (Symbol(name), NamedSet(domain))):
                domains[name] = domain
            case BigOperator("bigcup", variable, NamedSet(domain), _, body) if variable:
                domains[variable] = domain
                items.extend(_items(body))
            case _:
                items.append(_expanded(item, domains, len(items)))
    used = frozenset().union(*(_free(item) for item in items)) if items else frozenset()
    for item in items:
        name, value = named_value(item)
        if isinstance(value, Relation) and isinstance(name, Symbol) and domains.get(name.name, "R") not in ("R", "C"):
            return None
    kept = {name: domain for name, domain in domains.items() if name in used}
    return Family(tuple(items), node.closing if isinstance(node, Sequence) else "", kept, len(kept) < len(domains))


def _expanded(item: Node, domains: dict[str, str], at: int) -> Node:
    """A class of remainders as its progression."""
    for part in walk(item) if contains(item, Call) else ():
        match part:
            case Call("residue", (value, modulus)):
                name = f" k{at}"
                domains[name] = "Z"
                return substituted(item, part, Sum((value, Product((modulus, Symbol(name))))))
    return item


def _free(item: Node) -> frozenset[str]:
    """The letters of an item that neither name it nor are bound by its name."""
    name, value = named_value(item)
    return symbols(value) - frozenset([name] if name is None else symbols(name)) if name is not None else symbols(value)


def _joined(family: Family) -> Node:
    return family.items[0] if len(family.items) == 1 else Sequence("", family.word, family.items)


def _with_domains(one: Family, two: Family) -> tuple[Family, Family] | None:
    """Both families with their letters: a side that says nothing of its letters has those that the other lacks."""
    if one.domains and two.domains:
        return one, two
    said, silent = (one, two) if one.domains else (two, one)
    constants = frozenset().union(*map(_free, said.items)) - set(said.domains)
    letters = frozenset().union(*map(_free, silent.items)) - constants
    whole = set(said.domains.values()) <= set(WHOLE)
    points = all(isinstance(named_value(item)[1], Sequence) for item in silent.items)
    if not letters or (whole and not points and not letters <= _INDICES | _PARAMETERS):
        return None
    domain = next(iter(said.domains.values()))
    silent = silent._replace(domains=dict.fromkeys(letters, domain))
    return (said, silent) if said is one else (silent, said)


def _decided(one: Family, two: Family, compare: Compare) -> Finding:
    named = {
        label(name) for family in (one, two) for item in family.items if (name := named_value(item)[0]) is not None
    }
    domains = set(one.domains.values()) | set(two.domains.values())
    if domains <= set(WHOLE):
        first, second = progressions(one.items, tuple(one.domains)), progressions(two.items, tuple(two.domains))
        if first is not None and second is not None:
            if len(named) > 1:
                return no("families of other names")
            firsts = {WHOLE[domain] for domain in domains}
            if domains == {"N", "N+"} or domains == {"N", "Z+"}:
                firsts = {1}  # some begin the natural numbers with 1
            same = same_union(first, second, firsts.pop()) if len(firsts) == 1 else False
            if same is not None:
                return YES if same else no("other families of numbers")
    lines = _line(one), _line(two)
    if lines[0] is not None and lines[1] is not None:
        return YES if same_line(*lines, whole=domains <= set(WHOLE)) else no("other lines")
    return _renamed(one, two, compare)


def _renamed(one: Family, two: Family, compare: Compare) -> Finding:
    """Whether one family becomes the other when its letters are renamed."""
    letters, others = tuple(one.domains), tuple(two.domains)
    if (
        len(letters) != len(others)
        or len(letters) > MAX_PARAMETERS
        or sorted(one.domains.values()) != sorted(two.domains.values())
    ):
        return no("families of other letters")
    gold = _joined(one)
    for at, letter in enumerate(letters):
        gold = substituted(gold, Symbol(letter), Symbol(f" {at} any"))
    for order in permutations(others):
        marked = mark()
        answer = _joined(two)
        for at, letter in enumerate(order):
            answer = substituted(answer, Symbol(letter), Symbol(f" {at} any"))
        if compare(gold, answer).same:
            lean(Leniency.NAME)
            return YES
        rewind(marked)
    return no("other families")


def _renamed_constants(one: Family, two: Family, compare: Compare) -> Finding | None:
    """Two answers that say nothing of their letters: constants of integration, multiples of a period, parameters of a line."""
    free = tuple(frozenset().union(*(symbols(named_value(item)[1]) for item in side.items)) for side in (one, two))
    first, second = free[0] - free[1], free[1] - free[0]
    if not first or len(first) != len(second) or len(first) > MAX_PARAMETERS:
        return None
    items = (*one.items, *two.items)
    points = all(isinstance(named_value(item)[1], Sequence) for item in items) or (
        min(len(one.items), len(two.items)) > 1 and all(named_value(item)[0] is not None for item in items)
    )
    if first | second <= _INDICES and all(map(_is_periodic, items)):
        domain = "Z"
    elif (points and first | second <= _PARAMETERS | _CONSTANTS) or (
        _may_be_constants(first | second) and free[0] & free[1] | _bound(items) and all(map(_holds_constant, items))
    ):
        domain = "Z" if first | second <= _PARAMETERS and isinstance(named_value(items[0])[1], Sequence) else "R"
    else:
        return None
    one, two = one._replace(domains=dict.fromkeys(first, domain)), two._replace(domains=dict.fromkeys(second, domain))
    return _decided(one, two, compare)


def _is_periodic(item: Node) -> bool:
    return PI in walk(item) or contains(item, Degrees)


def _bound(items: tuple[Node, ...]) -> frozenset[str]:
    return frozenset(name for item in items for name in symbols(named_value(item)[0] or ZERO))


def _may_be_constants(letters: frozenset[str]) -> bool:
    return all(name.partition("_")[0] in (_MORE_CONSTANTS if "_" not in name else "CcKkAB") for name in letters)


def _holds_constant(item: Node) -> bool:
    """Whether an expression has the look of a general solution: a name, a constant that is added, or an exponential."""
    name, value = named_value(item)
    if name is not None or (
        isinstance(value, Sum) and any(isinstance(term, Symbol) and term.name in _CONSTANTS for term in value.terms)
    ):
        letters = {part.partition("_")[0] for part in symbols(value)}
        return bool(letters & (_CONSTANTS | {"A", "B"}))
    return any(isinstance(part, Power) and part.base == Constant("e") for part in walk(value))


def _line(family: Family) -> Line | None:
    """A family of points with one letter: `(3 + 5k, 2 - 3k)`, or `x = 3 + 5k, y = 2 - 3k`."""
    if len(family.domains) != 1:
        return None
    name, value = named_value(family.items[0])
    names: tuple[str, ...] = ()
    if len(family.items) == 1 and isinstance(value, Sequence) and value.opening in ("(", "<"):
        places = value.items
        names = tuple(label(part) for part in name.items) if isinstance(name, Sequence) else ()
    elif (
        len(family.items) > 1 and family.word != "or" and all(named_value(item)[0] is not None for item in family.items)
    ):
        pairs = [named_value(item) for item in family.items]
        names, places = tuple(label(part[0]) for part in pairs), tuple(part[1] for part in pairs)
        if len(set(names)) < len(names):
            return None
    else:
        return None
    letter = next(iter(family.domains))
    parts = [(place, (ZERO,)) if letter not in symbols(place) else linear(place, (letter,)) for place in places]
    if None in parts or any(symbols(part[0]) for part in parts):
        return None
    return Line(tuple(part[0] for part in parts), tuple(part[1][0] for part in parts), names)
