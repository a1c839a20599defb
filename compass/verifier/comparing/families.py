"""Families of answers: what a letter that runs over the whole numbers, or stands for any constant, describes.

`x = \\frac{\\pi}{4} + k\\pi, k \\in \\mathbb{Z}` is decided as a union of progressions, whatever its letter, its start, its sign or how it is
split into cases. Starts and steps are constants; all are measured in the first step, and every step must be a rational multiple of it:
then both unions repeat with a common period, and are equal if they hold the same remainders. Points on a line, `(1,2) + t(3,4)`, are
compared as lines. Other families, and those that begin somewhere, are equal if one becomes the other when its letters are renamed.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import gcd, lcm
from typing import NamedTuple

from flint import arb, fmpq

from compass.verifier.comparing import scalar
from compass.verifier.comparing.evaluator import PRECISION, working_precision
from compass.verifier.comparing.lists import SAME_PARTS, Compare, differ
from compass.verifier.comparing.numeric import approximate
from compass.verifier.comparing.shapes import bound_names, expand_sign, label, split_name
from compass.verifier.tree import (
    ONE,
    PI,
    ZERO,
    BigOperator,
    Call,
    Constant,
    Degrees,
    NamedSet,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    Unreadable,
    contains,
    difference,
    number,
    quotient,
    substitute,
    symbols,
    walk,
)
from compass.verifier.verdict import Finding, Leniency, lean, mark, rewind

MAX_REMAINDERS = 400
"""Members of one union in a period."""
_DENOMINATOR = 5_040
_TOLERANCE = 2.0**-70


class Progression(NamedTuple):
    """`start + step * k` for each of the steps: of points, or of the lower ends of intervals of one width.

    `kind` is `=` for points, `!=` for points that are left out, the two brackets for intervals.
    """

    kind: str
    start: Node
    steps: tuple[Node, ...]
    width: Node | None = None


class _Placed(NamedTuple):
    """A progression in multiples of the unit."""

    kind: str
    start: arb
    steps: tuple[Fraction, ...]
    width: arb


def same_union(gold: list[Progression], answer: list[Progression]) -> bool | None:
    """Whether two unions of progressions over all whole numbers hold the same members; None where steps have no common measure.

    Raises:
        OverBudget, Unreadable: a part that cannot be evaluated.
    """
    with working_precision(PRECISION):
        unit = gold[0].steps[0]
        one, two = [_placed(item, unit) for item in gold], [_placed(item, unit) for item in answer]
        if None in one or None in two:
            return None
        steps = [step for item in (*one, *two) for step in item.steps]
        return _same_remainders(one, two) if all(steps) else None


def _placed(item: Progression, unit: Node) -> _Placed | None:
    start, width = _in_units(item.start, unit), None if item.width is None else _in_units(item.width, unit)
    ratios = [_rational(_in_units(step, unit)) for step in item.steps]
    if start is None or (item.width is not None and width is None) or None in ratios:
        return None
    return _Placed(item.kind, start, tuple(ratios), arb(0) if width is None else width)


def _in_units(node: Node, unit: Node) -> arb | None:
    return approximate(node if unit == ONE else quotient(node, unit))


def _rational(value: arb | None) -> Fraction | None:
    """The fraction of a small denominator that a value is, to far more digits than chance explains."""
    if value is None or not abs(value) < 10**6:
        return None
    near = Fraction(float(value)).limit_denominator(_DENOMINATOR)
    return near if _is_zero(value - fmpq(near.numerator, near.denominator)) else None


def _is_zero(value: arb) -> bool:
    return bool(abs(value) < _TOLERANCE)


def _period(steps: list[Fraction]) -> Fraction:
    """The least common multiple of positive fractions."""
    bottom = lcm(*(step.denominator for step in steps))
    return Fraction(lcm(*(int(step * bottom) for step in steps)), bottom)


def _common_step(steps: tuple[Fraction, ...]) -> Fraction:
    bottom = lcm(*(step.denominator for step in steps))
    return Fraction(gcd(*(int(step * bottom) for step in steps)), bottom)


def _same_remainders(gold: list[_Placed], answer: list[_Placed]) -> bool | None:
    period = _period([_common_step(item.steps) for item in (*gold, *answer)])
    one, two = _remainders(gold, period), _remainders(answer, period)
    if one is None or two is None:
        return None
    whole = fmpq(period.numerator, period.denominator)

    def found(item: _Placed, among: list[_Placed]) -> bool:
        return any(
            item.kind == other.kind
            and _is_zero(item.width - other.width)
            and _is_whole((item.start - other.start) / whole)
            for other in among
        )

    return all(found(item, two) for item in one) and all(found(item, one) for item in two)


def _is_whole(value: arb) -> bool:
    return _is_zero(value - round(float(value)))


def _remainders(items: list[_Placed], period: Fraction) -> list[_Placed] | None:
    members = []
    for item in items:
        step = _common_step(item.steps)
        for at in range(int(period / step)):
            shift = step * at
            members.append(item._replace(start=item.start + fmpq(shift.numerator, shift.denominator)))
            if len(members) > MAX_REMAINDERS:
                return None
    return members


_TURNED = {">": "<", ">=": "<="}


class Line(NamedTuple):
    """Points `start + step * t`, coordinate by coordinate, and the names of the coordinates."""

    start: tuple[Node, ...]
    step: tuple[Node, ...]
    names: tuple[str, ...]


def split_linear(node: Node, letters: tuple[str, ...]) -> tuple[Node, tuple[Node, ...]] | None:
    """`a + b k + ...` as `a` and the steps of those letters that occur; None for any other expression."""
    if contains(node, Sequence, Relation, SetOperation, NamedSet):
        return None
    used = [name for name in letters if name in symbols(node)]
    if not used or symbols(node) - set(used):
        return None

    def at(values: dict[str, Node]) -> Node:
        inside = node
        for name in used:
            inside = substitute(inside, Symbol(name), values.get(name, ZERO))
        return inside

    try:
        start = at({})
        steps = tuple(difference(at({name: ONE}), start) for name in used)
        straight = Sum((start, *(Product((step, Symbol(name))) for step, name in zip(steps, used, strict=True))))
        same = scalar.compare_values(node, straight).same
    except Unreadable:
        return None
    return (start, steps) if same else None


def same_line(one: Line, two: Line, *, whole: bool) -> bool:
    """Whether two lines hold the same points; `whole` where their letters are whole numbers and any numbers otherwise."""
    if len(one.start) != len(two.start):
        return False
    if one.names and two.names:
        if set(one.names) != set(two.names):
            return False
        order = [two.names.index(name) for name in one.names]
        two = Line(tuple(two.start[at] for at in order), tuple(two.step[at] for at in order), one.names)
    pivot = next((at for at, step in enumerate(one.step) if not scalar.compare_values(step, ZERO).same), None)
    if pivot is None:
        return False
    unit = Power(one.step[pivot], number(-1))
    ratio, shift = Product((two.step[pivot], unit)), Product((difference(two.start[pivot], one.start[pivot]), unit))
    if scalar.compare_values(ratio, ZERO).same:
        return False
    if whole:
        moved = approximate(shift)
        if (
            moved is None
            or moved.unique_fmpz() is None
            or not any(scalar.compare_values(ratio, number(sign)).same for sign in (1, -1))
        ):
            return False
    return all(
        scalar.compare_values(two.step[at], Product((ratio, one.step[at]))).same
        and scalar.compare_values(difference(two.start[at], one.start[at]), Product((shift, one.step[at]))).same
        for at in range(len(one.start))
    )


def named_value(item: Node) -> tuple[Node | None, Node]:
    """The variable that an item is about, and what it says of it."""
    match item:
        case Relation(("!=",), (Symbol() as name, _)):
            return name, item
        case Relation((_, _), (_, Symbol() as name, _)):
            return name, item
    return split_name(item)


def find_progressions(items: tuple[Node, ...], letters: tuple[str, ...]) -> list[Progression] | None:
    """The items as progressions; None where one is none."""
    found: list[Progression] = []
    for item in items:
        for part in expand_sign(item):
            for single in _by_parity(part, letters):
                progression = _progression(single, letters)
                if progression is None:
                    return None
                found.append(progression)
    return found


def _by_parity(item: Node, letters: tuple[str, ...]) -> list[Node]:
    """`(-1)^k` splits an item into the even and the odd `k`."""
    for part in walk(item):
        match part:
            case Power(Negative(Number()) | Number(), exponent) if inside := [
                name for name in letters if name in symbols(exponent)
            ]:
                if len(inside) > 1 or scalar.compare_values(part.base, number(-1)).same is not True:
                    return [item]
                double = Product((number(2), Symbol(inside[0])))
                return [substitute(item, Symbol(inside[0]), each) for each in (double, Sum((double, ONE)))]
    return [item]


def _progression(item: Node, letters: tuple[str, ...]) -> Progression | None:
    kind, low, high = "=", item, None
    match item:
        case Relation(("=",), _):
            low = named_value(item)[1]
        case Relation(("!=",), (_, low)):
            kind = "!="
        case Relation(operators, (low, _, high)):
            if operators[0] in _TURNED:
                low, high, operators = high, low, tuple(_TURNED.get(sign, "") for sign in reversed(operators))
            kind = {"<": "(", "<=": "["}.get(operators[0], "") + {"<": ")", "<=": "]"}.get(operators[-1], "")
            if len(kind) != 2:
                return None
        case Relation(("in",), (_, Sequence(opening, closing, (low, high)))) | Sequence(
            opening, closing, (low, high)
        ) if opening in ("(", "["):
            kind = opening + closing
    start = split_linear(low, letters)
    if start is None:
        return None
    if high is None:
        return Progression(kind, *start)
    end = split_linear(high, letters)
    if end is None or not all(scalar.compare_values(one, two).same for one, two in zip(start[1], end[1], strict=True)):
        return None
    return Progression(kind, *start, difference(end[0], start[0]))


WHOLE = {"Z": None, "N": 0, "N0+": 0, "Z0+": 0, "N+": 1, "Z+": 1}
"""Sets of whole numbers, and the first of each."""
_COUNTING = frozenset(["k", "n", "m", "l", "j", "N"])
_INDICES = _COUNTING | frozenset(["p", "q", "r", "t"])
_PARAMETERS = frozenset(
    ["t", "s", "r", "u", "v", "k", "n", "m", "l", "j", "c", "a", "\\lambda", "lambda", "mu", "alpha"]
)
_CONSTANTS = frozenset(["C", "c", "K", "k"])
_MORE_CONSTANTS = _CONSTANTS | frozenset(["A", "B", "D", "a", "b"])
MAX_PARAMETERS = 3
MAX_ITEMS = 24


class Family(NamedTuple):
    """Items, what joins them, the sets that letters run over as the answer says, and whether such a clause was passed over."""

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
            return substitute(node, value, Call("residue", parts))
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
    both = _share_domains(one, two)
    if both is None:
        return differ("a family against something else")
    explicit, silent = (one, two) if one.domains else (two, one)
    if not silent.domains and not all(map(_shows_parameter, silent.items)):
        # `n + 1` without a word about n is an expression in a letter of the question: no family that any other one equals.
        if not _letters(silent) <= set(explicit.domains):
            return differ("an expression against a family")
        lean(Leniency.CONDITION)
        return compare(_joined(one), _joined(two))
    if bool(one.domains) != bool(two.domains):
        lean(Leniency.CONDITION)
    return _decide(*both, compare)


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
                return substitute(item, part, Sum((value, Product((modulus, Symbol(name))))))
    return item


def _free(item: Node) -> frozenset[str]:
    """The letters of an item that neither name it nor are bound by its name."""
    name, value = named_value(item)
    return symbols(value) - frozenset([name] if name is None else symbols(name)) if name is not None else symbols(value)


def _joined(family: Family) -> Node:
    return family.items[0] if len(family.items) == 1 else Sequence("", family.word, family.items)


def _share_domains(one: Family, two: Family) -> tuple[Family, Family] | None:
    """Both families with their letters: a side that says nothing of its letters has those that the other lacks."""
    if one.domains and two.domains:
        return one, two
    explicit, silent = (one, two) if one.domains else (two, one)
    constants = frozenset().union(*map(_free, explicit.items)) - set(explicit.domains)
    letters = _letters(silent) - constants
    whole = set(explicit.domains.values()) <= set(WHOLE)
    points = all(isinstance(named_value(item)[1], Sequence) for item in silent.items)
    if not letters or (whole and not points and not letters <= _INDICES | _PARAMETERS):
        return None
    domain = next(iter(explicit.domains.values()))
    silent = silent._replace(domains=dict.fromkeys(letters, domain))
    return (explicit, silent) if explicit is one else (silent, explicit)


def _decide(one: Family, two: Family, compare: Compare) -> Finding:
    named = {
        label(name) for family in (one, two) for item in family.items if (name := named_value(item)[0]) is not None
    }
    domains = set(one.domains.values()) | set(two.domains.values())
    if domains <= set(WHOLE):
        first, second = (
            find_progressions(one.items, tuple(one.domains)),
            find_progressions(two.items, tuple(two.domains)),
        )
        if first is not None and second is not None:
            if len(named) > 1:
                return differ("families of other names")
            if domains in ({"N", "N+"}, {"N", "Z+"}):  # some begin the natural numbers with 1
                one, two = (side._replace(domains=dict.fromkeys(side.domains, "N+")) for side in (one, two))
            elif len({WHOLE[domain] for domain in domains}) > 1:
                return differ("families that begin elsewhere")
            same = same_union(first, second) if domains == {"Z"} else None
            if same is not None:
                return SAME_PARTS if same else differ("other families of numbers")
    lines = _line(one), _line(two)
    if lines[0] is not None and lines[1] is not None:
        return SAME_PARTS if same_line(*lines, whole=domains <= set(WHOLE)) else differ("other lines")
    return _renamed(one, two, compare)


def _name_domain(domain: str) -> str:
    """One name for the sets of whole numbers that begin alike."""
    return str(WHOLE.get(domain, domain))


def _renamed(one: Family, two: Family, compare: Compare) -> Finding:
    """Whether one family becomes the other when its letters are renamed."""
    letters, others = tuple(one.domains), tuple(two.domains)
    if (
        len(letters) != len(others)
        or len(letters) > MAX_PARAMETERS
        or sorted(map(_name_domain, one.domains.values())) != sorted(map(_name_domain, two.domains.values()))
    ):
        return differ("families of other letters")
    gold = _joined(one)
    for at, letter in enumerate(letters):
        gold = substitute(gold, Symbol(letter), Symbol(f" {at} any"))
    for order in permutations(others):
        marked = mark()
        answer = _joined(two)
        for at, letter in enumerate(order):
            answer = substitute(answer, Symbol(letter), Symbol(f" {at} any"))
        if compare(gold, answer).same:
            lean(Leniency.NAME)
            return SAME_PARTS
        rewind(marked)
    return differ("other families")


def _renamed_constants(one: Family, two: Family, compare: Compare) -> Finding | None:
    """Two answers that say nothing of their letters: constants of integration, multiples of a period, parameters of a line."""
    variables = _find_variables(one) & _find_variables(two)
    free = tuple(
        frozenset().union(*(symbols(named_value(item)[1]) for item in side.items)) - variables for side in (one, two)
    )
    first, second = free[0] - free[1], free[1] - free[0]
    if not first or len(first) != len(second) or len(first) > MAX_PARAMETERS:
        return None
    items = (*one.items, *two.items)
    points = all(isinstance(named_value(item)[1], Sequence) for item in items) or (
        min(len(one.items), len(two.items)) > 1 and all(named_value(item)[0] is not None for item in items)
    )
    renamed = first | second
    if renamed <= _COUNTING and all(_has_period(item, renamed) for item in items):
        domain = "Z"
    elif (points and renamed <= _PARAMETERS | _CONSTANTS) or (
        _may_be_constants(renamed) and all(_holds_constant(item, renamed) for item in items)
    ):
        domain = "Z" if renamed <= _PARAMETERS and isinstance(named_value(items[0])[1], Sequence) else "R"
    else:
        return None
    one, two = one._replace(domains=dict.fromkeys(first, domain)), two._replace(domains=dict.fromkeys(second, domain))
    return _decide(one, two, compare)


def _find_variables(family: Family) -> frozenset[str]:
    """The variables of the functions that an answer defines: `n` of `f(n) = n, g(n) = 1`."""
    names = (named_value(item)[0] for item in family.items)
    return frozenset(variable for name in names if name is not None for variable in bound_names(name))


def _shows_parameter(item: Node) -> bool:
    """Whether an item without a word about its letters has the look of a family: a named value, a point, or periodic."""
    name, value = named_value(item)
    return name is not None or isinstance(value, Sequence) or _is_periodic(item)


def _letters(family: Family) -> frozenset[str]:
    return frozenset().union(*map(_free, family.items))


def _is_periodic(item: Node) -> bool:
    return PI in walk(item) or contains(item, Degrees)


def _has_period(item: Node, letters: frozenset[str]) -> bool:
    """Whether a value goes on by multiples of π or of degrees: `\\frac{\\pi}{4} + k\\pi`, and neither `\\pi r^2` nor `\\sin k\\pi`."""
    value = named_value(item)[1]
    if not _is_periodic(value):
        return False
    parts = [part for single in expand_sign(value) for part in _by_parity(single, tuple(letters))]
    return all(split_linear(part, tuple(letters)) is not None for part in parts)


def _may_be_constants(letters: frozenset[str]) -> bool:
    return all(name.partition("_")[0] in (_MORE_CONSTANTS if "_" not in name else "CcKkAB") for name in letters)


def _holds_constant(item: Node, renamed: frozenset[str]) -> bool:
    """Whether an expression in other letters has the look of a general solution: a name, a constant that is added, or an exponential.

    Small letters in an exponent or under a function are rates of the question, `e^{-kt}`, and so are all in an equation for a derivative.
    """
    name, value = named_value(item)
    rates = {letter for part in walk(value) for letter in _inner_letters(part) if letter[:1].islower()}
    if not symbols(value) - renamed or rates & renamed or isinstance(name, Product):
        return False
    if name is not None or (
        isinstance(value, Sum) and any(isinstance(term, Symbol) and term.name in _CONSTANTS for term in value.terms)
    ):
        letters = {part.partition("_")[0] for part in symbols(value) & renamed}
        return bool(letters & (_CONSTANTS | {"A", "B"}))
    return not renamed & {"a", "b", "k"} and any(
        isinstance(part, Power) and part.base == Constant("e") for part in walk(value)
    )


def _inner_letters(node: Node) -> frozenset[str]:
    """The letters in an exponent or under a function."""
    match node:
        case Power(_, exponent):
            return symbols(exponent)
        case Call():
            return symbols(node)
    return frozenset()


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
    parts = [(place, (ZERO,)) if letter not in symbols(place) else split_linear(place, (letter,)) for place in places]
    if None in parts or any(symbols(part[0]) for part in parts):
        return None
    return Line(tuple(part[0] for part in parts), tuple(part[1][0] for part in parts), names)
