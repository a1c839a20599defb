"""Which pipeline run a stage belongs to, and whether a process that was seen before still runs."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def pipeline_key() -> str | None:
    """What the stages of one pipeline run have in common, None for a stage started by hand.

    `COMPASS_PIPELINE_RUN` where it is set (a caller that spreads one run over several `dvc` calls), else the nearest
    `dvc` process among this process's ancestors: DVC starts every stage itself and tells it nothing about the run.
    """
    if given := os.environ.get("COMPASS_PIPELINE_RUN"):
        return given
    import psutil

    for ancestor in psutil.Process().parents():
        try:
            words = ancestor.cmdline()[:3]
        except psutil.Error:  # it ended, or belongs to another user: not the one that started us
            continue
        if any(Path(word).name == "dvc" for word in words):
            return f"dvc-{socket.gethostname()}-{ancestor.pid}-{int(ancestor.create_time())}"
    return None


def process_key() -> str:
    """This process, told apart from a later one with the same number: `pid:create time`."""
    import psutil

    own = psutil.Process()
    return f"{own.pid}:{own.create_time():.2f}"


def process_runs(key: str) -> bool:
    """Whether the process of a `process_key` made on this host still runs."""
    import psutil

    pid, created = key.split(":")
    try:
        process = psutil.Process(int(pid))
        return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - float(created)) < 1
    except psutil.Error:
        return False
