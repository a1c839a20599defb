"""Progress reports from running code to one receiver.

    for row in reported(rows, total=len(rows), unit="rows", phase="reading"):
        ...
    report(3, 20, "iterations", "rollout")

The receiver is a function in a context variable, so that code which decides results imports nothing that shows or stores
them. Without one, as in a library call or a worker process, a report costs a look-up. `compass.runs.progress` sets one while a stage
runs, `compass.commands.progress` one that draws a bar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """One report: `done` of `total` (None where it is not known) in `unit`, in the part of the work named `phase`.

    `detail` is free text, such as a rate.
    """

    done: float = 0
    total: float | None = None
    unit: str = ""
    phase: str = ""
    detail: str = ""


_receiver: ContextVar[Callable[[Step], None] | None] = ContextVar("progress", default=None)


def report(done: float, total: float | None = None, unit: str = "", phase: str = "", *, detail: str = "") -> None:
    """Report how far the work is.

    Args:
        done: units that are done, those of an earlier run included.
        total: units in all; None where that is not known.
        unit: what is counted, in the plural: `rows`, `responses`.
        phase: the part of the work that this is.
        detail: what else is worth a glance, such as a rate.
    """
    if (receive := _receiver.get()) is not None:
        receive(Step(done, total, unit, phase, detail))


def report_phase(phase: str) -> None:
    """Report that a part of the work begins of which nothing can be counted."""
    report(0, phase=phase)


def reported(items: Iterable[T], *, total: int | None, unit: str, phase: str) -> Iterator[T]:
    """Yield the items and report them; each counts as done when the next one is asked for."""
    if _receiver.get() is None:
        yield from items
        return
    done = 0
    report(done, total, unit, phase)
    for item in items:
        yield item
        done += 1
        report(done, total, unit, phase)


@contextmanager
def send_reports(receive: Callable[[Step], None]) -> Iterator[None]:
    """Send every report of the block in this thread to `receive`, which returns at once: it is called in the working thread."""
    token = _receiver.set(receive)
    try:
        yield
    finally:
        _receiver.reset(token)
