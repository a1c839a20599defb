"""Rollouts to look at: whole responses of chosen iterations, as `rollouts.parquet`.

While a stage runs, each chosen iteration is one file in the folder `rollouts` of its work folder, so that a killed stage
loses none and goes on without counting any twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.files import atomic_path

ROLLOUTS = pa.schema(
    [
        ("step", pa.int32()),
        ("id", pa.string()),  # the problem's
        ("level", pa.int32()),
        ("group", pa.string()),  # the responses that were compared with each other
        ("sample", pa.int32()),  # place in the group
        ("prompt", pa.string()),
        ("response", pa.string()),
        ("gold", pa.string()),
        ("answer", pa.string()),  # what the verifier read in the response
        ("right", pa.bool_()),
        ("verdict", pa.string()),
        ("method", pa.string()),  # how the verifier decided
        ("leaned", pa.string()),  # the rules that a right verdict leans on, joined by commas
        ("reward", pa.float32()),  # the one that trained
        ("advantage", pa.float32()),  # null where the update did not use the group
        ("response_tokens", pa.int32()),
        ("cut_off", pa.bool_()),
        ("loop", pa.bool_()),
        ("gap_mean", pa.float32()),  # difference of a token's log-probability between rollout and trainer
        ("gap_max", pa.float32()),
        ("used", pa.bool_()),  # False: left out as all right, all wrong, or surplus
    ]
)

FIRST = 16
"""How many of an iteration's worst samples are kept when a guard fires."""


def keeps(step: int, last: int, every: int) -> bool:
    """Whether an iteration's rollouts are kept: those of the first, the last, and every `every`-th; 0 keeps none."""
    return every > 0 and (step in (1, last) or step % every == 0)


def write_step(folder: Path, step: int, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write an iteration's rollouts into its own file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{step:06d}.parquet"
    ordered = sorted(rows, key=lambda row: (row["id"], row["group"], row["sample"]))
    _write(pa.Table.from_pylist(ordered, schema=ROLLOUTS), path)
    return path


def write_worst(path: Path, rows: Iterable[Mapping[str, Any]], worst: str) -> Path:
    """Write the worst samples of an iteration, the worst first.

    Args:
        path: the file to write; its folder is made.
        rows: rows of `ROLLOUTS`.
        worst: `reward`, the lowest first; `advantage_size`, the farthest from 0 first; or another column, its largest first.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = sorted(rows, key=lambda row: _badness(row, worst), reverse=True)[:FIRST]
    _write(pa.Table.from_pylist(ordered, schema=ROLLOUTS), path)
    return path


def forget_rollouts_after(folder: Path, step: int) -> None:
    """Drop the rollouts of iterations after `step`, which will be run again."""
    for path in folder.glob("*.parquet"):
        if int(path.stem) > step:
            path.unlink()


def write_rollouts(folder: Path, path: Path) -> pa.Table:
    """Write the rollouts of all chosen iterations as one table, in their order; an empty one where none were kept."""
    parts = [pq.read_table(part, schema=ROLLOUTS) for part in sorted(folder.glob("*.parquet"))]
    table = pa.concat_tables(parts) if parts else ROLLOUTS.empty_table()
    _write(table, path)
    return table


def _badness(row: Mapping[str, Any], worst: str) -> float:
    if worst == "reward":
        return -row["reward"]
    value = abs(row["advantage"] or 0.0) if worst == "advantage_size" else float(row[worst] or 0.0)
    return math.inf if math.isnan(value) else value


def _write(table: pa.Table, path: Path) -> None:
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
