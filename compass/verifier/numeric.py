"""Values of expressions as balls of real or complex numbers (python-flint's Arb): rigorous bounds, not floats.

Two expressions that differ at one point are different, provably. Two that agree at every point tried are taken as
equal: constants once more at a precision above the size of anything in them, so that `1 + 10^{-500}` is not 1.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from zlib import crc32

from flint import acb, arb, ctx, fmpq

from compass.verifier.exact import MAX_SUM_TERMS, bits, rational
from compass.verifier.tree import Node, OverBudget, Unreadable, contains, symbols, walk

PRECISION = 128
MAX_SPAN = 12_000
MAX_NODES = 1_500
POINTS = 7
WANTED = 4
ENOUGH = 2


_lock = threading.RLock()


def _fresh_lock() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_fresh_lock)


@contextmanager
def working_precision(precision: int) -> Iterator[None]:
    """Flint's precision is one for the whole process: held by one thread at a time, and given back."""
    with _lock:
        before, ctx.prec = ctx.prec, precision
        try:
            yield
        finally:
            ctx.prec = before


class Undefined(Exception):
    """The expression has no value at this point (in this field)."""


class Evaluator:
    """Evaluates trees at one point. `span` is the sum of the binary magnitudes met, by which precision is chosen."""

    def __init__(self, point: dict[str, Any], *, complex_field: bool = False) -> None:
        self.point = point
        self.field = acb if complex_field else arb
        self.complex = complex_field
        self.span = 0

    def value(self, node: Node) -> Any:
        """The ball of a scalar expression.

        Raises:
            Undefined: no value here.
            OverBudget: an exponent beyond the budget.
            Unreadable: something that is no scalar.
        """
        kind = node[0]
        if kind == "num":
            self._spend(bits(node[1]))
            return self.field(node[1])
        if kind == "sym":
            return self.point[node[1]]
        if kind == "add":
            total = self.value(node[1][0])
            for part in node[1][1:]:
                total = total + self.value(part)
            return total
        if kind == "mul":
            total = self.value(node[1][0])
            for part in node[1][1:]:
                total = total * self.value(part)
            return total
        if kind == "neg":
            return -self.value(node[1])
        if kind == "inv":
            return self._inverse(self.value(node[1]))
        if kind == "pow":
            return self._power(node[1], node[2])
        if kind == "const":
            return self._constant(node[1])
        if kind == "call":
            return self._call(node[1], node[2])
        if kind == "percent":
            return self.value(node[1]) / 100
        if kind == "degree":
            return self.value(node[1]) * self.field(arb.pi()) / 180
        if kind == "big":
            return self._big(node)
        if kind == "unit":
            return self.value(node[1])
        raise Unreadable(f"a {kind} where a number is expected")

    def _spend(self, amount: float) -> None:
        self.span += int(amount)
        if self.span > MAX_SPAN:
            raise OverBudget("magnitudes beyond the numeric budget")

    def _constant(self, name: str) -> Any:
        if name == "pi":
            return self.field(arb.pi())
        if name == "e":
            return self.field(arb.const_e())
        if name == "i":
            if not self.complex:
                raise Undefined
            return acb(0, 1)
        raise Undefined

    def _inverse(self, value: Any) -> Any:
        if value.contains(0):
            if value == 0:
                raise Unreadable("a division by zero")
            raise Undefined
        return 1 / value

    def finite(self, value: Any) -> Any:
        """The value itself, if it is one."""
        if not value.is_finite():
            raise Undefined
        return value

    def _power(self, base: Node, exponent: Node) -> Any:
        constant = rational(exponent) if not symbols(exponent) else None
        value = self.value(base)
        if constant is not None:
            if constant.q == 1:
                return self._integer_power(value, int(constant.p))
            if not self.complex and constant.q % 2 == 1 and value < 0:
                magnitude = self._general(-value, self.field(constant))
                return -magnitude if constant.p % 2 else magnitude
            return self._general(value, self.field(constant))
        raised = self.value(exponent)
        if not self.complex and raised.is_integer():
            whole = raised.unique_fmpz()
            if whole is not None:
                return self._integer_power(value, int(whole))
        return self._general(value, raised)

    def _integer_power(self, value: Any, exponent: int) -> Any:
        self._spend(abs(exponent) * (_magnitude(value) + 1))
        if exponent < 0:
            return self._inverse(self.finite(value**-exponent))
        return self.finite(value**exponent)

    def _general(self, base: Any, exponent: Any) -> Any:
        if not self.complex and not base > 0:
            if base == 0 and exponent > 0:
                return self.field(0)
            raise Undefined
        if self.complex and base == 0:
            raise Undefined
        logarithm = base.log() * exponent
        self._spend(_size(logarithm) * 1.45)
        return self.finite(logarithm.exp())

    def _call(self, name: str, arguments: tuple[Node, ...]) -> Any:
        if name in EXACT_ONLY:
            exact = rational(("call", name, arguments))
            if exact is not None:
                return self.field(exact)
            if name in ("gcd", "lcm") and len(set(arguments)) == 1:
                return self.value(arguments[0])
        values = [self.value(part) for part in arguments]
        if name in ("exp", "sinh", "cosh", "tanh", "coth", "sech", "csch", "erf"):
            self._spend(_size(values[0]) * 3)
        elif name in ("sin", "cos", "tan", "cot", "sec", "csc", "cis"):
            self._spend(_magnitude(values[0]))
        known = FUNCTIONS.get(name)
        if known is None:
            return self._opaque(name, values)
        try:
            return self.finite(known(self, *values))
        except (TypeError, AttributeError):
            raise Unreadable(f"{name} of {len(values)} values") from None

    def _opaque(self, name: str, values: list[Any]) -> Any:
        """An unknown function: a value that depends on its name and arguments alone."""
        seed = ";".join([name, *(_digits(value) for value in values)])
        return self.field(fmpq(crc32(seed.encode()) + 1, 2**31))

    def _big(self, node: Node) -> Any:
        _, name, variable, low, high, body = node
        if name not in ("sum", "prod") or not variable:
            raise Unreadable(f"no numeric value for {name}")
        first, last = self.value(low), self.value(high)
        start, stop = _whole(first), _whole(last)
        if stop - start > MAX_SUM_TERMS // 4:
            raise OverBudget("too many terms")
        total = self.field(0 if name == "sum" else 1)
        outer = self.point
        for index in range(start, stop + 1):
            self.point = outer | {variable: self.field(index)}
            term = self.value(body)
            total = total + term if name == "sum" else total * term
        self.point = outer
        return total


