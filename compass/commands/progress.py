"""A bar with time left for commands that go through many rows; silent where the output is not a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from compass.progress import reported

T = TypeVar("T")


@contextmanager
def draw_progress(what: str) -> Iterator[None]:
    """Draw a bar of what the block reports through `compass.progress`, on a terminal alone."""
    from rich.console import Console

    from compass.runs.progress import follow_reports
    from compass.runs.progress_display import Display

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    display = Display(what, console)
    try:
        with follow_reports(display.show):
            yield
    finally:
        display.end()


def draw_items(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yield the items, with a bar of how many there were."""
    with draw_progress(what):
        yield from reported(items, total=total, unit="responses", phase="")
