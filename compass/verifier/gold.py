"""What counts as right: a gold, other golds of which any is as good, and how far a number may be off.

    Gold("1/3", alternatives=("2/3",))     either answer is right
    Gold("4.2", tolerance="0.1")           4.1 to 4.3
    Gold("9.6", tolerance="1%")            at most 1% of 9.6 away

A gold may take the place of a text wherever the verifier takes one. The tolerance is asked only for answers that do not equal the gold, and
only for numbers: a real value, with a unit or without, or lists, tuples and intervals of such values, part by part, those with names by their
names. Nothing else ever counts as near: no formula in a variable, no word, no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from numbers import Real
from typing import NamedTuple, Self

from flint import arb, fmpq

from compass.verifier import budget
from compass.verifier.comparing.evaluator import PRECISION, working_precision
from compass.verifier.comparing.exact import rational
from compass.verifier.comparing.lists import compare_in_order, compare_lists
from compass.verifier.comparing.measures import MARKS, PERCENT, Measured, in_one_unit, peel, read_letters
from compass.verifier.comparing.numeric import approximate
from compass.verifier.comparing.real_sets import find_pieces
from compass.verifier.comparing.shapes import Shape, name_items, shape, split_name
from compass.verifier.reading.grammar import parse
from compass.verifier.reading.numbers import read_literal
from compass.verifier.reading.words import read_date, read_time
from compass.verifier.tree import Node, Product, Unreadable, contains, infinite_sign, number, symbols
from compass.verifier.verdict import Finding, Leniency, lean


class _Fields(NamedTuple):
    answer: str
    alternatives: tuple[str, ...] = ()
    tolerance: str | None = None


class Gold(_Fields):
    """A reference answer with all that its source accepts.

    Args:
        answer: text, or a number.
        alternatives: other answers, each right on its own: a text, or several. The parts of one answer, all of which are needed, are one
            text: `1, 2`.
        tolerance: how far a number may be off: `0.01` absolutely, `5%` of the gold; None asks for equality.

    Raises:
        TypeError: a field that holds something else than text and numbers; the message names it.
    """

    __slots__ = ()

    def __new__(
        cls, answer: str | Real, alternatives: str | Iterable[str | Real] = (), tolerance: str | Real | None = None
    ) -> Self:
        several = (alternatives,) if isinstance(alternatives, str | Real) else alternatives
        if not isinstance(several, Iterable) or isinstance(several, Mapping):
            raise TypeError(f"a gold's alternatives must be texts, found {type(several).__name__}")
        others = tuple(_write(one, "alternatives") for one in several)
        bound = None if tolerance is None else _write(tolerance, "tolerance")
        return super().__new__(cls, _write(answer, "answer"), others, bound)


def _write(value: object, field: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Real) and not isinstance(value, bool):
        return str(value)
    raise TypeError(f"a gold's {field} must be text, found {type(value).__name__}")


def split_alternatives(gold: str | Gold) -> tuple[str | Gold, ...]:
    """A gold as golds without alternatives; an answer is right if it equals one of them."""
    if isinstance(gold, str):
        return (gold,)
    texts = (gold.answer, *gold.alternatives)
    return texts if gold.tolerance is None else tuple(Gold(text, (), gold.tolerance) for text in texts)


def gold_text(gold: str | Gold) -> str:
    """The text of a gold, without what else is accepted."""
    return gold if isinstance(gold, str) else gold.answer


_WRITTEN = re.compile(r"(\d{1,30}(?:\.\d{1,30})?|\.\d{1,30})(?:e[+-]?\d{1,2})?(\s*%)?", re.IGNORECASE)


class ToleranceError(ValueError):
    """A tolerance that is none; the message says what may stand there."""


class Tolerance(NamedTuple):
    """How far a number may be off: an absolute bound, or a share of the gold."""

    bound: fmpq
    relative: bool

    def allows(self, gold: fmpq | arb, answer: fmpq | arb) -> bool:
        """Whether two real values are surely no further apart."""
        with working_precision(PRECISION):
            return bool(abs(answer - gold) <= (self.bound * abs(gold) if self.relative else self.bound))


@lru_cache(maxsize=256)
def read_tolerance(text: str) -> Tolerance:
    """A tolerance as written: `0.01`, `1e-2` or `5%`.

    Raises:
        ToleranceError: anything else, a negative number, or 100% and more, by which nearly any answer would be right.
    """
    match = _WRITTEN.fullmatch(text.strip())
    number = read_literal(match[0].rstrip("% ")).value if match else None
    if number is None or (match[2] and number >= 100):
        raise ToleranceError(
            f"tolerance {text[:40]!r}: expected a number, such as 0.01 or 1e-2, or a share of the gold below 100%, such as 5%"
        )
    return Tolerance(number / 100, True) if match[2] else Tolerance(number, False)


def compare_within(gold: str, answer: str, tolerance: Tolerance) -> Finding | None:
    """Whether an answer is near enough to a gold, both normalised; None where it is not, or is no number."""
    if any(look(text) is not None for look in (read_time, read_date) for text in (gold, answer)):
        return None
    budget.start()
    one, two = parse(gold), parse(answer)
    if isinstance(one, Unreadable) or isinstance(two, Unreadable):
        return None
    try:
        if not _near(one, two, tolerance):
            return None
    except Unreadable:
        return None
    lean(Leniency.TOLERANCE)
    return Finding(True, "numeric", "within the gold's tolerance")


def _near(gold: Node, answer: Node, tolerance: Tolerance) -> bool:
    (name, gold), (other, answer) = split_name(gold), split_name(answer)
    if name is not None and other is not None and name != other:
        return False
    one, two = shape(name_items(name, gold)), shape(name_items(other, answer))
    kinds = {one.kind, two.kind}
    if kinds == {"scalar"}:
        return _values(gold, answer, tolerance)
    if kinds <= {"list", "set", "tuple"}:
        return _near_lists(one, two, tolerance)
    return "scalar" not in kinds and _near_sets(gold, answer, tolerance)


def _near_lists(gold: Shape, answer: Shape, tolerance: Tolerance) -> bool:
    """Lists pair up as everywhere, by their names if they have any; without names also by size, where one number is near several."""

    def compare(one: Node, two: Node) -> Finding:
        return Finding(_near(one, two, tolerance), "numeric", "by the gold's tolerance")

    if not gold.items or len(gold.items) != len(answer.items):
        return False
    if compare_lists(gold, answer, compare).same:
        return True
    names = {*gold.names, *answer.names} - {""}
    if "tuple" in (gold.kind, answer.kind) or len(names) > 1:
        return False
    first, second = _by_size(gold.items), _by_size(answer.items)
    return bool(first and second) and bool(compare_in_order(first, second, compare).same)


def _near_sets(gold: Node, answer: Node, tolerance: Tolerance) -> bool:
    """Intervals and inequalities of one variable, whose ends are near and belong to both or to neither."""
    if symbols(gold) and symbols(answer) and symbols(gold) != symbols(answer):
        return False
    first, second = find_pieces(gold), find_pieces(answer)
    return (
        bool(first and second)
        and len(first) == len(second)
        and all(
            (one.low_closed, one.high_closed) == (two.low_closed, two.high_closed)
            and _near_ends(one.low, two.low, tolerance)
            and _near_ends(one.high, two.high, tolerance)
            for one, two in zip(first, second, strict=True)
        )
    )


def _near_ends(gold: Node, answer: Node, tolerance: Tolerance) -> bool:
    sign, other = infinite_sign(gold), infinite_sign(answer)
    return sign == other if sign or other else _values(gold, answer, tolerance)


def _by_size(items: tuple[Node, ...]) -> tuple[Node, ...]:
    """Numbers by their size, in which order two lists of near numbers pair up; nothing where some item is no number."""
    values = [_real(peel(item).value) for item in items]
    if any(value is None for value in values):
        return ()
    return tuple(item for _, item in sorted(zip(values, items, strict=True), key=lambda pair: float(pair[0])))


def _values(gold: Node, answer: Node, tolerance: Tolerance) -> bool:
    first, second = peel(gold), peel(answer)
    if first.unit is not None and second.unit is None:
        second = read_letters(answer, first.unit) or second
    if (first.unit, second.unit) in ((None, PERCENT), (PERCENT, None)) and _near_shares(first, second, tolerance):
        return True
    both = in_one_unit(first, second)
    if both is None:
        return False
    if both[0] == both[1]:
        return not symbols(gold)
    one, two = _real(both[0]), _real(both[1])
    return one is not None and two is not None and tolerance.allows(one, two)


def _near_shares(gold: Measured, answer: Measured, tolerance: Tolerance) -> bool:
    """Whether a percentage and a number are near as shares, in the gold's notation: 0.25 and 25.01%."""
    factor = number(fmpq(1, 100) if gold.unit is None else 100)
    one, two = _real(gold.value), _real(Product((factor, answer.value)))
    return one is not None and two is not None and tolerance.allows(one, two)


def _real(node: Node) -> fmpq | arb | None:
    """The value of a real constant, exact where it is rational; None for anything else."""
    if symbols(node) or contains(node, *MARKS):
        return None
    value = rational(node)
    return approximate(node) if value is None else value
