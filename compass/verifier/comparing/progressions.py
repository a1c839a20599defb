"""Unions of arithmetic progressions, `a + b k` over the whole numbers `k`, brought to one period and compared.

Starts and steps are constants such as `\\pi/6` and `2\\pi`. All are measured in the first step; every step must be a rational multiple
of it. Then both unions repeat with a common period, and are equal if they hold the same remainders.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from flint import arb, fmpq

from compass.verifier.comparing.balls import PRECISION, working_precision
from compass.verifier.comparing.numeric import approximate
from compass.verifier.tree import ONE, Node, quotient

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


def same_union(gold: list[Progression], answer: list[Progression], first: int | None) -> bool | None:
    """Whether two unions of progressions hold the same members; None where steps have no common measure.

    Args:
        first: the first value of the parameters; None where they are all whole numbers.

    Raises:
        OverBudget, Unreadable: a part that cannot be evaluated.
    """
    with working_precision(PRECISION):
        unit = gold[0].steps[0]
        one, two = [_placed(item, unit) for item in gold], [_placed(item, unit) for item in answer]
        if None in one or None in two:
            return None
        steps = [step for item in (*one, *two) for step in item.steps]
        if not all(steps):
            return None
        if first is None:
            return _same_remainders(one, two)
        if any(len(item.steps) > 1 for item in (*one, *two)) or len({step > 0 for step in steps}) > 1:
            return None
        return _same_beginnings(one, two, first)


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


def _same_beginnings(gold: list[_Placed], answer: list[_Placed], first: int) -> bool | None:
    """Progressions that begin somewhere: after the last beginning both repeat, so two periods more decide."""
    rising = gold[0].steps[0] > 0
    period = _period([abs(item.steps[0]) for item in (*gold, *answer)])
    begins = [_member(item, first, rising) for item in (*gold, *answer)]
    end = max(float(value) for value in begins) + 2 * float(period)
    one, two = _beginning(gold, first, rising, end), _beginning(answer, first, rising, end)
    if one is None or two is None or len(one) != len(two):
        return None if one is None or two is None else False
    return all(
        item.kind == other.kind and _is_zero(item.width - other.width) and _is_zero(item.start - other.start)
        for item, other in zip(one, two, strict=True)
    )


def _member(item: _Placed, index: int, rising: bool) -> arb:
    step = item.steps[0] * index
    value = item.start + fmpq(step.numerator, step.denominator)
    return value if rising else -value


def _beginning(items: list[_Placed], first: int, rising: bool, end: float) -> list[_Placed] | None:
    members: list[_Placed] = []
    for item in items:
        index = first
        while float(value := _member(item, index, rising)) < end + 1e-9:
            members.append(item._replace(start=value))
            index += 1
            if len(members) > MAX_REMAINDERS:
                return None
    members.sort(key=lambda item: (float(item.start), item.kind))
    return [
        item for at, item in enumerate(members)
        if not at or item.kind != members[at - 1].kind or not _is_zero(item.start - members[at - 1].start)
    ]  # fmt: skip
