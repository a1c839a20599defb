"""Ctrl-C, `kill` and a closed terminal as one exception, after one line that says what happens."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType


class Stopped(KeyboardInterrupt):
    """The user, or the system, asked the run to end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_status = 128 + number
        """130 after Ctrl-C, as shells count it."""


@contextlib.contextmanager
def stoppable(said: str) -> Iterator[None]:
    """Raise `Stopped` in the block where this process is asked to end.

    Args:
        said: the line that is printed first; ending a stage takes seconds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread alone
        return

    told = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal told
        if not told:
            told = True
            print(f"\n{said}", file=sys.stderr, flush=True)
        raise Stopped(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
