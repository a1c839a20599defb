"""Ray's own processes on this machine. When one of them dies, a training run stands still until Ray notices: up to half a minute."""

from __future__ import annotations

import time

import psutil

NAMES = ("raylet", "gcs_server")
GRACE_S = 5.0
"""Seconds between the end of a process of Ray and the trainer's: at a training run's end Ray's go first."""


class RayProcesses:
    """Those that a trainer started; none where it joined a running cluster."""

    def __init__(self, trainer: int) -> None:
        self._trainer = trainer
        self._seen: dict[int, tuple[str, psutil.Process]] = {}
        self._missed_at = 0.0

    def lost(self) -> str:
        """The name of one that ended more than `GRACE_S` seconds ago while the trainer runs on; empty where none did."""
        try:
            for child in psutil.Process(self._trainer).children():
                if child.pid not in self._seen and child.name() in NAMES:
                    self._seen[child.pid] = child.name(), child
        except psutil.NoSuchProcess:
            return ""
        ended = [name for name, process in self._seen.values() if not _runs(process)]
        if not ended:
            return ""
        self._missed_at = self._missed_at or time.monotonic()
        return ended[0] if time.monotonic() - self._missed_at >= GRACE_S else ""


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
