"""A stage's progress on standard error: a bar with time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console

from compass.durations import duration
from compass.progress import Step

if TYPE_CHECKING:
    from rich.progress import Progress

    from compass.runs.progress import StageProgress

LINE_EVERY_S = 10.0
"""Seconds between two lines where the output is not a terminal."""


class Display:
    """Shows a stage's reports."""

    def __init__(self, stage: str, console: Console | None = None) -> None:
        self._stage = stage
        self._console = console or Console(stderr=True)
        self._printed_at = time.monotonic()
        self._printed: Any = None
        self._bar: Progress | None = None
        self._task: Any = None

    def show(self, step: Step, seconds_left: float | None) -> None:
        """Draw or print a step; call it about once per second."""
        if not (step.total or step.done):
            self.end()
        elif self._console.is_terminal:
            self._draw(step, seconds_left)
        elif time.monotonic() - self._printed_at >= LINE_EVERY_S and (step.phase, step.done) != self._printed:
            self._printed, self._printed_at = (step.phase, step.done), time.monotonic()
            line = f"{self._stage}: {describe_step(step, seconds_left)}"
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def end(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _draw(self, step: Step, seconds_left: float | None) -> None:
        if self._bar is None:
            self._bar, self._task = _bar(self._console)
            self._bar.start()
        about = f"{self._stage}: {step.phase}" if step.phase else self._stage
        left = "" if seconds_left is None else f"{duration(seconds_left)} left"
        counted = f"{count(step)}  {step.detail}".rstrip()
        self._bar.update(
            self._task, description=about, total=step.total, completed=step.done, counted=counted, left=left
        )
        self._bar.refresh()


def describe_step(step: Step | StageProgress, seconds_left: float | None) -> str:
    """`rollouts, 120 of 400 responses, 30 s left, 510 tokens/s`."""
    left = "" if seconds_left is None else f"{duration(seconds_left)} left"
    return ", ".join(filter(None, (step.phase, count(step), left, step.detail)))


def count(step: Step | StageProgress) -> str:
    """`120 of 400 rows`, or `120 rows` where the total is not known; of a share `12%`; empty where nothing is counted."""
    if not (step.done or step.total):
        return ""
    if step.unit == "percent":
        return f"{step.done:,.0f}%"
    of = "" if step.total is None else f" of {step.total:,.0f}"
    return f"{step.done:,.0f}{of} {step.unit}".rstrip()


def _bar(console: Console) -> tuple[Progress, Any]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[counted]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        console=console,
        auto_refresh=False,  # the thread that writes the file draws as well
        transient=True,
        redirect_stdout=sys.stdout.isatty(),  # what goes to a file or a pipe stays out of the terminal
    )
    return bar, bar.add_task("", total=None, counted="", left="")
