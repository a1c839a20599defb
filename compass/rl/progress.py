"""The trainer's step and phase, for the process that watches it: one small JSON file, replaced at every change."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any


class Progress:
    """The trainer's side.

    Args:
        path: the file, in a folder that exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state: dict[str, Any] = {"step": 0, "phase": "", "detail": ""}

    def write(self, *, step: int | None = None, phase: str | None = None, detail: str = "") -> None:
        """Write what changed; nothing is written where nothing did."""
        state = {
            "step": self._state["step"] if step is None else step,
            "phase": self._state["phase"] if phase is None else phase,
            "detail": detail,
        }
        if state == self._state:
            return
        self._state = state
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        temporary.write_text(json.dumps({**state, "at": time.time()}), encoding="utf-8")
        temporary.replace(self.path)


def read_progress(path: Path) -> dict[str, Any] | None:
    """What the trainer wrote last: `step`, `phase`, `detail` and `at` (seconds since 1970); None before it wrote anything."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
