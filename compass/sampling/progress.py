"""Progress of sampling: a bar with time left and tokens per second, or a line now and then if the output is not a terminal."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from compass.progress import report

LINE_EVERY = 30.0
"""Seconds between two lines where the output is not a terminal."""

SHOWN_EVERY = 0.05
"""Seconds between two looks of the bar: responses come faster than anybody reads."""


class SamplingProgress:
    """Counts finished responses and their tokens while they come in; used as a context manager."""

    def __init__(self, what: str, *, total: int, done: int = 0, console: Console | None = None) -> None:
        """`total` responses of `what` are wanted; an earlier run left `done` of them."""
        self._console = console or Console(stderr=True)
        self._what, self._total, self._resumed, self._done = what, total, done, done
        self._tokens = 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[rate]}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(what, total=total, completed=done, rate="")

    def __enter__(self) -> SamplingProgress:
        self._began = self._said = self._shown = time.monotonic()
        self._bar.start()
        self._report()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self._show()
        self._bar.stop()
        if kind is None and self._done > self._resumed and not self._console.is_terminal:
            self._say()

    def advance(self, responses: int, tokens: int) -> None:
        """`responses` more have ended, with `tokens` tokens in all."""
        self._done += responses
        self._tokens += tokens
        if time.monotonic() - self._shown >= SHOWN_EVERY:
            self._show()
            if not self._console.is_terminal and self._shown - self._said >= LINE_EVERY:
                self._say()

    @property
    def tokens_per_second(self) -> float:
        """Sampled tokens per second of wall time since the start."""
        return self._tokens / max(time.monotonic() - self._began, 1e-9)

    def _show(self) -> None:
        self._shown = time.monotonic()
        self._bar.update(self._task, completed=self._done, rate=f"{self.tokens_per_second:,.0f} tokens/s")
        self._report()

    def _report(self) -> None:
        rate = f"{self.tokens_per_second:,.0f} tokens/s" if self._tokens else ""
        report(self._done, self._total, "responses", self._what, detail=rate, shown=True)

    def _say(self) -> None:
        self._said = time.monotonic()
        elapsed = self._said - self._began
        left = elapsed / (self._done - self._resumed) * (self._total - self._done)
        self._console.print(
            f"{self._what}: {self._done:,} of {self._total:,} responses, {elapsed:.0f} s, "
            f"{left:.0f} s left, {self.tokens_per_second:,.0f} tokens/s",
            highlight=False,
        )
