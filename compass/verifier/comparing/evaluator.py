"""Values of expressions at a point, as balls, under budgets of magnitude and work."""

from __future__ import annotations

import math
from typing import Any
from zlib import crc32

from flint import acb, arb, ctx

from compass.verifier.budget import spend_numeric
from compass.verifier.comparing.arithmetic import bits
from compass.verifier.comparing.balls import (
    COMPLEX_NUMBERS,
    FUNCTIONS,
    REALS,
    Undefined,
    digits,
    finite,
    inverse,
    magnitude,
    size,
    unknown_function,
    whole_number,
)
from compass.verifier.comparing.exact import MAX_SUM_TERMS, rational, takes
from compass.verifier.contents import symbols
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
)

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
            return inverse(finite(value**-exponent))
        return finite(value**exponent)

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
        return finite(logarithm.exp())

    def _call(self, node: Call) -> Any:
        name, arguments = node.function, node.arguments
        if name in JUMPING:
            spend_numeric(EXACT_ARGUMENT * len(arguments))
            exact = rational(node)
            if exact is not None:
                return self.ball(exact)
            if name in ("gcd", "lcm") and len(set(arguments)) == 1:
                return self.value(arguments[0])
        values = [self.value(part) for part in arguments]
        function = FUNCTIONS.get(name)
        if function is None:
            return self._unknown(name, values)
        if not takes(name, len(values)):
            raise Unreadable(f"{name} of {len(values)} values")
        if name == "erf":
            self._spend(size(values[0]) ** 2 * 3)
        elif name in _EXPONENTIALS:
            self._spend(size(values[0]) * 3)
        elif name in _PERIODIC:
            self._spend(magnitude(values[0]))
        spend_numeric(3 * self.gamma_work if name in _GAMMAS else self.function_work)
        value = finite(function(self.field, *values))
        if name in _GAMMAS:
            self._spend(magnitude(value))
        return value

    def _unknown(self, name: str, values: list[Any]) -> Any:
        """A function without a meaning: a value that depends on its name and arguments alone."""
        return unknown_function(self.field, crc32(";".join([name, *map(digits, values)]).encode()))

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
