"""How far a piece of work is: told by the code that works, heard by whoever asked to hear it.

    for row in reported(rows, total=len(rows), unit="rows", phase="reading"):
        ...
    report(3, 20, "iterations", "rollout")

Where nobody listens, as in a library call or a worker process, telling costs a look-up and nothing else. Whoever listens
is found through a context variable, so that code which decides results imports nothing that shows or stores them.
`compass.runs.progress` listens while a stage runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """What was told last: `done` of `total` (None where it is not known) in `unit`, in the part of the work named `phase`.

    `detail` is free text, such as a rate. `shown`: the teller draws it on the terminal itself.
    """

    done: float = 0
    total: float | None = None
    unit: str = ""
    phase: str = ""
    detail: str = ""
    shown: bool = False


class Listener(Protocol):
    """Hears every report; called in the working thread, so it returns at once."""

    last: Step

    def hear(self, step: Step) -> None: ...


_listener: ContextVar[Listener | None] = ContextVar("progress", default=None)


def report(
    done: float, total: float | None = None, unit: str = "", phase: str = "", *, detail: str = "", shown: bool = False
) -> None:
    """Tell how far the work is.

    Args:
        done: units that are done, those of an earlier run included.
        total: units in all; None where that is not known.
        unit: what is counted, in the plural: `rows`, `responses`.
        phase: the part of the work that this is.
        detail: what else is worth a glance, such as a rate.
        shown: the caller draws its own bar, so a terminal needs no other.
    """
    listener = _listener.get()
    if listener is not None:
        listener.hear(Step(done, total, unit, phase, detail, shown))


def report_phase(phase: str) -> None:
    """Tell which part of the work begins; nothing of it can be counted."""
    report(0, phase=phase)


def reported(items: Iterable[T], *, total: int | None, unit: str, phase: str) -> Iterator[T]:
    """The items as they come; each counts as done when the next one is asked for."""
    if _listener.get() is None:
        yield from items
        return
    done = 0
    report(done, total, unit, phase)
    for item in items:
        yield item
        done += 1
        report(done, total, unit, phase)


@contextmanager
def listening(listener: Listener | Any) -> Iterator[None]:
    """Have `listener` hear every report of the block, in this thread."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
