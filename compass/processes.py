"""Which process is which: whether one still runs, whether it is the one that was seen before, and which run it belongs to."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Collection
from pathlib import Path

import psutil


def is_alive(process: psutil.Process) -> bool:
    """Whether a process runs, and no later one has its number; a zombie does not run."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until_ended(processes: Collection[psutil.Process], seconds: float) -> bool:
    """Whether all of them end within so many seconds, others' zombies included, for which `psutil.wait_procs` would wait on."""
    deadline = time.monotonic() + seconds
    while any(map(is_alive, processes)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def find_start(pid: int) -> float:
    """Seconds from the machine's start to that of a process, which with its number tell it apart from a later one until the machine starts anew.

    Its time of day would not: it changes for a running process where the clock is set, or a virtual machine goes on after a pause.

    Raises:
        psutil.NoSuchProcess: there is none.
    """
    return psutil.Process(pid).create_time() - psutil.boot_time()  # both move with the clock


def process_key() -> str:
    """This process, told apart from a later one with the same number: `pid:start`, as `find_start` has it."""
    return f"{os.getpid()}:{find_start(os.getpid()):.2f}"


def process_runs(key: str) -> bool:
    """Whether the process of a `process_key` made on this host still runs."""
    pid, start = key.split(":")
    try:
        return is_alive(psutil.Process(int(pid))) and abs(find_start(int(pid)) - float(start)) < 0.1
    except psutil.Error:
        return False


def read_command(process: psutil.Process) -> list[str]:
    """The words of a process's command line; none for one that has ended or belongs to another user."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def is_dvc(process: psutil.Process) -> bool:
    """Whether a process is a `dvc` command."""
    return any(Path(word).name == "dvc" for word in read_command(process)[:3])


def pipeline_key() -> str | None:
    """What the stages of one pipeline run have in common, None for a stage started by hand.

    `COMPASS_PIPELINE_RUN` where it is set, else the nearest `dvc` process among this process's ancestors: DVC starts every
    stage itself and passes nothing about the run.
    """
    if given := os.environ.get("COMPASS_PIPELINE_RUN"):
        return given
    for ancestor in psutil.Process().parents():
        if is_dvc(ancestor):
            return f"dvc-{socket.gethostname()}-{ancestor.pid}-{find_start(ancestor.pid):.2f}"
    return None


def pipeline_has_ended(key: str) -> bool:
    """Whether the process that a `pipeline_key` of this host names is gone; False for a key of another host or form."""
    found = re.fullmatch(rf"(?:run|dvc)-{re.escape(socket.gethostname())}-(\d+)-([\d.]+)(?:-\d+)?", key)
    return found is not None and not process_runs(f"{found[1]}:{found[2]}")


def new_pipeline_key() -> str:
    """A key as `pipeline_key` has it, for a run that this process starts now; it may start several."""
    return f"run-{socket.gethostname()}-{process_key().replace(':', '-')}-{time.time_ns()}"
