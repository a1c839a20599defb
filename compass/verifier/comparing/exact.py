"""Exact algebra under budgets: rational constants with powers, roots and factorials, and rational functions as quotients of flint polynomials."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from math import comb
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly_ctx, fmpz

from compass.verifier.budget import spend_exact, sums
from compass.verifier.reading.vocabulary import ARITY
from compass.verifier.tree import (
    BigOperator,
    Call,
    Inverse,
    Negative,
    Node,
    Number,
    OverBudget,
    Power,
    Product,
    Sum,
    Symbol,
    Unreadable,
    symbols,
    walk,
)

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


MAX_DEGREE = 64
MAX_EXPONENT = 2_000
MAX_TERMS = 600
MAX_SUM_TERMS = 2_000
MAX_VARIABLES = 12
TERM_NODE = 250
"""Work of one node of a sum's term, besides the size of its value."""
_AROUND = ""
"""In place of a variable: how many terms the sums around this one have."""

Quotient = tuple[Any, Any]
"""Numerator and denominator: two of flint's polynomials."""


def rational(node: Node, bound: dict[str, fmpq] | None = None) -> fmpq | None:
    """The value of a constant expression whose every part is rational; None where some part is not.

    Args:
        bound: values of variables, inside a sum.

    Raises:
        OverBudget: the value, or one on the way to it, is too long (`check_size`).
        Unreadable: a division by zero.
    """
    match node:
        case Number(value):
            return value
        case Symbol(name):
            return None if bound is None else bound.get(name)
        case Sum(terms):
            total = fmpq(0)
            for term in terms:
                value = rational(term, bound)
                if value is None:
                    return None
                total = total + value
                check_size(total, "a number")
            return total
        case Product(factors):
            total = fmpq(1)
            for factor in factors:
                value = rational(factor, bound)
                if value is None:
                    return None
                total = total * value
                check_size(total, "a number")
            return total
        case Negative(operand):
            value = rational(operand, bound)
            return None if value is None else -value
        case Inverse(operand):
            value = rational(operand, bound)
            if value == 0:
                raise Unreadable("a division by zero")
            return None if value is None else 1 / value
        case Power(base, exponent):
            value, raised = rational(base, bound), rational(exponent, bound)
            return None if value is None or raised is None else power(value, raised)
        case Call():
            return _call(node, bound)
        case BigOperator("sum" | "prod", variable) if variable:
            if bound:
                return _finite(node, bound)
            known = sums()
            if node not in known:
                known[node] = _finite(node, {})
            return known[node]
    return None


def takes_arguments(function: str, arguments: int) -> bool:
    """Whether a function with a meaning takes that many arguments."""
    fewest, most = ARITY.get(function, (1, 1))
    return fewest <= arguments <= most


def _call(node: Call, bound: dict[str, fmpq] | None) -> fmpq | None:
    function = FUNCTIONS.get(node.function)
    if function is None or not takes_arguments(node.function, len(node.arguments)):
        return None
    # all of them, so that one beyond the budget stops the whole
    values = [_constant(part) if symbols(part) and not bound else rational(part, bound) for part in node.arguments]
    return None if any(value is None for value in values) else function(values)


def _constant(node: Node) -> fmpq | None:
    """The value of an expression whose variables cancel: `2y - y - y`."""
    names = tuple(sorted(symbols(node)))
    if len(names) > MAX_VARIABLES:
        return None
    value = to_quotient(node, names)
    if value is None or value[1].total_degree() > 0 or value[0].total_degree() > 0:
        return None
    return value[0].leading_coefficient() / value[1].leading_coefficient() if value[0] != 0 else fmpq(0)


def _finite(node: BigOperator, bound: dict[str, fmpq]) -> fmpq | None:
    """A sum or product with whole bounds, term by term."""
    first, last = rational(node.low, bound), rational(node.high, bound)
    if first is None or last is None or first.q != 1 or last.q != 1:
        return None
    terms = bound.get(_AROUND, fmpq(1)) * max(last - first + 1, fmpq(1))
    if terms > MAX_SUM_TERMS:
        raise OverBudget(f"more than {MAX_SUM_TERMS} terms")
    adds = node.operator == "sum"
    total = fmpq(0 if adds else 1)
    term_work = TERM_NODE * len(walk(node.body))
    for index in range(int(first.p), int(last.p) + 1):
        spend_exact(term_work)
        value = rational(node.body, bound | {node.variable: fmpq(index), _AROUND: terms})
        if value is None:
            return None
        total = total + value if adds else total * value
        check_size(total, "a sum or product")
    return total


def to_quotient(node: Node, names: tuple[str, ...]) -> Quotient | None:
    """The expression as numerator and denominator, polynomials in `names`; None where it is no rational function.

    Raises:
        OverBudget: degree or number of terms beyond the budget.
        Unreadable: a division by zero.
    """
    context = fmpq_mpoly_ctx.get(names, Ordering.lex)
    generators = dict(zip(names, context.gens(), strict=True))
    return _quotient(node, generators, context)


