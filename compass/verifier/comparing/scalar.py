"""Single values: rational, algebraic, numeric, then by sympy; with their units, and rounded where the gold or the answer may be.

When a decimal stands for a number that it does not equal is the one rule in which gold and answer are not alike:

- A gold with a decimal point and at least three significant digits may be rounded. An answer that is exact and has no
  finite decimal form, or a decimal with at least two digits more, equals it when it rounds to it. For a decimal answer a gold in
  halves or quarters is exact.
- An answer with at least eight significant digits, none of them padding, may be a rounding of an exact gold that has no
  finite decimal form. One with fifteen to seventeen may be the print of a float: it need not be nearer than floats are to each other.
- Two decimals of fifteen to seventeen significant digits each may be such prints of the same value.
- Whole numbers are never roundings.
"""

from __future__ import annotations

from flint import arb, fmpq

from compass.verifier.comparing import sympy_client
from compass.verifier.comparing.evaluator import PRECISION, working_precision
from compass.verifier.comparing.exact import rational, same_rational_function
from compass.verifier.comparing.measures import (
    DEGREE,
    IN_DEGREES,
    MARKS,
    Measured,
    agree_vaguely,
    in_one_unit,
    peel,
    read_letters,
)
from compass.verifier.comparing.numeric import approximate, identical
from compass.verifier.reading.numbers import PlainNumber, move_point
from compass.verifier.reading.units import share_of
from compass.verifier.tree import (
    IMAGINARY,
    PI,
    WITHOUT_VALUE,
    BigOperator,
    Call,
    Constant,
    Negative,
    Node,
    Number,
    OverBudget,
    Power,
    Product,
    Quantity,
    Symbol,
    Unreadable,
    contains,
    infinite_sign,
    number,
    substitute,
    symbols,
    walk,
)
from compass.verifier.verdict import Finding, Leniency, lean

GOLD_DIGITS = 3
ANSWER_DIGITS = 8
FLOAT_DIGITS = range(15, 18)
"""With so many significant digits a decimal may be the print of a float, whose last one or two digits say nothing."""
FLOAT_ERROR = fmpq(1, 10**15)
"""How far, relative to its value, a result of a few operations on floats may be away: 2^-53 for each."""
EXTRA_DIGITS = 2
EXACT_PARTS = 4
"""A gold in halves or quarters is exact for a decimal answer: 12.5 is not 12.547 rounded."""


def decimal_parts(literal: str) -> tuple[int, int]:
    """Significant digits of a decimal text, and the power of ten of its last digit."""
    mantissa, _, exponent = literal.lower().partition("e")
    whole, _, decimals = mantissa.lstrip("+-").partition(".")
    return len((whole + decimals).lstrip("0")), int(exponent or 0) - len(decimals)


def terminates(value: fmpq) -> bool:
    """Whether a fraction has a finite decimal form."""
    bottom = int(value.q)
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    return bottom == 1


def _rounds_to(value: fmpq | arb, target: fmpq, last: int) -> bool:
    half = fmpq(10) ** last / 2
    with working_precision(PRECISION):
        return bool(abs(value - target) <= half)


def _same_float(one: fmpq | arb, other: fmpq) -> bool:
    """Whether two values are no further apart than floats of the same value may be."""
    with working_precision(PRECISION):
        return bool(abs(one - other) <= FLOAT_ERROR * abs(other))


def gold_is_rounded(gold: fmpq, literal: str, answer: fmpq | arb, answer_literal: str | None) -> bool:
    """Whether the answer rounds to a gold that may be rounded."""
    digits, last = decimal_parts(literal)
    if digits < GOLD_DIGITS or "." not in literal or literal.lower().partition("e")[0].endswith("."):
        return False
    if gold.q == 1 and last >= 0:
        return False
    if isinstance(answer, fmpq):
        if answer_literal is not None:
            if gold.q <= EXACT_PARTS or decimal_parts(answer_literal)[1] > last - EXTRA_DIGITS:
                return False
        elif terminates(answer):
            return False
    return _rounds_to(answer, gold, last)


