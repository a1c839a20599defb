"""How much arithmetic one verdict may take, counted where it is done.

Every single number and polynomial has a bound of its own, but an answer can hold hundreds of them. The count depends on
the two texts alone: a clock would give another verdict on a busy machine.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

from flint import fmpq

from compass.verifier.tree import Node, OverBudget

MAX_EXACT = 4_000_000
"""Bits touched by divisions and common divisors, at a few nanoseconds each; cheaper steps count for less."""

MAX_NUMERIC = 3_000_000
"""Hundredths of a microsecond that ball arithmetic takes, by the precision it is worked out with."""


class _Done(threading.local):
    exact = 0.0
    numeric = 0.0

    def __init__(self) -> None:
        self.sums: dict[Node, fmpq | None] = {}


_done = _Done()


def start() -> None:
    """Begin a verdict in this thread."""
    _done.exact = _done.numeric = 0.0
    _done.sums.clear()


class Spent(NamedTuple):
    """Work counted so far, in the units of `MAX_EXACT` and `MAX_NUMERIC`."""

    exact: float
    numeric: float


def spent() -> Spent:
    """The work of this thread's latest verdict."""
    return Spent(_done.exact, _done.numeric)


def sums() -> dict[Node, fmpq | None]:
    """The sums and products of many terms that this verdict has worked out; kept no longer, so that the budget of a
    verdict never depends on those before it."""
    return _done.sums


def spend_exact(amount: float) -> None:
    """Count exact arithmetic.

    Raises:
        OverBudget: this verdict has used more than `MAX_EXACT`.
    """
    _done.exact += amount
    if _done.exact > MAX_EXACT:
        raise OverBudget("more exact arithmetic than the budget allows")


def spend_numeric(amount: float) -> None:
    """Count ball arithmetic.

    Raises:
        OverBudget: this verdict has used more than `MAX_NUMERIC`.
    """
    _done.numeric += amount
    if _done.numeric > MAX_NUMERIC:
        raise OverBudget("more numeric work than the budget allows")
