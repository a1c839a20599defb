"""Exact algebra on trees: rational constants, and rational functions as quotients of flint polynomials."""

from __future__ import annotations

from math import comb
from typing import Any

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from compass.verifier.budget import spend_exact, sums
from compass.verifier.comparing.arithmetic import FUNCTIONS, MAX_BITS, bits, check_size, power
from compass.verifier.contents import symbols, walk
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
)

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


def takes(function: str, arguments: int) -> bool:
    """Whether a function with a meaning takes that many arguments."""
    fewest, most = ARITY.get(function, (1, 1))
    return fewest <= arguments <= most


def _call(node: Call, bound: dict[str, fmpq] | None) -> fmpq | None:
    function = FUNCTIONS.get(node.function)
    if function is None or not takes(node.function, len(node.arguments)):
        return None
    # all of them, so that one beyond the budget stops the whole
    values = [_constant(part) if symbols(part) and not bound else rational(part, bound) for part in node.arguments]
    return None if any(value is None for value in values) else function(values)


def _constant(node: Node) -> fmpq | None:
    """The value of an expression whose variables cancel: `2y - y - y`."""
    names = tuple(sorted(symbols(node)))
    if len(names) > MAX_VARIABLES:
        return None
    value = quotient(node, names)
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


def quotient(node: Node, names: tuple[str, ...]) -> Quotient | None:
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
    first, second = quotient(left, names), quotient(right, names)
    return None if first is None or second is None else (first, second)


def same_function(left: Node, right: Node) -> bool | None:
    """Whether two rational functions are equal, exactly; None where one is none.

    Raises:
        OverBudget, Unreadable: as `quotient`.
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
