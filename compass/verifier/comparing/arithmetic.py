"""Exact arithmetic on fractions under budgets: powers, roots, and the functions with a rational value."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce

from flint import fmpq, fmpz

from compass.verifier.budget import spend_exact
from compass.verifier.tree import OverBudget, Unreadable

MAX_BITS = 20_000
MAX_WHOLE_BITS = 50_000
MAX_FACTORIAL = 4_500
MAX_ROOT_INDEX = 64


def bits(value: fmpq) -> int:
    """The size of a fraction: the bits of its numerator and denominator."""
    return value.p.bit_length() + value.q.bit_length()


def check_size(value: fmpq, what: str) -> None:
    """Count the work of making a number; whole ones may be longer than fractions, which need divisors.

    Raises:
        OverBudget: `value` has more than `MAX_WHOLE_BITS`, or as a fraction more than `MAX_BITS` bits.
    """
    size, whole = bits(value), value.q == 1
    if size > (MAX_WHOLE_BITS if whole else MAX_BITS):
        raise OverBudget(f"{what} too long to compute")
    spend_exact(size / 4 if whole else size)


def power(base: fmpq, exponent: fmpq) -> fmpq | None:
    """`base ^ exponent`; None where it is irrational.

    Raises:
        OverBudget: a result beyond the bounds on size.
        Unreadable: zero to a power that is not positive.
    """
    if exponent.q != 1:
        return rational_root(base, exponent)
    if base == 0 and exponent <= 0:
        raise Unreadable("zero to a power that is not positive")
    if base in (0, 1):
        return base
    size = abs(int(exponent.p))
    if base == -1:
        return fmpq(-1 if size % 2 else 1)
    if size * bits(base) > (MAX_WHOLE_BITS if base.q == 1 and exponent > 0 else MAX_BITS):
        raise OverBudget("a power too large to compute")
    value = fmpq(base.p**size, base.q**size)
    spend_exact(bits(value) / 4)
    return 1 / value if exponent < 0 else value


def rational_root(base: fmpq, exponent: fmpq) -> fmpq | None:
    """`8^{2/3}` where it is rational; a negative base has a real odd root."""
    index = int(exponent.q)
    if index > MAX_ROOT_INDEX or (base < 0 and index % 2 == 0):
        return None
    top, bottom = integer_root(abs(int(base.p)), index), integer_root(int(base.q), index)
    if top is None or bottom is None:
        return None
    return power(fmpq(-top if base < 0 else top, bottom), fmpq(exponent.p))


def integer_root(value: int, index: int) -> int | None:
    """The exact root of a whole number that is not negative, or None."""
    if value.bit_length() > MAX_BITS:
        raise OverBudget("a root of a number too long")
    spend_exact(4 * value.bit_length())
    if value < 2:
        return value
    root = int(fmpz(value).root(index))
    return root if root**index == value else None


def _whole(value: fmpq, limit: int, what: str) -> int:
    if value.q != 1 or value < 0:
        raise Unreadable(f"the {what} of something that is no whole number")
    if value > limit:
        raise OverBudget(f"the {what} of more than {limit}")
    return int(value.p)


def _factorial(values: list[fmpq]) -> fmpq | None:
    if values[0].q != 1:
        return None
    value = _factorial_of(_whole(values[0], MAX_FACTORIAL, "factorial"))
    spend_exact(bits(value) / 2)
    return value


@lru_cache(maxsize=64)
def _factorial_of(number: int) -> fmpq:
    return fmpq(fmpz.fac_ui(number))


def _double_factorial(values: list[fmpq]) -> fmpq:
    number = _whole(values[0], MAX_FACTORIAL, "double factorial")
    half = (number + 1) // 2
    evens = fmpq(fmpz(2) ** half) * _factorial_of(half)  # 2 * 4 * ... * 2 half
    value = evens if number % 2 == 0 else _factorial_of(2 * half) / evens
    spend_exact(bits(value))
    return value


def _binomial(values: list[fmpq]) -> fmpq | None:
    if any(value.q != 1 or value < 0 for value in values):
        return None
    top, chosen = int(values[0].p), int(min(values[1], max(values[0] - values[1], fmpq(0))).p)
    if values[1] > values[0]:
        return fmpq(0)
    if top.bit_length() > 63 or chosen > MAX_FACTORIAL or chosen * top.bit_length() > 2 * MAX_WHOLE_BITS:
        raise OverBudget("a binomial coefficient too large to compute")
    spend_exact(chosen * top.bit_length())
    value = fmpq(fmpz.bin_uiui(top, chosen))
    check_size(value, "a binomial coefficient")
    return value


def _gcd(values: list[fmpq]) -> fmpq:
    bottom = reduce(fmpz.lcm, (value.q for value in values))
    check_size(fmpq(bottom), "a common denominator")
    spend_exact(sum(bits(value) for value in values) * 2 + bits(fmpq(bottom)) * len(values))
    return fmpq(reduce(fmpz.gcd, ((value * bottom).p for value in values)), bottom)


def _lcm(values: list[fmpq]) -> fmpq:
    if any(value == 0 for value in values):
        return fmpq(0)
    common = fmpz(1)
    for value in values:
        spend_exact(bits(fmpq(common)) + bits(value))
        common = common.lcm(value.p)
        check_size(fmpq(common), "a least common multiple")
    return fmpq(common, reduce(fmpz.gcd, (value.q for value in values)))


def _remainder(values: list[fmpq]) -> fmpq:
    if values[1] == 0:
        raise Unreadable("a remainder by zero")
    spend_exact(2 * (bits(values[0]) + bits(values[1])))
    return values[0] - values[1] * (values[0] / values[1]).floor()


def _square_root(values: list[fmpq]) -> fmpq | None:
    return rational_root(values[0], fmpq(1, 2))


def _root(values: list[fmpq]) -> fmpq | None:
    if values[1] == 0:
        raise Unreadable("a root of index zero")
    return power(values[0], 1 / values[1])


FUNCTIONS: dict[str, Callable[[list[fmpq]], fmpq | None]] = {
    "factorial": _factorial, "factorial2": _double_factorial, "binom": _binomial, "gcd": _gcd, "lcm": _lcm, "mod": _remainder,
    "sqrt": _square_root, "root": _root, "abs": lambda values: abs(values[0]), "floor": lambda values: fmpq(values[0].floor()),
    "ceil": lambda values: fmpq(values[0].ceil()), "max": max, "min": min,
    "sgn": lambda values: fmpq((values[0] > 0) - (values[0] < 0)), "conj": lambda values: values[0],
    "re": lambda values: values[0], "im": lambda values: fmpq(0),
}  # fmt: skip
"""Functions that may have a rational value of rational arguments: None where they have not."""
