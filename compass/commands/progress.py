"""A bar with time left for commands that go through many rows; silent where the output is not a terminal."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from compass.progress import Step, listening

T = TypeVar("T")

EVERY_S = 0.5
"""Seconds between two drawings of a bar."""


@contextmanager
def told(what: str) -> Iterator[None]:
    """Draw a bar of whatever the block tells through `compass.progress`, on a terminal alone."""
    from rich.console import Console

    from compass.runs.progress import Speed
    from compass.runs.progress_display import Display

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    heard, ended, speed, display = _Heard(), threading.Event(), Speed(), Display(what, console)

    def draw() -> None:
        while not ended.wait(EVERY_S):
            speed.note(now := time.monotonic(), heard.last)
            display.show(heard.last, speed.seconds_left(now))
        display.end()

    drawer = threading.Thread(target=draw, name="progress", daemon=True)
    drawer.start()
    try:
        with listening(heard):
            yield
    finally:
        ended.set()
        drawer.join()


class _Heard:
    """Keeps what was told last."""

    last = Step()

    def hear(self, step: Step) -> None:
        self.last = step


def counted(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The items as they come, with a bar on standard error."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        for item in items:
            yield item
            bar.advance(task)
