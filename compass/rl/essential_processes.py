"""The processes that a training run cannot do without: Ray's own, vLLM's engines, and the trainer's ranks.

When one of them dies, the run stands still until Ray or verl notices: up to half a minute.
"""

from __future__ import annotations

import time

import psutil

RAY = ("raylet", "gcs_server")
ENGINE = ("VLLM::EngineCore", "ray::GroupServer", "ray::vLLMHttpServer")
"""Titles of vLLM's engine, and of the Ray actor in front of it: the project's or verl's."""
RANK = "ray::WorkerDict"
"""Title of a rank: verl's worker of the policy, its reference and its critic."""

GRACE_S = 2.0
"""Seconds between the end of such a process and the trainer's: at a training run's end, when all is saved, they go first."""


class EssentialProcesses:
    """Those that a trainer started; none of Ray's, or of an engine on another machine, where it joined a running cluster."""

    def __init__(self, trainer: int) -> None:
        self._trainer = trainer
        self.started: dict[int, psutil.Process] = {}
        """Every process below the trainer that was seen: those of one that has ended are nobody's children any more."""
        self._seen: dict[int, tuple[str, psutil.Process]] = {}
        self._missed_at = 0.0

    def lost(self) -> str:
        """What one that ended more than `GRACE_S` seconds ago was, while the trainer runs on; empty where none did."""
        try:
            descendants = psutil.Process(self._trainer).children(recursive=True)
        except psutil.NoSuchProcess:
            return ""
        for process in descendants:
            self.started[process.pid] = process
            if process.pid not in self._seen and (kind := _kind(process)):
                self._seen[process.pid] = kind, process
        ended = [kind for kind, process in self._seen.values() if not _runs(process)]
        if not ended:
            return ""
        self._missed_at = self._missed_at or time.monotonic()
        return ended[0] if time.monotonic() - self._missed_at >= GRACE_S else ""


def _kind(process: psutil.Process) -> str:
    """What an essential process is; empty for any other. A process takes its title some time after its start."""
    try:
        name = process.name()
        if name in RAY:
            return f"Ray's {name}"
        title = " ".join(process.cmdline()[:1])
    except psutil.Error:
        return ""
    if title.startswith(RANK):
        return "a rank of the trainer"
    return "vLLM's engine" if title.startswith(ENGINE) else ""


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
