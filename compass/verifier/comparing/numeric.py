"""Whether two expressions are equal, by their values at several points.

Two expressions that differ at one point are different, provably: the balls don't overlap. Two that agree at every
point tried are taken as equal, once more at a precision above the size of anything in them, so that
`1 + 10^{-500}` is not 1. Points are fixed by the variables' names: a verdict never changes from run to run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zlib import crc32

from flint import acb, arb, ctx, fmpq

from compass.verifier.comparing.evaluator import PRECISION, Evaluator, Undefined, working_precision
from compass.verifier.tree import (
    IMAGINARY,
    WITHOUT_VALUE,
    BigOperator,
    Call,
    Negative,
    Node,
    Number,
    OverBudget,
    Power,
    contains,
    symbols,
    walk,
)

MAX_NODES = 1_500
POINTS, WANTED, ENOUGH = 7, 4, 2
WHOLE_POINTS = 8
STEP_POINTS = 24
STEPS = frozenset(["floor", "ceil", "mod", "max", "min", "sgn", "gcd", "lcm"])
"""Functions that are constant on stretches: more points, spread wide."""
_COUNTING = frozenset("klmn")
"""Letters that count in `\\lfloor n/2 \\rfloor`."""
ONE_SIDED = STEPS | {"abs", "re", "im", "arg"}


def choose_point(
    names: frozenset[str], index: int, *, whole: bool, complex_field: bool, wide: bool = False
) -> dict[str, Any]:
    """The point number `index` for these variables: fixed by their names, so that a verdict never changes."""
    kind = acb if complex_field else arb
    point: dict[str, Any] = {}
    for name in names:
        seed = crc32(f"{name}#{index}".encode())
        if whole:
            point[name] = kind((seed % 10 ** (1 + index // 5) if wide else seed % 5) + 2 + index)
            continue
        value = fmpq(seed % 100_003 + 20_011, 61_001)  # 0.33 to 1.97
        if index == 1 or (index == 4 and seed & 4096):
            value = -value
        elif index == 2:
            value = value * 9 + 3
        elif index == 3:
            value = value / 3 if seed & 8192 else -value / 5
        elif index == 5:
            value = value / 7
        elif index >= 6:
            value = value * 60 * (index - 5) * (-1 if seed & 512 else 1)
        point[name] = kind(value) if not complex_field else acb(arb(value), arb(fmpq(seed % 997, 1201)))
    return point


def needs_whole_numbers(node: Node) -> bool:
    """Whether variables stand for whole numbers: bounds of a sum, `(-1)^n`, letters that count inside of a floor."""
    return any(_takes_whole_numbers(item) for item in walk(node))


def _takes_whole_numbers(node: Node) -> bool:
    match node:
        case BigOperator("sum" | "prod", _, low, high):
            return bool(symbols(low) or symbols(high))
        case Power(base, exponent) if symbols(exponent) and not symbols(base):
            return isinstance(base, Negative) or (isinstance(base, Number) and base.value < 0)
        case Call("factorial2" | "perm"):
            return True
        case Call("floor" | "ceil"):
            return not _COUNTING.isdisjoint(symbols(node))
    return False


def identical(left: Node, right: Node) -> bool | None:
    """Whether two scalar expressions are equal wherever both are defined; None where that stays open.

    Raises:
        OverBudget: magnitudes beyond the budget.
        Unreadable: a part without a numeric value.
    """
    nodes = walk(left) + walk(right)
    if len(nodes) > MAX_NODES:
        raise OverBudget("too many parts")
    names = symbols(left) | symbols(right)
    calls = {item.function for item in nodes if isinstance(item, Call)}
    imaginary = "cis" in calls or IMAGINARY in nodes
    if names and symbols(left) != symbols(right) and calls & ONE_SIDED:
        return None  # `max(x, 10^9)` is 10^9 wherever one looks
    with working_precision(PRECISION):
        if not names:
            return _same_constant(left, right, imaginary)
        whole = needs_whole_numbers(left) or needs_whole_numbers(right)
        steps = bool(calls & STEPS)
        agreement = None if imaginary else _same_at_points(left, right, names, whole, steps, False)
        return _same_at_points(left, right, names, whole, steps, True) if agreement is None else agreement


def _same_at_points(
    left: Node, right: Node, names: frozenset[str], whole: bool, steps: bool, complex_field: bool
) -> bool | None:
    agreed = 0
    confirmed: int | None = None
    wanted = STEP_POINTS if steps else WHOLE_POINTS if whole else WANTED

    def place(index: int) -> dict[str, Any]:
        whole_here = whole or (steps and index % 2 == 0)
        return choose_point(names, index, whole=whole_here, wide=steps, complex_field=complex_field)

    for index in range(max(wanted, POINTS)):
        ctx.prec = PRECISION
        point = place(index)
        for _ in range(2):
            try:
                one, two = Evaluator(point, complex_field=complex_field), Evaluator(point, complex_field=complex_field)
                first, second = one.value(left), two.value(right)
            except Undefined:
                break
            if not (first.is_finite() and second.is_finite()):
                break
            if not first.overlaps(second):
                return False
            if _sharp(first, second):
                agreed += 1
                confirmed = index if confirmed is None else confirmed
                break
            ctx.prec *= 4
            point = place(index)
        if agreed >= wanted:
            break
    if agreed < ENOUGH or confirmed is None:
        return None
    first_agreed = confirmed
    return _confirm(left, right, lambda: place(first_agreed), complex_field)


def _confirm(left: Node, right: Node, place: Callable[[], dict[str, Any]], complex_field: bool) -> bool | None:
    """Compare once more, at a precision above every magnitude that occurs."""
    span = 0
    for _ in range(2):
        point = place()
        one, two = Evaluator(point, complex_field=complex_field), Evaluator(point, complex_field=complex_field)
        first, second = one.value(left), two.value(right)
        if not first.overlaps(second):
            return False
        span = max(span, one.span + two.span)
        ctx.prec = 512 + 3 * span
    difference = abs(first - second).abs_upper()
    return True if bool(difference < arb(2) ** -(256 + span)) else None


def _sharp(first: Any, second: Any) -> bool:
    """Whether two overlapping balls are narrow enough for their agreement to mean something."""
    difference = abs(first - second).abs_upper()
    scale = abs(first).abs_upper().max(arb(fmpq(1, 2**40)))
    return bool(difference < scale * arb(fmpq(1, 2**50)))


def _same_constant(left: Node, right: Node, imaginary: bool) -> bool | None:
    for complex_field in (True,) if imaginary else (False, True):
        try:
            first = Evaluator({}, complex_field=complex_field).value(left)
            second = Evaluator({}, complex_field=complex_field).value(right)
            if not (first.is_finite() and second.is_finite()):
                return None
            return _confirm(left, right, dict, complex_field) if first.overlaps(second) else False
        except Undefined:
            continue
    return None


def approximate(node: Node, precision: int = PRECISION) -> arb | None:
    """The real value of a constant expression, or None."""
    if symbols(node) or contains(node, *WITHOUT_VALUE):
        return None
    with working_precision(precision):
        try:
            value = Evaluator({}).value(node)
        except Undefined:
            return None
        return value if value.is_finite() else None


def same_equation(left: Node, right: Node) -> bool | None:
    """Whether two expressions have a constant, non-zero ratio wherever both are defined: equations `= 0` alike up to a factor."""
    names = symbols(left) | symbols(right)
    ratios: list[Any] = []
    with working_precision(PRECISION):
        for index in range(POINTS):
            point = choose_point(names, index, whole=False, complex_field=False)
            try:
                first, second = Evaluator(point).value(left), Evaluator(point).value(right)
            except Undefined:
                continue
            if not (first.is_finite() and second.is_finite()) or second.contains(0) or first.contains(0):
                continue
            ratios.append(first / second)
            if not ratios[0].overlaps(ratios[-1]):
                return False
        return True if len(ratios) >= WANTED else None