def answer_is_rounded(gold: fmpq | arb, answer: fmpq, literal: str) -> bool:
    """Whether the answer is a long enough rounding of an exact gold that no decimal equals."""
    digits, last = decimal_parts(literal)
    if digits < ANSWER_DIGITS or (isinstance(gold, fmpq) and terminates(gold)):
        return False
    if digits in FLOAT_DIGITS and "." in literal and _same_float(gold, answer):
        return True
    return last < 0 and answer.q != 1 and _rounds_to(gold, answer, last)


def both_are_floats(gold: fmpq, literal: str, answer: fmpq, answer_literal: str) -> bool:
    """Whether two decimals are prints of floats of the same value."""
    are_prints = all(decimal_parts(text)[0] in FLOAT_DIGITS for text in (literal, answer_literal))
    return are_prints and gold.q > EXACT_PARTS and _same_float(gold, answer)


_NO_SCALAR = frozenset(WITHOUT_VALUE)
_TEN = number(10)
LEAST_BARE_PERCENT = 1
"""A bare number up to here is no percentage without its sign: `0.28` is 28%, not 0.28%."""


def compare(gold: Node, answer: Node) -> Finding:
    """Compare two single values, units and signs of percent and degree included.

    Raises:
        OverBudget, Unreadable: a side that cannot be evaluated.
    """
    if not contains(gold, *MARKS) and not contains(answer, *MARKS):
        return compare_values(gold, answer)
    one, two = peel(gold), peel(answer)
    if one.unit is None and two.unit is not None:
        one = read_letters(gold, two.unit) or one
    elif two.unit is None and one.unit is not None:
        two = read_letters(answer, one.unit) or two
    if any(contains(side.value, Quantity) for side in (one, two)):
        if gold == answer:
            return Finding(True, "structure", "the same expression")
        raise Unreadable("units inside an expression that do not make one unit")
    both = in_one_unit(one, two)
    if both is None:
        return Finding(False, "structure", f"{one.unit} against {two.unit}")
    finding = compare_values(*both)
    mark = one.unit or two.unit or ""
    share = share_of(mark)
    if finding.same and share is not None and _is_small(one, two):
        finding = Finding(False, "rational", "a number up to 1 is no percentage without its sign")
    if one.unit == two.unit or (one.unit is not None and two.unit is not None):
        if finding.same and one.unit != two.unit and agree_vaguely(one.unit, two.unit):
            lean(Leniency.UNIT)
        return finding
    leniency = Leniency.PERCENT if share is not None else Leniency.DEGREE if mark == DEGREE else Leniency.UNIT
    if finding.same:
        lean(leniency)
        return finding
    if leniency is Leniency.UNIT or (mark == DEGREE and not _is_angle(one.value if one.unit is None else two.value)):
        return finding
    second = compare_values(*(side.value if side.unit else _scaled(side.value, share) for side in (one, two)))
    if not second.same:
        return finding
    lean(leniency)
    return second


def _is_small(one: Measured, two: Measured) -> bool:
    """Whether one side is a percentage, or another share, and the other a bare number up to `LEAST_BARE_PERCENT`."""
    bare = one.value if one.unit is None else two.value if two.unit is None else None
    value = None if bare is None or symbols(bare) else rational(bare)
    return value is not None and 0 < abs(value) <= LEAST_BARE_PERCENT


def _is_angle(node: Node) -> bool:
    """Whether a value without a degree sign reads as an angle in radians: with a `\\pi` or an `\\arcsin` in it."""
    return any(part == PI or (isinstance(part, Call) and part.function.startswith("arc")) for part in walk(node))


def _scaled(node: Node, share: fmpq | None) -> Node:
    """A bare value in percent or another share, without one in degrees; a decimal keeps its digits, so that it can still be a rounded one."""
    if share is None:
        return Product((node, IN_DEGREES))
    if isinstance(node, Number):
        value, _, literal = move_point(PlainNumber(node.value, "", node.literal), len(str(share.q)) - 1)
        return Number(value, literal)
    return Product((number(1 / share), node))