def _quotient(node: Node, generators: dict[str, Any], context: Any) -> Quotient | None:
    match node:
        case Number(value):
            return context.constant(value), context.constant(1)
        case Symbol(name):
            return generators[name], context.constant(1)
        case Sum(parts) | Product(parts):
            return _combined(node, parts, generators, context)
        case Negative(operand):
            inner = _quotient(operand, generators, context)
            return None if inner is None else (-inner[0], inner[1])
        case Inverse(operand):
            inner = _quotient(operand, generators, context)
            if inner is not None and inner[0] == 0:
                raise Unreadable("a division by zero")
            return None if inner is None else (inner[1], inner[0])
        case Power(base, exponent):
            return _quotient_power(base, exponent, generators, context)
    constant = rational(node)
    if constant is not None and bits(constant) > MAX_BITS:
        raise OverBudget("a coefficient too long to compute")
    return None if constant is None else (context.constant(constant), context.constant(1))


def _combined(node: Node, parts: tuple[Node, ...], generators: dict[str, Any], context: Any) -> Quotient | None:
    multiplies = isinstance(node, Product)
    top, bottom = context.constant(1 if multiplies else 0), context.constant(1)
    for part in parts:
        value = _quotient(part, generators, context)
        if value is None:
            return None
        if multiplies:
            top, bottom = _product(top, value[0]), _product(bottom, value[1])
        elif bottom == value[1]:
            top = top + value[0]
        else:
            top = _product(top, value[1]) + _product(value[0], bottom)
            bottom = _product(bottom, value[1])
        if len(top) + len(bottom) > MAX_TERMS:
            raise OverBudget(f"more than {MAX_TERMS} terms")
    return top, bottom


def _quotient_power(base: Node, exponent: Node, generators: dict[str, Any], context: Any) -> Quotient | None:
    raised = rational(exponent)
    if raised is None or raised.q != 1:
        return None
    value = _quotient(base, generators, context)
    if value is None:
        return None
    size = abs(int(raised.p))
    if size * max(value[0].total_degree(), value[1].total_degree()) > MAX_DEGREE * 4 or (
        size > 12 and len(value[0]) + len(value[1]) > 3
    ):
        return None
    if raised < 0 and value[0] == 0:
        raise Unreadable("a division by zero")
    if size > MAX_EXPONENT:
        raise OverBudget("a power too large to compute")
    top, bottom = _raised(value[0], size), _raised(value[1], size)
    return (bottom, top) if raised < 0 else (top, bottom)


def _height(value: Any) -> int:
    """The bits of a polynomial's longest coefficient."""
    spend_exact(100 * len(value))
    return max((bits(part) for part in value.coeffs()), default=0)


def _product(left: Any, right: Any) -> Any:
    if len(left) <= 1 and len(right) <= 1:
        return left * right
    spend_exact(len(left) * len(right) * (_height(left) + _height(right) + 32) / 8)
    return left * right


def _raised(value: Any, size: int) -> Any:
    terms = comb(len(value) + size - 1, size) if len(value) > 1 else 1
    if terms > MAX_TERMS:
        raise OverBudget(f"more than {MAX_TERMS} terms")
    spend_exact(terms * len(value) * size * (_height(value) + 16) / 8)
    return value**size


def _quotients(left: Node, right: Node) -> tuple[Quotient, Quotient] | None:
    """Both expressions as quotients in the variables of both; None where one is none, or where there are no variables."""
    names = tuple(sorted(symbols(left) | symbols(right)))
    if not names or len(names) > MAX_VARIABLES:
        return None
    first, second = to_quotient(left, names), to_quotient(right, names)
    return None if first is None or second is None else (first, second)


def same_rational_function(left: Node, right: Node) -> bool | None:
    """Whether two rational functions are equal, exactly; None where one is none.

    Raises:
        OverBudget, Unreadable: as `to_quotient`.
    """
    both = _quotients(left, right)
    if both is None:
        return None
    first, second = both
    return bool(_product(first[0], second[1]) == _product(second[0], first[1]))


def same_zeros(left: Node, right: Node, *, signed: bool = False) -> bool | None:
    """Whether two rational functions are equal up to a constant factor (positive where `signed`); None where undecided."""
    both = _quotients(left, right)
    if both is None:
        return None
    first, second = both
    if signed:  # a denominator that changes its sign may not be left out
        a, b = _product(first[0], second[1]), _product(second[0], first[1])
    else:
        a, b = _numerator(first), _numerator(second)
    if a == 0 or b == 0:
        return bool(a == b)
    factor = a.leading_coefficient() / b.leading_coefficient()
    return bool(a == b * factor) and (not signed or factor > 0)


def _numerator(value: Quotient) -> Any:
    common = value[0].gcd(value[1])
    return value[0] if common == 0 else value[0] / common
