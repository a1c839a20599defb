"""The notice that a machine is taken away: SIGTERM to an RL stage has its trainer save a checkpoint before the stage ends.

The stage's process catches the signal and lays down a file, for Ray and vLLM have handlers of their own for signals. The trainer looks
for the file where its weights are those of a whole iteration: while responses are sampled, before each part of the iteration that comes
before its update, and after the update. It saves that iteration, writes which one it is into a second file, removes the first, and ends.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from compass.files import write_json


class Noticed(Exception):
    """The trainer found a notice, and ends."""


@contextmanager
def wait_for_notice() -> Iterator[Callable[[], bool]]:
    """Catch SIGTERM in the block; gives a function that says whether it came. A second SIGTERM ends the process, as the first does elsewhere."""
    came = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield came.is_set  # signals reach the main thread alone
        return

    def note(number: int, frame: object) -> None:
        came.set()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    before = signal.signal(signal.SIGTERM, note)
    try:
        yield came.is_set
    finally:
        signal.signal(signal.SIGTERM, before)


def check_notice(path: Path) -> None:
    """Raise `Noticed` where the stage's process has laid down the file `path`."""
    if path.exists():
        raise Noticed


def answer_notice(notice: Path, stopped: Path, step: int) -> None:
    """Record the iteration that the trainer ends after, whose checkpoint is whole, and take the notice away."""
    write_json(stopped, {"step": step})
    notice.unlink()


def read_stopped(path: Path) -> int | None:
    """The iteration that the last trainer with a notice ended after; None where there was none."""
    return json.loads(path.read_text(encoding="utf-8"))["step"] if path.exists() else None
