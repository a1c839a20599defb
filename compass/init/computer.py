"""What this machine has: cores, memory, GPUs."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

from compass.checks.devices import visible_gpus
from compass.machine import cores


@dataclass(frozen=True)
class Computer:
    """The machine that the parameters are for."""

    cores: int
    memory_gb: float
    gpus: int
    gpu_memory_gb: float
    """Of the smallest GPU; 0 without GPUs, or where nothing tells."""

    def __str__(self) -> str:
        gpus = f"{self.gpus} GPU{'s' if self.gpus > 1 else ''}" if self.gpus else "no GPU"
        each = f" with {self.gpu_memory_gb:.0f} GB{' each' if self.gpus > 1 else ''}" if self.gpu_memory_gb else ""
        return f"{self.cores} cores, {self.memory_gb:.0f} GB of memory, {gpus}{each}"


def this_computer() -> Computer:
    """The machine that this runs on."""
    import psutil

    gpus = visible_gpus()
    return Computer(cores(), psutil.virtual_memory().total / 1e9, gpus, _gpu_memory() if gpus else 0.0)


def _gpu_memory() -> float:
    if not shutil.which("nvidia-smi"):
        return 0.0
    asked = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    told = subprocess.run(asked, capture_output=True, text=True, timeout=30)
    sizes = [float(line) for line in told.stdout.splitlines() if line.strip().replace(".", "").isdigit()]
    return min(sizes, default=0.0) * 2**20 / 1e9
