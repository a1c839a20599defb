"""verl's metrics of an RL stage: taken over while it runs, kept across a restart, and written as curves at its end.

verl writes `metrics.live.jsonl` and starts a new one with every process; the stage's own `metrics.jsonl` holds each iteration
up to the last checkpoint once.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from compass.files import atomic_path


def follow_metrics(live: Path, position: int, metrics: Path) -> tuple[list[dict[str, Any]], int]:
    """Move the whole lines that verl has written since `position` into the stage's own file.

    Args:
        live: the file that verl is writing; it may not exist yet.
        position: bytes of it that were moved before.
        metrics: the stage's own file.

    Returns:
        The new metrics, one dict per iteration with its `step`, and the new position.
    """
    if not live.exists():
        return [], position
    with live.open("rb") as file:
        file.seek(position)
        unread = file.read()
    whole = unread[: unread.rfind(b"\n") + 1]
    fresh = [_flat(line) for line in whole.splitlines()]
    with metrics.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in fresh)
    return fresh, position + len(whole)


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The metrics of every iteration, in order."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def all_metrics(saved: Path, live: Path, metrics: Path) -> dict[int, dict[str, Any]]:
    """The metrics of every iteration that a killed stage recorded, in any of its files, by its number; see `recover_metrics`."""
    rows = {row["step"]: row for path in (saved, live) for row in map(_flat, whole_lines(path))}
    return rows | {row["step"]: row for row in map(json.loads, whole_lines(metrics))}


def recover_metrics(saved: Path, live: Path, metrics: Path, done: int) -> None:
    """Keep the metrics of iterations up to the checkpoint, those that a killed stage had not taken over included.

    Args:
        saved: what the trainer writes before a checkpoint, for a kill between the checkpoint and verl's log; it may not
            exist, and is removed here. It lacks what verl measures after the checkpoint.
        live: verl's file of the killed process, removed here as well; it may not exist.
        metrics: the stage's own file; it may not exist yet.
        done: the last checkpoint's iteration; later ones will be run again.
    """
    rows = all_metrics(saved, live, metrics)
    lines = [json.dumps(rows[step]) + "\n" for step in sorted(rows) if step <= done]
    _replace(metrics, lines)
    for path in (saved, live):
        path.unlink(missing_ok=True)


def forget_after(path: Path, step: int) -> None:
    """Drop the JSON lines of iterations after `step`, which will be run again, and a line that a kill cut off."""
    kept = [line for line in whole_lines(path) if json.loads(line)["step"] <= step]
    _replace(path, kept)


def _replace(path: Path, lines: list[str]) -> None:
    """Write lines whole or not at all: a kill here must not cost the record of what was trained."""
    with atomic_path(path) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8")


def whole_lines(path: Path) -> list[str]:
    """The lines of a file, without one that a kill cut off; none where there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [line for line in lines if line.endswith("\n")]


def write_curves(metrics: list[dict[str, Any]], path: Path) -> None:
    """Write verl's metrics as CSV, one row per iteration; a metric that an iteration lacks stays empty."""
    columns = ["step", *sorted({name for row in metrics for name in row} - {"step"})]
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(metrics)


def _flat(line: str | bytes) -> dict[str, Any]:
    """verl's line `{"step": 1, "data": {...}}` as one dict."""
    entry = json.loads(line)
    return {"step": entry["step"], **entry["data"]}
