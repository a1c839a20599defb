"""Balls of real or complex numbers (python-flint's Arb): rigorous bounds, not floats; and the functions of them."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flint import acb, arb, ctx, fmpq

from compass.verifier.tree import Unreadable

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
        return finite(value.log() / base.log())

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


def finite(value: Any) -> Any:
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


def digits(value: Any) -> str:
    """The middle of a ball, to 25 digits."""
    if isinstance(value, acb):
        return f"{digits(value.real)},{digits(value.imag)}"
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
