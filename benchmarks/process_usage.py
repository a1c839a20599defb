"""Memory and processor time of this process and all below it (`benchmarks/curation_memory.py`, `benchmarks/dedup.py`)."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from types import TracebackType

import psutil


def held_mb() -> float:
    """What this process and all below it hold together, in MB: proportional set size, so that shared pages count once."""
    held = 0
    for process in _family():
        with suppress(psutil.Error):
            held += process.memory_full_info().pss
    return held / 1e6


class Usage:
    """Measures while its block runs.

    Attributes:
        before_mb, peak_mb: what all processes held at the start and at most, looked at several times a second.
        cpu: processor seconds that they used, without what short processes used after the last look at them.
        seconds: time by the clock.
    """

    def __init__(self) -> None:
        self.before_mb = self.peak_mb = self.cpu = self.seconds = 0.0
        self._times: dict[int, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Usage:
        self._look()
        self._used_before = sum(self._times.values())
        self.before_mb = self.peak_mb
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds = time.monotonic() - self._began
        self._ended.set()
        self._thread.join()
        self._look()
        self.cpu = sum(self._times.values()) - self._used_before

    def _watch(self) -> None:
        while not self._ended.wait(0.3):
            self._look()

    def _look(self) -> None:
        self.peak_mb = max(self.peak_mb, held_mb())
        for process in _family():
            with suppress(psutil.Error):
                times = process.cpu_times()
                self._times[process.pid] = times.user + times.system


def _family() -> list[psutil.Process]:
    return [psutil.Process(), *psutil.Process().children(recursive=True)]
