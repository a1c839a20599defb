"""Load of the machine while a stage runs: processor, memory, disk, network and GPUs, as MLflow's own monitors measure them.

MLflow's recorder asks the server at every sample and stops for good when it is away; here samples go into the journal.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from types import TracebackType
from typing import Any

from compass.tracking.journal import Journal

INTERVAL_S = 10.0
"""Seconds between samples; `MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL` sets others."""

PREFIX = "system/"
"""Before a metric's name: MLflow shows these on a page of their own."""


class Sampler:
    """Samples in a thread, as long as the block runs."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._stop = threading.Event()
        self._monitors: list[Any] = []
        self._thread = threading.Thread(target=self._run, name="system metrics", daemon=True)

    def __enter__(self) -> Sampler:
        import psutil

        from compass.tracking.mlflow_monitors import monitors

        self._monitors = monitors()
        psutil.cpu_percent()  # it measures from call to call
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        interval = float(os.environ.get("MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL") or INTERVAL_S)
        for step in itertools.count():
            ended = self._stop.wait(interval)
            self._sample(step)
            if ended:  # a stage shorter than the interval has one sample
                return

    def _sample(self, step: int) -> None:
        values: dict[str, float] = {}
        for monitor in self._monitors:
            with contextlib.suppress(OSError):  # a sensor that is not readable for a moment
                monitor.collect_metrics()
                values |= monitor.aggregate_metrics()
                monitor.clear_metrics()
        now = int(time.time() * 1000)
        points = [[f"{PREFIX}{name}", float(value), now, step] for name, value in values.items()]
        self.journal.write("metrics", on="run", values=points)
