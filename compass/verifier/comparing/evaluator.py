"""The value of a tree in balls of real or complex numbers (python-flint's Arb): rigorous bounds, not floats."""

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
from compass.verifier.comparing.exact import MAX_SUM_TERMS, bits, rational, takes_arguments
from compass.verifier.tree import (
    BigOperator,
    Call,
    Constant,
    Degrees,
    Inverse,
    Negative,
    Node,
    Number,
    OverBudget,
    Percent,
    Power,
    Product,
    Quantity,
    Sum,
    Symbol,
    Unreadable,
    number,
    substitute,
    symbols,
)

PRECISION = 128
MAX_ROOT = 1_000

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


class Field:
    """The real or the complex numbers: what a value is made of, and where a function has none."""

    def __init__(self, *, complex_numbers: bool) -> None:
        self.complex = complex_numbers
        self.ball = acb if complex_numbers else arb

    def pi(self) -> Any:
        """The ball of π."""
        return self.ball(arb.pi())

    def logarithm(self, value: Any, base: Any = None) -> Any:
        """The principal logarithm, to base e where none is given."""
        if not self.complex and not value > 0:
            raise Undefined
        if base is None:
            return value.log()
        if not self.complex and not base > 0:
            raise Undefined
        return require_finite(value.log() / base.log())

    def root(self, value: Any, index: Any) -> Any:
        """The root of whole index; a negative real has a real odd one."""
        whole = whole_number(index)
        if not 0 < whole <= MAX_ROOT:
            raise Undefined
        if not self.complex and value < 0 and whole % 2:
            return -(-value).root(whole)
        return value.root(whole)

    def argument(self, value: Any) -> Any:
        """The angle of a complex number."""
        if not self.complex:
            raise Undefined
        return acb(value.arg())

    def part(self, name: str, value: Any) -> Any:
        """The real part, the imaginary part or the conjugate."""
        if not self.complex:
            return arb(0) if name == "im" else value
        return value.conjugate() if name == "conj" else acb(value.real if name == "re" else value.imag)

    def of_reals(self, function: Callable[..., Any], *values: Any) -> Any:
        """A function of real numbers alone."""
        if not self.complex:
            return function(*values)
        if not all(value.imag == 0 for value in values):  # a ball around zero is neither equal nor unequal to it
            raise Undefined
        return acb(function(*(value.real for value in values)))


REALS, COMPLEX_NUMBERS = Field(complex_numbers=False), Field(complex_numbers=True)


def require_finite(value: Any) -> Any:
    """The value itself, if it is one."""
    if not value.is_finite():
        raise Undefined
    return value


def inverse(value: Any) -> Any:
    """`1 / value`.

    Raises:
        Unreadable: a division by zero.
        Undefined: a ball around zero.
    """
    if value.contains(0):
        if value == 0:
            raise Unreadable("a division by zero")
        raise Undefined
    return 1 / value


def whole_number(value: Any) -> int:
    """The one whole number in a ball."""
    real = value.real if isinstance(value, acb) else value
    whole = real.unique_fmpz()
    if whole is None:
        raise Undefined
    return int(whole)


def show_digits(value: Any) -> str:
    """The middle of a ball, to 25 digits."""
    if isinstance(value, acb):
        return f"{show_digits(value.real)},{show_digits(value.imag)}"
    return value.mid().str(25, radius=False)


def size(value: Any) -> float:
    """A bound on the absolute value, as a float."""
    return float(abs(value).abs_upper())


def magnitude(value: Any) -> float:
    """The binary logarithm of the absolute value, without its sign; 0 near zero."""
    upper = abs(value).abs_upper()
    if not upper > 0:
        return 0.0
    if not upper.is_finite():
        return math.inf
    near = float(upper)
    if 1e-300 < near < 1e300:
        return abs(math.log2(near))
    mantissa, exponent = upper.man_exp()  # arb's own logarithm would be worked out at the full precision
    return abs(float(exponent) + mantissa.bit_length())


def _binomial(top: Any, bottom: Any) -> Any:
    return (top + 1).gamma() * (bottom + 1).rgamma() * (top - bottom + 1).rgamma()


def _remainder(value: Any, modulus: Any) -> Any:
    return value - modulus * (value / modulus).floor()


def _largest(*values: Any) -> Any:
    best = values[0]
    for value in values[1:]:
        best = best.max(value)
    return best


