"""Progress of commands that go through many rows or sample: a bar with time left on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from compass.progress import reported

T = TypeVar("T")


@contextmanager
def draw_progress(what: str, *, lines: bool = False) -> Iterator[None]:
    """Draw a bar of what the block reports through `compass.progress`; where there is no terminal, with `lines` a line now and then."""
    from rich.console import Console

    from compass.runs.progress import follow_reports
    from compass.runs.progress_display import Display

    console = Console(stderr=True)
    if not (console.is_terminal or lines):
        yield
        return
    display = Display(what, console)
    try:
        with follow_reports(display.show):
            yield
    finally:
        display.end()


def draw_items(items: Iterable[T], total: int, what: str, *, unit: str = "responses") -> Iterator[T]:
    """Yield the items, with a bar of how many there were; where there is no terminal, a line now and then."""
    with draw_progress(what, lines=True):
        yield from reported(items, total=total, unit=unit, phase="")
