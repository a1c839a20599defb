"""What ends a flow run from outside: a cancel on the server, the end of those who serve it, a time limit.

Prefect marks a run as cancelled and signals one process; where that process cannot be reached the mark is all that
happens. So every flow run looks for itself: at its own state on the server, and at the processes that started it. Whatever
ends it, the main thread gets SIGTERM, once, and then ends the process tree of DVC without being interrupted in that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

import psutil

from compass.processes import is_alive

LOOK_S = 1.0
"""Seconds between two looks at the processes and the time limit."""

ASK_S = 3.0
"""Seconds between two questions to the server."""

Reason = Literal["cancelled", "orphaned", "late"]


class Guardian:
    """Watches a flow run from a thread of its own, and interrupts the main thread when the run has to end."""

    def __init__(self, cancelled: Callable[[], bool], servers: list[psutil.Process]) -> None:
        """Args:
        cancelled: asks the server whether this run is to end; an exception means that it cannot be reached.
        servers: the processes that the run must not outlive.
        """
        self.reason: Reason | None = None
        """Why the run was interrupted; None while it was not, or for a signal from elsewhere."""
        self._cancelled = cancelled
        self._servers = servers
        self._deadline: float | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="guardian", daemon=True)

    def __enter__(self) -> Guardian:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def limit(self, seconds: float | None) -> None:
        """End the run so many seconds from now; None takes the limit away."""
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def _watch(self) -> None:
        asked = time.monotonic()
        while not self._over.wait(LOOK_S):
            if any(not is_alive(process) for process in self._servers):
                self._end("orphaned")
                return
            if self._deadline is not None and time.monotonic() > self._deadline:
                self._end("late")
                return
            if time.monotonic() - asked < ASK_S:
                continue
            with contextlib.suppress(Exception):  # a server that is down says nothing, and ends nothing
                if self._cancelled():
                    self._end("cancelled")
                    return
            asked = time.monotonic()

    def _end(self, reason: Reason) -> None:
        if not self._over.is_set():
            self.reason = reason
            os.kill(os.getpid(), signal.SIGTERM)


def serving_processes() -> list[psutil.Process]:
    """The ancestors of this process that belong to Prefect: the serving process or the worker, and what is between."""
    return [process for process in psutil.Process().parents() if _serves(process)]


@contextlib.contextmanager
def interrupted_once() -> Iterator[None]:
    """Let the first SIGTERM or SIGINT interrupt the main thread, and no second one: what it ends takes seconds to end.

    Prefect's runner sends SIGTERM while Ctrl-C, which reaches the whole foreground group, is being handled already.
    """
    before: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def once(number: int, frame: Any) -> None:
        for other in before:
            signal.signal(other, lambda *_: None)
        handler = before[number]
        if callable(handler):
            handler(number, frame)
        raise KeyboardInterrupt  # no handler of anyone's: as Ctrl-C does

    for number in before:
        signal.signal(number, once)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _serves(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        words = process.cmdline()
        return any(word in ("flows.deployments", "prefect.engine") or word.endswith("/prefect") for word in words)
    return False