def compare_values(gold: Node, answer: Node) -> Finding:
    """Compare two values without units."""
    if gold == answer:
        rational(gold)  # a division by zero or a number over budget equals nothing
        return Finding(True, "structure", "the same expression")
    for node in (gold, answer):
        if node.__class__ in _NO_SCALAR:
            raise Unreadable(f"a {node.kind} where a single value is expected")
    if contains(gold, Constant) or contains(answer, Constant):
        infinite = infinite_sign(gold), infinite_sign(answer)
        if any(infinite):
            return Finding(infinite[0] == infinite[1], "structure", "infinite")
    one, two = rational(gold), rational(answer)
    if one is not None and two is not None:
        return compare_numbers(one, literal_of(gold), two, literal_of(answer))
    names = symbols(gold), symbols(answer)
    if names[0] ^ names[1] == {"I"}:  # computer algebra writes the imaginary unit so
        return compare_values(*(substitute(node, Symbol("I"), IMAGINARY) for node in (gold, answer)))
    # between a constant and an expression algebra decides nothing that a point would not
    exact = None if bool(names[0]) != bool(names[1]) else _exact(gold, answer)
    if exact is not None:
        return Finding(exact, "algebra", "as rational functions")
    same = _numeric(gold, answer)
    if same is None and contains_big(gold, answer):
        return sympy_client.compare(gold, answer)
    if same is None:
        return Finding(None, "numeric", "no point where both are defined")
    if same or any(names):
        return Finding(same, "numeric", "equal at every point tried" if same else "different at a point")
    if _rounded(gold, one, answer, two):
        lean(Leniency.ROUNDING)
        return Finding(True, "numeric", "equal up to rounding")
    return Finding(False, "numeric", "different values")


def compare_numbers(gold: fmpq, gold_literal: str | None, answer: fmpq, answer_literal: str | None) -> Finding:
    """Compare two exact numbers; the literals are their decimal texts, if they have any."""
    if gold == answer:
        return Finding(True, "rational", f"both are {_shown(gold)}")
    if gold_literal is not None and gold_is_rounded(gold, gold_literal, answer, answer_literal):
        lean(Leniency.ROUNDING)
        return Finding(True, "rational", f"rounds to the gold {gold_literal}")
    if None not in (gold_literal, answer_literal) and both_are_floats(gold, gold_literal, answer, answer_literal):
        lean(Leniency.ROUNDING)
        return Finding(True, "rational", f"{answer_literal} is {gold_literal} to the precision of floats")
    if answer_literal is not None and gold_literal is None and answer_is_rounded(gold, answer, answer_literal):
        lean(Leniency.ROUNDING)
        return Finding(True, "rational", f"{answer_literal} is {_shown(gold)} rounded")
    return Finding(False, "rational", f"{_shown(gold)} against {_shown(answer)}")


def literal_of(node: Node) -> str | None:
    """The decimal text of a number written as one, `2.5` or `2.5 \\times 10^3`; None for anything else."""
    match node:
        case Number(_, literal):
            return literal
        case Negative(operand):
            inner = literal_of(operand)
            return None if inner is None else f"-{inner}"
        case Product((Number(value, literal), Power(base, raised))) if base == _TEN:
            exponent = rational(raised)
            if exponent is not None and exponent.q == 1 and "e" not in (literal or "").lower():
                return f"{literal or value}e{exponent}"
    return None


def contains_big(gold: Node, answer: Node) -> bool:
    """Whether a side holds a sum, an integral or a limit, which may have no numeric value here."""
    return contains(gold, BigOperator) or contains(answer, BigOperator)


def _numeric(gold: Node, answer: Node) -> bool | None:
    try:
        return identical(gold, answer)
    except OverBudget:
        raise
    except Unreadable:
        if contains_big(gold, answer):
            return None
        raise


def _exact(gold: Node, answer: Node) -> bool | None:
    try:
        return same_rational_function(gold, answer)
    except OverBudget:
        return None


def _shown(value: fmpq) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"a number of {len(text)} digits"


def _rounded(gold: Node, gold_value: fmpq | None, answer: Node, answer_value: fmpq | None) -> bool:
    """The rounding rule between a decimal and an irrational constant."""
    gold_literal, answer_literal = literal_of(gold), literal_of(answer)
    if gold_literal is not None and gold_value is not None and answer_value is None:
        value = approximate(answer)
        return value is not None and gold_is_rounded(gold_value, gold_literal, value, None)
    if answer_literal is not None and answer_value is not None and gold_value is None:
        value = approximate(gold)
        return value is not None and answer_is_rounded(value, answer_value, answer_literal)
    return False
