"""Load of the machine while a stage runs: processor, memory, disk, network and GPUs, as MLflow's own monitors measure them.

MLflow's recorder asks the server at every sample and stops for good when it is away; here samples go into the stage's record.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator
from typing import Any

INTERVAL_S = 10.0
"""Seconds between samples."""


class LoadSampler:
    """Measures the machine's load from sample to sample."""

    def __init__(self) -> None:
        import psutil

        psutil.cpu_percent()  # it measures from call to call
        self._monitors = list(_monitors())
        self._steps = itertools.count()
        self._next = time.monotonic() + INTERVAL_S

    def sample(self, *, now: bool = False) -> list[list[Any]]:
        """Name, value, time in milliseconds and step of each measure; nothing before `INTERVAL_S` seconds have passed, unless `now`."""
        if time.monotonic() < self._next and not now:
            return []
        self._next = time.monotonic() + INTERVAL_S
        values: dict[str, float] = {}
        for monitor in self._monitors:
            with contextlib.suppress(OSError):  # a sensor that is not readable for a moment
                monitor.collect_metrics()
                values |= monitor.aggregate_metrics()
                monitor.clear_metrics()
        at, step = int(time.time() * 1000), next(self._steps)
        # MLflow shows metrics of this prefix on a page of their own.
        return [[f"system/{name}", float(value), at, step] for name, value in values.items()]


def _monitors() -> Iterator[Any]:
    """MLflow's monitors of processor and memory, of disks, of the network, and of GPUs where there are any."""
    from mlflow.system_metrics.metrics.cpu_monitor import CPUMonitor
    from mlflow.system_metrics.metrics.disk_monitor import DiskMonitor
    from mlflow.system_metrics.metrics.gpu_monitor import GPUMonitor
    from mlflow.system_metrics.metrics.network_monitor import NetworkMonitor

    yield from (CPUMonitor(), DiskMonitor(), NetworkMonitor())
    with contextlib.suppress(Exception):  # whatever the driver's library raises where there is no driver
        yield GPUMonitor()