def _smallest(*values: Any) -> Any:
    best = values[0]
    for value in values[1:]:
        best = best.min(value)
    return best


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: (lambda _, value, method=name: getattr(value, method)()) for name in (
        "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch", "exp", "erf", "gamma", "zeta")},
    **{f"arc{name}": (lambda _, value, method=f"a{name}": getattr(value, method)()) for name in ("sin", "cos", "tan")},
    **{f"ar{name}": (lambda _, value, method=f"a{name}": getattr(value, method)()) for name in ("sinh", "cosh", "tanh")},
    **{name: (lambda field, value, method=name: field.of_reals(getattr(arb, method), value)) for name in ("floor", "ceil", "sgn")},
    "arccot": lambda field, value: field.pi() / 2 - value.atan(),
    "arcsec": lambda field, value: inverse(value).acos(),
    "arccsc": lambda field, value: inverse(value).asin(),
    "ln": Field.logarithm,
    "log": Field.logarithm,
    "lg": lambda field, value: field.logarithm(value, field.ball(10)),
    "sqrt": lambda field, value: value.sqrt(),
    "root": Field.root,
    "cbrt": lambda field, value: field.root(value, field.ball(3)),
    "abs": lambda field, value: field.ball(abs(value)),
    "factorial": lambda field, value: (value + 1).gamma(),
    "binom": lambda field, top, bottom: _binomial(top, bottom),
    "mod": lambda field, value, modulus: field.of_reals(_remainder, value, modulus),
    "max": lambda field, *values: field.of_reals(_largest, *values),
    "min": lambda field, *values: field.of_reals(_smallest, *values),
    "re": lambda field, value: field.part("re", value),
    "im": lambda field, value: field.part("im", value),
    "conj": lambda field, value: field.part("conj", value),
    "arg": Field.argument,
    "cis": lambda field, value: value.cos() + acb(0, 1) * value.sin(),
}  # fmt: skip
"""Each function's value, of a field and its arguments."""


def unknown_function(field: Field, seed: int) -> Any:
    """A value between 0 and 2 that depends on the seed alone."""
    return field.ball(fmpq(seed + 1, 2**31))


EXACT_ARGUMENT = 2_000
"""Work of trying one argument of a function in exact arithmetic."""
MAX_SPAN = 12_000
JUMPING = frozenset(["gcd", "lcm", "floor", "ceil", "mod", "sgn", "factorial2"])
"""Functions that jump: worked out exactly where that is possible, because a ball around a jump has no value."""
_GAMMAS = frozenset(["gamma", "zeta", "factorial", "binom"])
_EXPONENTIALS = frozenset(["exp", "sinh", "cosh", "tanh", "coth", "sech", "csch"])
_PERIODIC = frozenset(["sin", "cos", "tan", "cot", "sec", "csc", "cis"])


