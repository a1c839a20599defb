"""A bar with time left for commands that go through many rows; silent where the output is not a terminal."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from compass.progress import Step, reported, send_reports

T = TypeVar("T")

EVERY_S = 0.5
"""Seconds between two drawings of a bar."""


@contextmanager
def draw_progress(what: str) -> Iterator[None]:
    """Draw a bar of what the block reports through `compass.progress`, on a terminal alone."""
    from rich.console import Console

    from compass.runs.progress import Speed
    from compass.runs.progress_display import Display

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    last, ended, speed, display = [Step()], threading.Event(), Speed(), Display(what, console)

    def draw() -> None:
        while not ended.wait(EVERY_S):
            speed.note(now := time.monotonic(), last[0])
            display.show(last[0], speed.seconds_left(now))
        display.end()

    drawer = threading.Thread(target=draw, name="progress", daemon=True)
    drawer.start()
    try:
        with send_reports(lambda step: last.__setitem__(0, step)):
            yield
    finally:
        ended.set()
        drawer.join()


def draw_items(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yield the items, with a bar of how many there were."""
    with draw_progress(what):
        yield from reported(items, total=total, unit="responses", phase="")
