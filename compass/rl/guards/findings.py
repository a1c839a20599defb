"""What guards found: one JSON line each, and the error that a guard of level `stop` ends the stage with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.files import write_json, write_text


class GuardError(UserError):
    """A guard of level `stop` fired; the message says what it saw and what to do."""


class Findings:
    """What the guards of one stage found.

    Args:
        path: the file of JSON lines with `step`, `guard`, `level`, `message` and `samples`.
        levels: the settings of the guards by their names, each with its `level`.
    """

    def __init__(self, path: Path, levels: Mapping[str, Mapping[str, Any]]) -> None:
        self.path = path
        self.levels = levels

    def level(self, guard: str) -> str:
        """`off`, `warn` or `stop`."""
        return self.levels[guard]["level"]

    def fire(self, guard: str, step: int, seen: str, samples: Path | None = None) -> None:
        """Record what a guard saw; do nothing where it is off.

        Args:
            guard: its name in `rl.guards`.
            step: the iteration; 0 before the first.
            seen: what it saw and what to do.
            samples: a file with the samples that show it.

        Raises:
            GuardError: the guard's level is `stop`.
        """
        level = self.level(guard)
        if level == "off":
            return
        message = format_finding(guard, step, seen, samples)
        line = {"step": step, "guard": guard, "level": level, "message": message, "samples": str(samples or "")}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if level == "stop":
            raise GuardError(message)


def format_finding(guard: str, step: int, seen: str, samples: Path | None = None) -> str:
    """A finding in words, with the setting that changes the guard."""
    when = f"iteration {step}: " if step else ""
    where = f" Samples: {samples}." if samples else ""
    return f"{when}{seen}.{where} (guard `rl.guards.{guard}`: off, warn or stop)"


def read_findings(path: Path) -> list[dict[str, Any]]:
    """The findings that were written whole, in order; none where there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def forget_findings(path: Path, done: int, *, last: int) -> None:
    """Drop what will be looked at again, and what ended an earlier run.

    Args:
        path: the file of findings; need not exist.
        done: the last iteration that is not run again.
        last: the stage's last iteration. Before it a trainer starts, which looks at what comes before the first one (0) as well.
    """
    first = 1 if done < last else 0
    kept = [line for line in read_findings(path) if first <= line["step"] <= done and line["level"] != "stop"]
    write_text(path, "".join(json.dumps(line) + "\n" for line in kept))


def write_findings(path: Path, samples: Path, out: Path) -> list[dict[str, Any]]:
    """Write a stage's findings as `guards.json` and the samples that show them into `samples/`; returns the findings."""
    found = read_findings(path)
    shutil.rmtree(out / "samples", ignore_errors=True)
    if samples.exists():
        shutil.copytree(samples, out / "samples")
    write_json(out / "guards.json", [{**line, "samples": Path(line["samples"]).name} for line in found])
    return found
