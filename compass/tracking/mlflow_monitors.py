"""MLflow's monitors of the machine, without its recorder."""

from __future__ import annotations

import contextlib
from typing import Any


def monitors() -> list[Any]:
    """A monitor of processor and memory, of disks, of the network, and of GPUs where there are any."""
    from mlflow.system_metrics.metrics.cpu_monitor import CPUMonitor
    from mlflow.system_metrics.metrics.disk_monitor import DiskMonitor
    from mlflow.system_metrics.metrics.gpu_monitor import GPUMonitor
    from mlflow.system_metrics.metrics.network_monitor import NetworkMonitor

    found: list[Any] = [CPUMonitor(), DiskMonitor(), NetworkMonitor()]
    with contextlib.suppress(Exception):  # whatever the driver's library raises where there is no driver
        found.append(GPUMonitor())
    return found
