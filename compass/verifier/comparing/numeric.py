"""Whether two expressions are equal, by their values at several points.

Two expressions that differ at one point are different, provably: the balls don't overlap. Two that agree at every
point tried are taken as equal, once more at a precision above the size of anything in them, so that
`1 + 10^{-500}` is not 1. Points are fixed by the variables' names: a verdict never changes from run to run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from zlib import crc32

from flint import acb, arb, ctx, fmpq

from compass.verifier.comparing.evaluator import PRECISION, Evaluator, Undefined, working_precision
from compass.verifier.comparing.exact import rational
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
BRANCH_POINTS = 24
"""More points, of every sign and size, for what has one formula here and another there: `|x + 50|`, `\\sqrt{x^2}`."""
JUMP_POINTS = 36
"""More points for steps: whole numbers in a row, and points on and beside multiples of the constants."""
MAX_SCALE = 10**6
"""Constants up to here have points beyond them."""
STEPS = frozenset(["floor", "ceil", "mod", "max", "min", "sgn", "gcd", "lcm"])
"""Functions that are constant on stretches: more points, spread wide."""
_COUNTING = frozenset("klmn")
"""Letters that count in `\\lfloor n/2 \\rfloor`."""
ONE_SIDED = STEPS | {"abs", "re", "im", "arg"}


def choose_point(
    names: frozenset[str],
    index: int,
    *,
    whole: frozenset[str] = frozenset(),
    complex_field: bool = False,
    wide: bool = False,
) -> dict[str, Any]:
    """The point number `index` for these variables, of which `whole` are whole numbers: fixed by their names, so that a verdict never changes."""
    kind = acb if complex_field else arb
    point: dict[str, Any] = {}
    for name in names:
        seed = crc32(f"{name}#{index}".encode())
        if name in whole:
            point[name] = kind((seed % 10 ** (1 + index // 5) if wide else seed % 5) + 2 + index)
            continue
        value = _seeded(seed)
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


def _seeded(seed: int) -> fmpq:
    """A number from 0.33 to 1.97."""
    return fmpq(seed % 100_003 + 20_011, 61_001)


def _choose_branch_point(names: frozenset[str], index: int, whole: frozenset[str], scale: int) -> dict[str, Any]:
    """One of `BRANCH_POINTS`: the signs of up to three variables go through all combinations, while the sizes go from beyond `scale` to below 1."""
    block, signs = divmod(index, 2 ** min(len(names), 3))
    point: dict[str, Any] = {}
    for rank, name in enumerate(sorted(names)):
        seed = crc32(f"{name}#branch{index}".encode())
        at = block if block < 4 else (block + rank) % 2  # all of one size, then one beyond another
        value = _seeded(seed) * (fmpq(5 * scale), fmpq(scale, 4), fmpq(1), fmpq(1, 7))[at]
        if name in whole:
            value = value.ceil()
        elif (signs >> rank if rank < 3 else seed) & 1:
            value = -value
        point[name] = arb(value)
    return point


def _choose_jump_point(
    names: frozenset[str], index: int, whole: frozenset[str], constants: list[int]
) -> dict[str, Any]:
    """One of `JUMP_POINTS`: whole numbers in a row first, then multiples of the constants, on them and closely beside."""
    point: dict[str, Any] = {}
    row = 2 * JUMP_POINTS // 3
    for name in names:
        seed = crc32(f"{name}#jump".encode()) % 7
        if index < row:
            point[name] = arb(seed + 2 + index)
            continue
        multiple = constants[index % len(constants)] * (seed + 1 + index // len(constants))
        beside = (0, 1, -1)[index // len(constants) % 3]
        point[name] = arb(multiple + (beside if name in whole else fmpq(beside, 1_000_003)))
    return point


def _constants(nodes: list[Node]) -> list[int]:
    """The numerators and denominators of the numbers in an expression, up to `MAX_SCALE`, and 1."""
    parts = {int(abs(part)) for item in nodes if isinstance(item, Number) for part in (item.value.p, item.value.q)}
    return sorted(part for part in parts | {1} if 0 < part <= MAX_SCALE)


def find_whole_variables(node: Node) -> frozenset[str]:
    """The variables that stand for whole numbers: in bounds of a sum, in `(-1)^n`, beside letters that count inside of a floor."""
    return frozenset().union(*map(_whole_variables, walk(node)))


def _whole_variables(node: Node) -> frozenset[str]:
    match node:
        case BigOperator("sum" | "prod", _, low, high):
            return symbols(low) | symbols(high)
        case Power(base, exponent) if symbols(exponent) and not symbols(base):
            if isinstance(base, Negative) or (isinstance(base, Number) and base.value < 0):
                return symbols(exponent)
        case Call("factorial2" | "perm"):
            return symbols(node)
        case Call("floor" | "ceil") if not _COUNTING.isdisjoint(symbols(node)):
            return symbols(node)
    return frozenset()


def _branches(node: Node) -> bool:
    """Whether a node has another formula for other signs of what is in it: an absolute value, an even root."""
    match node:
        case Call("abs" | "sqrt" | "root"):
            return bool(symbols(node))
        case Power(base, exponent) if symbols(base) and not symbols(exponent):
            power = rational(exponent)
            return power is not None and power.q % 2 == 0
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
        whole = find_whole_variables(left) | find_whole_variables(right)
        points = _Points(names, whole, bool(calls & STEPS), any(map(_branches, nodes)), _constants(nodes))
        agreement = None if imaginary else _same_at_points(left, right, points, False)
        return _same_at_points(left, right, points, True) if agreement is None else agreement


class _Points(NamedTuple):
    """The points at which two expressions are compared: `POINTS` or more that fit most expressions, then those for branches and for jumps."""

    names: frozenset[str]
    whole: frozenset[str]
    steps: bool
    branches: bool
    constants: list[int]

    def wanted(self) -> int:
        """At how many of the first points agreement is enough, if there are no others."""
        return STEP_POINTS if self.steps else WHOLE_POINTS if self.whole else WANTED

    def first(self) -> int:
        """How many points there are for any expression."""
        return max(self.wanted(), POINTS)

    def others(self) -> int:
        """How many points there are for branches and jumps of real functions."""
        return BRANCH_POINTS * self.branches + JUMP_POINTS * self.steps

    def place(self, index: int, complex_field: bool) -> dict[str, Any]:
        """The values of the variables at one point, at the working precision."""
        if index < self.first():
            whole = self.names if self.steps and index % 2 == 0 else self.whole
            return choose_point(self.names, index, whole=whole, wide=self.steps, complex_field=complex_field)
        index -= self.first()
        if self.branches and index < BRANCH_POINTS:
            return _choose_branch_point(self.names, index, self.whole, max(10, *self.constants))
        return _choose_jump_point(self.names, index - BRANCH_POINTS * self.branches, self.whole, self.constants)


def _same_at_points(left: Node, right: Node, points: _Points, complex_field: bool) -> bool | None:
    agreed = 0
    confirmed: int | None = None
    others = 0 if complex_field else points.others()
    for index in range(points.first() + others):
        ctx.prec = PRECISION
        point = points.place(index, complex_field)
        for _ in range(2):
            try:
                one, two = Evaluator(point, complex_field=complex_field), Evaluator(point, complex_field=complex_field)
                first, second = one.value(left), two.value(right)
            except Undefined:
                break
            except OverBudget:
                if index < points.first():
                    raise
                break  # too large beyond the constants
            if not (first.is_finite() and second.is_finite()):
                break
            if not first.overlaps(second):
                return False
            if _sharp(first, second):
                agreed += 1
                confirmed = index if confirmed is None else confirmed
                break
            ctx.prec *= 4
            point = points.place(index, complex_field)
        if agreed >= points.wanted() and not others:
            break
    if agreed < ENOUGH or confirmed is None:
        return None
    first_agreed = confirmed
    return _confirm(left, right, lambda: points.place(first_agreed, complex_field), complex_field)


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
            point = choose_point(names, index)
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
