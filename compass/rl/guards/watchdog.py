"""The watchdog: says where a run stands still, from a process that still runs.

A trainer that waits for a lost worker, a full queue or a verifier in a loop waits for ever. The stage's own process knows
when the last iteration ended, where the trainer said it was, and which processes there are.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from compass.rl.progress import read_progress

SHOWN = 8
"""How many processes a message names."""

TITLES = ("ray::", "VLLM::")
"""How the titles begin that Ray's actors and vLLM's engines give themselves."""


class Watchdog:
    """Fires once when an iteration takes far longer than those before it.

    Args:
        settings: `limit`, `least_seconds` and `start_seconds` of `rl.guards.watchdog`.
        progress: the file in which the trainer says where it is.
        trainer: its process id.
    """

    def __init__(self, settings: Mapping[str, Any], progress: Path, trainer: int) -> None:
        self.settings = settings
        self.progress = progress
        self.trainer = trainer
        self.seconds: list[float] = []
        self.last = time.monotonic()
        self.known: dict[int, str] = {}
        self.fired = False

    def iteration(self, metrics: Mapping[str, Any]) -> None:
        """An iteration ended; `metrics` are verl's."""
        self.seconds.append(float(metrics.get("timing_s/step") or 0.0))
        self.last = time.monotonic()
        self.fired = False
        if len(self.seconds) == 1:
            self.known = {process.pid: _name(process) for process in _processes(self.trainer)}

    @property
    def allowed(self) -> float:
        """Seconds that may pass until the next iteration ends."""
        if not self.seconds:
            return self.settings["start_seconds"]
        return max(self.settings["least_seconds"], self.settings["limit"] * median(self.seconds))

    def standstill(self) -> str | None:
        """What stands still, in words; None while all is well, and after it was told once."""
        waited = time.monotonic() - self.last
        if self.fired or waited <= self.allowed:
            return None
        self.fired = True
        usual = f"the median is {median(self.seconds):.0f} s" if self.seconds else "it is the first of this run"
        return (
            f"no iteration ended for {waited:.0f} s ({usual}, allowed are {self.allowed:.0f} s). {self._where()} "
            f"{self._who()} To do: look for the process that neither computes nor answers in the stage's train.log; run the "
            "stage again, it goes on from its last checkpoint"
        )

    def _where(self) -> str:
        told = read_progress(self.progress)
        if told is None:
            return "The trainer is still starting: engines, model and weights."
        detail = f" ({told['detail']})" if told["detail"] else ""
        return (
            f"The trainer is in iteration {told['step']}, phase `{told['phase']}`{detail}, and said so "
            f"{time.time() - told['at']:.0f} s ago."
        )

    def _who(self) -> str:
        processes = _processes(self.trainer)
        for process in processes:
            _percent(process)  # counts from its first call
        time.sleep(0.5)
        shown = sorted(((_percent(process), process) for process in processes), key=_interest)
        busy = "; ".join(
            f"{_name(process)} (pid {process.pid}) {_status(process)}, {percent:.0f}% of a core"
            for percent, process in shown[:SHOWN]
        )
        here = {process.pid for process in processes}
        gone = [f"{name} (pid {pid})" for pid, name in self.known.items() if pid not in here]
        lost = f" Ended since the first iteration: {'; '.join(gone[:SHOWN])}." if gone else ""
        return f"Its processes: {busy or 'none'}.{lost}"


def _interest(process: tuple[float, Any]) -> tuple[bool, bool, float]:
    """First what neither runs nor waits (stopped, dead), then actors, whose titles name the call they are in, then by load."""
    percent, one = process
    return _status(one) in ("running", "sleeping", "idle"), not _name(one).startswith(TITLES), -percent


def _processes(trainer: int) -> list[Any]:
    """The trainer and all that it started."""
    import psutil

    try:
        parent = psutil.Process(trainer)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _name(process: Any) -> str:
    """What a process is called: its title, or its program and the actor that started it."""
    import psutil

    try:
        words = process.cmdline()
        named = " ".join(words).strip()
        if named.startswith(TITLES):
            return named[:60]
        name = words[words.index("-m") + 1] if "-m" in words[:-1] else process.name()
        # vLLM's engine is a child of the actor that serves it, and on the CPU has the trainer's command line
        above = " ".join(process.parent().cmdline()).strip() if process.parent() else ""
        return f"{name} started by {above[:60]}" if above.startswith(TITLES) else name
    except psutil.Error:
        return "a process that just ended"


def _status(process: Any) -> str:
    import psutil

    try:
        return process.status()
    except psutil.Error:
        return "ended"


def _percent(process: Any) -> float:
    import psutil

    try:
        return process.cpu_percent()
    except psutil.Error:
        return 0.0
