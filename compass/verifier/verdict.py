"""What the verifier answers: an outcome, the tier that decided, why, and the leniencies that it leans on.

A rule leans where two answers count as equal although they do not say exactly the same. It records that where it decides, with one call:

    if one_has_a_unit and values_agree:
        lean(Leniency.UNIT)
        return Finding(True, "rational", "a unit on one side only")

`verify` starts with nothing recorded and puts what an `equal` verdict leaned on into `Verdict.leniencies`; what led to no
equality is forgotten. Rules for rules:

- call `lean` only where the rule makes two sides equal that would otherwise differ, so that a verdict without leniencies
  is one that any strict reader would give;
- a rule that tries something, records, and then tries another way calls `mark` first and `rewind` before the second try;
- `lean` works while text is read as well (`parse` remembers what it recorded with the tree), but not in `normalise` and
  `read_plain_number`, whose results are cached without it.

The record is one whole number per thread, so it costs some 0.1 µs per verdict.
"""

from __future__ import annotations

import threading
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple


class Leniency(StrEnum):
    """The ways in which a verdict may lean; the value is the name in metrics and records."""

    UNIT = "unit"
    """Only one side gives a unit or a currency, or a unit that says nothing ("units")."""
    PERCENT = "percent"
    """Only one side has a percent sign, or another sign of a share: 50% taken as 50 or as 0.5, 5‰ as 5 or as 0.005."""
    DEGREE = "degree"
    """Only one side has a degree sign, or degrees against radians."""
    ROUNDING = "rounding"
    """A decimal stands for a number that it does not equal."""
    CONTAINER = "container"
    """A list, a set, a tuple, a vector or a matrix that is written as another of them."""
    WORDING = "wording"
    """Other words for the same, or words that were passed over."""
    NAME = "name"
    """Only one side names the value (`x = 5` and `5`), or the two call a variable differently."""
    CHOICE = "choice"
    """The letter of a choice for its value, or the value for its letter."""
    CONDITION = "condition"
    """A condition or a domain that only one side gives: `k \\in \\mathbb{Z}`, "for all x"."""
    APPROXIMATE = "approximate"
    """One side is marked as approximate: "about 5"."""
    TOLERANCE = "tolerance"
    """A number that is no further from the gold than the gold's own tolerance allows."""


_BITS = {leniency: 1 << at for at, leniency in enumerate(Leniency)}


class _Record(threading.local):
    leaned = 0


_record = _Record()


def lean(leniency: Leniency) -> None:
    """Record that this comparison leans on a rule."""
    _record.leaned |= _BITS[leniency]


def mark() -> int:
    """What is recorded so far, for `rewind`."""
    return _record.leaned


def rewind(marked: int = 0) -> int:
    """Go back to what was recorded at a `mark`, or to nothing; returns what was recorded until now."""
    leaned, _record.leaned = _record.leaned, marked
    return leaned


@lru_cache(maxsize=1 << len(Leniency))
def list_leniencies(leaned: int) -> tuple[Leniency, ...]:
    """The leniencies in a record, in the order of `Leniency`."""
    return tuple(leniency for leniency, bit in _BITS.items() if leaned & bit)


class Outcome(StrEnum):
    """The three answers. `unrecognised` never earns a reward: what cannot be read is never equal."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNRECOGNISED = "unrecognised"


class Verdict(NamedTuple):
    """The outcome of one comparison.

    `method` names the tier that decided: `text`, `rational`, `structure`, `algebra`, `numeric`, `sympy`, `budget`.
    `detail` says why in a few words, for a person. `leniencies` names the rules that an `equal` verdict leans on; a verdict
    without them is one that a strict reader would give too.
    """

    outcome: Outcome
    method: str
    detail: str = ""
    leniencies: tuple[Leniency, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether the answer earns a reward."""
        return self.outcome is Outcome.EQUAL


class Finding(NamedTuple):
    """What a comparison found: `same` is None where nothing decided; then `detail` says why."""

    same: bool | None
    method: str
    detail: str = ""
