"""When a decimal stands for a number that it does not equal: the one rule in which gold and answer are not alike.

- A gold with a decimal point and at least three significant digits may be rounded. An answer that is exact and has no
  finite decimal form, or a decimal with at least two digits more, equals it when it rounds to it. For a decimal answer a gold in
  halves or quarters is exact.
- An answer with at least eight significant digits, none of them padding, may be a rounding of an exact gold that has no
  finite decimal form.
- Whole numbers are never roundings.
"""

from __future__ import annotations

from flint import arb, fmpq

from compass.verifier.comparing.balls import PRECISION, working_precision

GOLD_DIGITS = 3
ANSWER_DIGITS = 8
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
    if digits < ANSWER_DIGITS or last >= 0 or answer.q == 1:
        return False
    if isinstance(gold, fmpq) and terminates(gold):
        return False
    return _rounds_to(gold, answer, last)
