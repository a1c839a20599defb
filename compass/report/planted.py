"""How well curation did on planted truth: recall of each planted kind, and the clean rows it cost.

The generator of the tiny profile labels every row it publishes (`data/collect/truth.parquet`: source, source id, kind,
and the stage and reason that should drop it; clean rows have no reason).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.records import RecordError
from compass.report.outputs import find_outputs, read_table

BEFORE_SELECTION = ("collect", "dedup", "denoise", "grade", "verify")
"""Stages that drop a row for a fault of its own; those after them choose among good rows."""

_TRUTH = ("source", "source_id", "kind", "stage", "reason")


def measure(truth: pa.Table, dropped_by_stage: Mapping[str, pa.Table]) -> dict[str, Any]:
    """Compare what was dropped with what should have been.

    Args:
        truth: one row per published row.
        dropped_by_stage: each stage's dropped rows, as far as stages have run.

    Returns:
        `kinds`: for each planted kind the rows `planted`, `dropped` (by any stage), `right` (by the stage and for the
        reason of the truth), and `recall` = right / planted. `clean`: `rows`, `dropped`, `lost` = dropped / rows, and
        `by_reason`.

    Raises:
        RecordError: `truth` lacks a column.
    """
    if missing := [name for name in _TRUTH if name not in truth.column_names]:
        raise RecordError(f"planted truth lacks the columns {missing}; run `collect` again")
    drops = {}
    for stage, dropped in dropped_by_stage.items():
        for row in dropped.select(["source", "source_id", "reason"]).to_pylist():
            drops[row["source"], row["source_id"]] = (stage, row["reason"])
    kinds: dict[str, dict[str, Any]] = {}
    clean: dict[str, Any] = {"rows": 0, "dropped": 0, "by_reason": {}}
    for row in truth.select(_TRUTH).to_pylist():
        drop = drops.get((row["source"], row["source_id"]))
        if not row["reason"]:
            clean["rows"] += 1
            if drop:
                clean["dropped"] += 1
                clean["by_reason"][drop[1]] = clean["by_reason"].get(drop[1], 0) + 1
            continue
        kind = kinds.setdefault(row["kind"], {"planted": 0, "dropped": 0, "right": 0})
        kind["planted"] += 1
        kind["dropped"] += drop is not None
        kind["right"] += drop == (row["stage"], row["reason"])
    for kind in kinds.values():
        kind["recall"] = kind["right"] / kind["planted"]
    clean["lost"] = clean["dropped"] / clean["rows"] if clean["rows"] else 0.0
    return {"kinds": dict(sorted(kinds.items())), "clean": clean}


def measure_folder(data: str | Path) -> dict[str, Any] | None:
    """`measure` on a folder of stage outputs; None where nothing was planted."""
    truth = Path(data) / "collect" / "truth.parquet"
    if not truth.exists():
        return None
    dropped = find_outputs(Path(data)).dropped
    return measure(
        read_table(truth), {stage: read_table(dropped[stage]) for stage in BEFORE_SELECTION if stage in dropped}
    )