def _whole(value: Any) -> int:
    real = value.real if isinstance(value, acb) else value
    whole = real.unique_fmpz()
    if whole is None:
        raise Undefined
    return int(whole)


def _digits(value: Any) -> str:
    if isinstance(value, acb):
        return f"{_digits(value.real)},{_digits(value.imag)}"
    return value.mid().str(25, radius=False)


def _size(value: Any) -> float:
    """A bound on the absolute value, as a float."""
    return float(abs(value).abs_upper())


def _magnitude(value: Any) -> float:
    """The binary logarithm of the absolute value, without its sign; 0 near zero."""
    upper = abs(value).abs_upper()
    if not upper > 0:
        return 0.0
    return abs(float(upper.log() / arb(2).log()))


def _log(evaluator: Evaluator, value: Any, base: Any = None) -> Any:
    if not evaluator.complex and not value > 0:
        raise Undefined
    if base is None:
        return value.log()
    if not evaluator.complex and not base > 0:
        raise Undefined
    return evaluator.finite(value.log() / base.log())


def _root(evaluator: Evaluator, value: Any, index: Any) -> Any:
    whole = _whole(index)
    if whole <= 0 or whole > 1000:
        raise Undefined
    if not evaluator.complex and value < 0 and whole % 2:
        return -(-value).root(whole)
    return value.root(whole)


def _abs(evaluator: Evaluator, value: Any) -> Any:
    return evaluator.field(abs(value))


def _real(function: Callable[[Any], Any]) -> Callable[..., Any]:
    def only_real(evaluator: Evaluator, *values: Any) -> Any:
        if evaluator.complex:
            if not all(value.imag == 0 for value in values):
                raise Undefined
            return acb(function(*(value.real for value in values)))
        return function(*values)

    return only_real


def _mod(value: Any, modulus: Any) -> Any:
    return value - modulus * (value / modulus).floor()


def _part(name: str) -> Callable[..., Any]:
    def part(evaluator: Evaluator, value: Any) -> Any:
        if not evaluator.complex:
            return value if name in ("re", "conj") else arb(0)
        return {"re": acb(value.real), "im": acb(value.imag), "conj": value.conjugate() if name == "conj" else value}[
            name
        ]

    return part


def _binomial(_: Evaluator, top: Any, bottom: Any) -> Any:
    return (top + 1).gamma() * (bottom + 1).rgamma() * (top - bottom + 1).rgamma()


def _max(*values: Any) -> Any:
    best = values[0]
    for value in values[1:]:
        best = best.max(value)
    return best


def _min(*values: Any) -> Any:
    best = values[0]
    for value in values[1:]:
        best = best.min(value)
    return best


EXACT_ONLY = frozenset(["gcd", "lcm", "floor", "ceil", "mod", "sgn", "factorial2"])
"""Functions that jump: worked out exactly where that is possible, because a ball around a jump has no value."""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: (lambda _, value, method=name: getattr(value, method)()) for name in (
        "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch", "exp", "erf", "gamma")},
    **{f"arc{name}": (lambda _, value, method=f"a{name}": getattr(value, method)()) for name in ("sin", "cos", "tan")},
    **{f"ar{name}": (lambda _, value, method=f"a{name}": getattr(value, method)()) for name in ("sinh", "cosh", "tanh")},
    "arccot": lambda ev, value: ev.field(arb.pi()) / 2 - value.atan(),
    "arcsec": lambda ev, value: ev._inverse(value).acos(), "arccsc": lambda ev, value: ev._inverse(value).asin(),
    "ln": _log, "log": _log, "lg": lambda ev, value: _log(ev, value, ev.field(10)),
    "sqrt": lambda _, value: value.sqrt(), "root": _root, "cbrt": lambda ev, value: _root(ev, value, ev.field(3)), "abs": _abs,
    "floor": _real(lambda value: value.floor()), "ceil": _real(lambda value: value.ceil()), "sgn": _real(lambda value: value.sgn()),
    "factorial": lambda _, value: (value + 1).gamma(), "binom": _binomial, "mod": _real(_mod), "max": _real(_max), "min": _real(_min),
    "re": _part("re"), "im": _part("im"), "conj": _part("conj"), "arg": lambda ev, value: acb(value).arg() if ev.complex else Undefined,
    "cis": lambda ev, value: value.cos() + acb(0, 1) * value.sin(),
}  # fmt: skip


