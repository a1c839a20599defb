"""Values of expressions as balls of real or complex numbers (python-flint's Arb): rigorous bounds, not floats."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from zlib import crc32

from flint import acb, arb, ctx, fmpq

from compass.verifier.budget import spend_numeric
from compass.verifier.comparing.exact import MAX_SUM_TERMS, bits, rational
from compass.verifier.tree import Node, OverBudget, Unreadable, symbols

PRECISION = 128
EXACT_ARGUMENT = 2_000
"""Work of trying one argument of a function in exact arithmetic."""
MAX_SPAN = 12_000


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
        self.terms = 0
        # Hundredths of a microsecond: a node, a transcendental function, and gamma at this precision.
        self.node_work = 300 + ctx.prec / 4
        self.function_work = ctx.prec**1.5 / 20
        self.gamma_work = ctx.prec**2 / 120

    def value(self, node: Node) -> Any:
        """The ball of a scalar expression.

        Raises:
            Undefined: no value here.
            OverBudget: an exponent beyond the budget.
            Unreadable: something that is no scalar.
        """
        spend_numeric(self.node_work)
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
        if not amount <= MAX_SPAN:  # infinite and undefined amounts included
            raise OverBudget("magnitudes beyond the numeric budget")
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
        # a longer exponent is beyond any budget, and beyond a float
        self._spend(abs(exponent) * (_magnitude(value) + 1) if exponent.bit_length() < 512 else math.inf)
        spend_numeric(self.node_work * exponent.bit_length())
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
        spend_numeric(2 * self.function_work)
        logarithm = base.log() * exponent
        self._spend(_size(logarithm) * 1.45)
        return self.finite(logarithm.exp())

    def _call(self, name: str, arguments: tuple[Node, ...]) -> Any:
        if name in EXACT_ONLY:
            spend_numeric(EXACT_ARGUMENT * len(arguments))
            exact = rational(("call", name, arguments))
            if exact is not None:
                return self.field(exact)
            if name in ("gcd", "lcm") and len(set(arguments)) == 1:
                return self.value(arguments[0])
        values = [self.value(part) for part in arguments]
        if name in ("exp", "sinh", "cosh", "tanh", "coth", "sech", "csch", "erf"):
            size = _size(values[0])
            self._spend(size * size * 3 if name == "erf" else size * 3)
        elif name in ("sin", "cos", "tan", "cot", "sec", "csc", "cis"):
            self._spend(_magnitude(values[0]))
        known = FUNCTIONS.get(name)
        if known is None:
            return self._opaque(name, values)
        spend_numeric(3 * self.gamma_work if name in ("gamma", "factorial", "binom") else self.function_work)
        try:
            value = self.finite(known(self, *values))
        except (TypeError, AttributeError):
            raise Unreadable(f"{name} of {len(values)} values") from None
        if name in ("gamma", "factorial", "binom"):
            self._spend(_magnitude(value))
        return value

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
        self.terms += max(stop - start, 0)
        if self.terms > MAX_SUM_TERMS:
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
    if not upper.is_finite():
        return math.inf
    size = float(upper)
    if 1e-300 < size < 1e300:
        return abs(math.log2(size))
    mantissa, exponent = upper.man_exp()  # arb's own logarithm would be worked out at the full precision
    return abs(float(exponent) + mantissa.bit_length())


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
