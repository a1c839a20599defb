"""Load of the machine while a stage runs: processor, memory, disk, network and GPUs, as MLflow's own monitors measure them.

MLflow's recorder asks the server at every sample and stops for good when it is away; here samples go into the stage's record.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

INTERVAL_S = 10.0
"""Seconds between samples; `MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL` sets others."""

PREFIX = "system/"
"""Before a metric's name: MLflow shows these on a page of their own."""


class Sampler:
    """Samples in a thread, as long as the block runs."""

    def __init__(self, record: Callable[[list[list[Any]]], object]) -> None:
        """`record` gets the samples: name, value, time in milliseconds and step of each."""
        self._record = record
        self._stop = threading.Event()
        self._monitors: list[Any] = []
        self._thread = threading.Thread(target=self._run, name="system metrics", daemon=True)

    def __enter__(self) -> Sampler:
        import psutil

        self._monitors = list(_monitors())
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
        self._record([[f"{PREFIX}{name}", float(value), now, step] for name, value in values.items()])


def _monitors() -> Iterator[Any]:
    """MLflow's monitors of processor and memory, of disks, of the network, and of GPUs where there are any."""
    from mlflow.system_metrics.metrics.cpu_monitor import CPUMonitor
    from mlflow.system_metrics.metrics.disk_monitor import DiskMonitor
    from mlflow.system_metrics.metrics.gpu_monitor import GPUMonitor
    from mlflow.system_metrics.metrics.network_monitor import NetworkMonitor

    yield from (CPUMonitor(), DiskMonitor(), NetworkMonitor())
    with contextlib.suppress(Exception):  # whatever the driver's library raises where there is no driver
        yield GPUMonitor()