def at_point(names: frozenset[str], index: int, *, whole: bool, complex_field: bool) -> dict[str, Any]:
    """The point number `index` for these variables: fixed by their names, so that a verdict never changes."""
    kind = acb if complex_field else arb
    point: dict[str, Any] = {}
    for name in names:
        seed = crc32(f"{name}#{index}".encode())
        if whole:
            point[name] = kind(2 + index + seed % 5)
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
        elif index == 6:
            value = value * 60
        point[name] = kind(value) if not complex_field else acb(arb(value), arb(fmpq(seed % 997, 1201)))
    return point


def needs_whole_numbers(node: Node) -> bool:
    """Whether variables stand for whole numbers: bounds of a sum, `(-1)^n`, `\\cos(n\\pi)`, remainders."""
    for item in walk(node):
        if item[0] == "big" and item[1] in ("sum", "prod") and (symbols(item[4]) or symbols(item[3])):
            return True
        if item[0] == "pow" and symbols(item[2]) and not symbols(item[1]):
            base = item[1]
            if base[0] == "neg" or (base[0] == "num" and base[1] < 0):
                return True
        if item[0] == "call" and item[1] in ("factorial2", "perm"):
            return True
    return False


def identical(left: Node, right: Node) -> bool | None:
    """Whether two scalar expressions are equal wherever both are defined; None where that stays open.

    Raises:
        OverBudget: magnitudes beyond the budget.
        Unreadable: a part without a numeric value.
    """
    if len(walk(left)) + len(walk(right)) > MAX_NODES:
        raise OverBudget("too many parts")
    names = symbols(left) | symbols(right)
    imaginary = any(
        item == ("const", "i") or item[:2] == ("call", "cis") for side in (left, right) for item in walk(side)
    )
    with working_precision(PRECISION):
        if not names:
            return _same_constant(left, right, imaginary)
        whole = needs_whole_numbers(left) or needs_whole_numbers(right)
        found = None if imaginary else _same_at_points(left, right, names, whole, False)
        return _same_at_points(left, right, names, whole, True) if found is None else found


def _same_at_points(left: Node, right: Node, names: frozenset[str], whole: bool, complex_field: bool) -> bool | None:
    agreed = 0
    for index in range(POINTS):
        point = at_point(names, index, whole=whole, complex_field=complex_field)
        ctx.prec = PRECISION
        for _ in range(2):
            try:
                first = Evaluator(point, complex_field=complex_field).value(left)
                second = Evaluator(point, complex_field=complex_field).value(right)
            except Undefined:
                break
            if not (first.is_finite() and second.is_finite()):
                break
            if not first.overlaps(second):
                return False
            if _sharp(first, second):
                agreed += 1
                break
            ctx.prec *= 4
        if agreed >= WANTED:
            return True
    return True if agreed >= ENOUGH else None


def _sharp(first: Any, second: Any) -> bool:
    """Whether two overlapping balls are narrow enough for their agreement to mean something."""
    difference = abs(first - second).abs_upper()
    scale = abs(first).abs_upper().max(arb(fmpq(1, 2**40)))
    return bool(difference < scale * arb(fmpq(1, 2**50)))


def _same_constant(left: Node, right: Node, imaginary: bool) -> bool | None:
    for complex_field in (True,) if imaginary else (False, True):
        one, two = Evaluator({}, complex_field=complex_field), Evaluator({}, complex_field=complex_field)
        try:
            first, second = one.value(left), two.value(right)
            if not (first.is_finite() and second.is_finite()):
                return None
            if not first.overlaps(second):
                return False
            ctx.prec = 512 + 3 * (one.span + two.span)
            one, two = Evaluator({}, complex_field=complex_field), Evaluator({}, complex_field=complex_field)
            first, second = one.value(left), two.value(right)
        except Undefined:
            continue
        if not first.overlaps(second):
            return False
        difference = abs(first - second).abs_upper()
        return True if bool(difference < arb(2) ** -(256 + one.span + two.span)) else None
    return None


def approximate(node: Node, precision: int = PRECISION) -> arb | None:
    """The real value of a constant expression, or None."""
    if symbols(node) or contains(node, "seq", "rel", "matrix", "cases", "setop", "word", "ratio", "based"):
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
            point = at_point(names, index, whole=False, complex_field=False)
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
