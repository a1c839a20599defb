"""Which process is alive and the same as before, and which pipeline run a process belongs to."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil


def process_key() -> str:
    """This process, distinct from a later one with the same number: `pid:create time`."""
    import psutil

    own = psutil.Process()
    return f"{own.pid}:{own.create_time():.2f}"


def process_runs(key: str) -> bool:
    """Whether the process of a `process_key` made on this host still runs."""
    import psutil

    pid, created = key.split(":")
    try:
        process = psutil.Process(int(pid))
        return abs(process.create_time() - float(created)) < 1 and is_alive(process)
    except psutil.Error:
        return False


def is_alive(process: psutil.Process) -> bool:
    """Whether a process runs; a zombie does not."""
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def is_dvc(process: psutil.Process) -> bool:
    """Whether a process is a `dvc` command; False for one that has ended or belongs to another user."""
    import psutil

    try:
        return any(Path(word).name == "dvc" for word in process.cmdline()[:3])
    except psutil.Error:
        return False


def pipeline_key() -> str | None:
    """What the stages of one pipeline run have in common, None for a stage started by hand.

    `COMPASS_PIPELINE_RUN` where it is set, as `flows.run` does, else the nearest `dvc` process among this process's
    ancestors: DVC starts every stage itself and gives it no name of the run.
    """
    if given := os.environ.get("COMPASS_PIPELINE_RUN"):
        return given
    import psutil

    for ancestor in psutil.Process().parents():
        if is_dvc(ancestor):
            return f"dvc-{socket.gethostname()}-{ancestor.pid}-{int(ancestor.create_time())}"
    return None