class Evaluator:
    """Evaluates trees at one point. `span` is the sum of the binary magnitudes met, by which precision is chosen."""

    def __init__(self, point: dict[str, Any], *, complex_field: bool = False) -> None:
        self.point = point
        self.field = COMPLEX_NUMBERS if complex_field else REALS
        self.ball = self.field.ball
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
        match node:
            case Number(value):
                self._spend(bits(value))
                return self.ball(value)
            case Symbol(name):
                return self.point[name]
            case Product(factors):
                total = self.value(factors[0])
                for part in factors[1:]:
                    total = total * self.value(part)
                return total
            case Power(base, exponent):
                return self._power(base, exponent)
            case Sum(terms):
                total = self.value(terms[0])
                for part in terms[1:]:
                    total = total + self.value(part)
                return total
            case Negative(operand):
                return -self.value(operand)
            case Inverse(operand):
                return inverse(self.value(operand))
            case Call():
                return self._call(node)
            case Constant(name):
                return self._constant(name)
            case Percent(value):
                return self.value(value) / 100
            case Degrees(value):
                return self.value(value) * self.field.pi() / 180
            case Quantity(value):
                return self.value(value)
            case BigOperator():
                return self._big(node)
        raise Unreadable(f"a {node.kind} where a number is expected")

    def _spend(self, amount: float) -> None:
        if not amount <= MAX_SPAN:  # infinite and undefined amounts included
            raise OverBudget("magnitudes beyond the numeric budget")
        self.span += int(amount)
        if self.span > MAX_SPAN:
            raise OverBudget("magnitudes beyond the numeric budget")

    def _constant(self, name: str) -> Any:
        match name:
            case "pi":
                return self.field.pi()
            case "e":
                return self.ball(arb.const_e())
            case "i" if self.field.complex:
                return acb(0, 1)
        raise Undefined

    def _power(self, base: Node, exponent: Node) -> Any:
        constant = rational(exponent) if not symbols(exponent) else None
        value = self.value(base)
        if constant is not None:
            if constant.q == 1:
                return self._integer_power(value, int(constant.p))
            if not self.field.complex and constant.q % 2 == 1 and value < 0:
                root = self._general_power(-value, self.ball(constant))
                return -root if constant.p % 2 else root
            return self._general_power(value, self.ball(constant))
        raised = self.value(exponent)
        if not self.field.complex and raised.is_integer():
            whole = raised.unique_fmpz()
            if whole is not None:
                return self._integer_power(value, int(whole))
        return self._general_power(value, raised)

    def _integer_power(self, value: Any, exponent: int) -> Any:
        # a longer exponent is beyond any budget, and beyond a float
        self._spend(abs(exponent) * (magnitude(value) + 1) if exponent.bit_length() < 512 else math.inf)
        spend_numeric(self.node_work * exponent.bit_length())
        if exponent < 0:
            return inverse(require_finite(value**-exponent))
        return require_finite(value**exponent)

    def _general_power(self, base: Any, exponent: Any) -> Any:
        if not self.field.complex and not base > 0:
            if base == 0 and exponent > 0:
                return self.ball(0)
            raise Undefined
        if self.field.complex and base == 0:
            raise Undefined
        spend_numeric(2 * self.function_work)
        logarithm = base.log() * exponent
        self._spend(size(logarithm) * 1.45)
        return require_finite(logarithm.exp())

    def _call(self, node: Call) -> Any:
        name, arguments = node.function, node.arguments
        if name in JUMPING:
            spend_numeric(EXACT_ARGUMENT * len(arguments))
            exact = rational(self._at_whole_numbers(node))
            if exact is not None:
                return self.ball(exact)
            if name in ("gcd", "lcm") and len(set(arguments)) == 1:
                return self.value(arguments[0])
        values = [self.value(part) for part in arguments]
        function = FUNCTIONS.get(name)
        if function is None:
            return self._unknown(name, values)
        if not takes_arguments(name, len(values)):
            raise Unreadable(f"{name} of {len(values)} values")
        if name == "erf":
            self._spend(size(values[0]) ** 2 * 3)
        elif name in _EXPONENTIALS:
            self._spend(size(values[0]) * 3)
        elif name in _PERIODIC:
            self._spend(magnitude(values[0]))
        spend_numeric(3 * self.gamma_work if name in _GAMMAS else self.function_work)
        value = require_finite(function(self.field, *values))
        if name in _GAMMAS:
            self._spend(magnitude(value))
        return value

    def _at_whole_numbers(self, node: Node) -> Node:
        """The node with the whole numbers that variables are at this point: a ball around 1 has two floors, 1 has one."""
        for name in symbols(node):
            value = self.point.get(name)
            if isinstance(value, arb) and value.is_integer():
                node = substitute(node, Symbol(name), number(int(value.unique_fmpz())))
        return node

    def _unknown(self, name: str, values: list[Any]) -> Any:
        """A function without a meaning: a value that depends on its name and arguments alone."""
        return unknown_function(self.field, crc32(";".join([name, *map(show_digits, values)]).encode()))

    def _big(self, node: BigOperator) -> Any:
        if node.operator not in ("sum", "prod") or not node.variable:
            raise Unreadable(f"no numeric value for {node.operator}")
        first, last = self.value(node.low), self.value(node.high)
        start, stop = whole_number(first), whole_number(last)
        self.terms += max(stop - start, 0)
        if self.terms > MAX_SUM_TERMS:
            raise OverBudget("too many terms")
        adds = node.operator == "sum"
        total = self.ball(0 if adds else 1)
        outer = self.point
        for index in range(start, stop + 1):
            self.point = outer | {node.variable: self.ball(index)}
            term = self.value(node.body)
            total = total + term if adds else total * term
        self.point = outer
        return total
