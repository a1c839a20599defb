"""What has to be true of a run that makes a disturbed one good (`benchmarks/kills.py`, `cancels.py`). Each check returns faults."""

from __future__ import annotations

import contextlib
import csv
import json
import sqlite3
from pathlib import Path

import pyarrow.parquet as pq
import yaml
from trials import RL

EQUAL = ("collect", "dedup", "denoise", "verify", "curriculum")
"""Stages that only compute: the same bytes again."""

CURVE = "critic/score/mean"


def check(
    root: Path, unkilled: Path, stage: str, before: dict[int, float], known: set[str], temporary: Path
) -> list[str]:
    """All checks of a run that was made good; see `outputs`, `iterations` and `folders`."""
    trained = iterations(root, stage, before, known) if stage in RL else []
    return [*outputs(root, unkilled, stage), *trained, *folders(root, temporary)]


def folders(root: Path, temporary: Path) -> list[str]:
    """Sockets, folders and half-written outputs that nothing owns any more."""
    strays = [path for path in temporary.rglob("*") if path.parent == temporary or path.is_socket()]
    strays += [path for part in ("models", "data") for path in (root / part).glob(".*.part")]
    return [f"abandoned: {path}" for path in strays]


def outputs(root: Path, unkilled: Path, stage: str) -> list[str]:
    """Whether a stage's outputs are those of the unkilled run."""
    ours, theirs = (yaml.safe_load((folder / "dvc.lock").read_text())["stages"][stage] for folder in (root, unkilled))
    faults = []
    for mine, other in zip(ours["outs"], theirs["outs"], strict=True):
        path = mine["path"]
        if stage in EQUAL and mine["md5"] != other["md5"]:
            faults.append(f"{path} differs from the unkilled run's")
        here, there = (
            {str(file.relative_to(folder)) for file in (folder / path).rglob("*")} for folder in (root, unkilled)
        )
        if here != there:
            faults.append(f"{path} has other files than the unkilled run's: {sorted(here ^ there)[:5]}")
    return faults


def recorded(root: Path, stage: str) -> dict[int, float]:
    """Mean reward of each iteration that has a checkpoint and a record, as a stage left them."""
    rows: dict[int, float] = {}
    for work in root.glob(f"work/{stage}/*/"):
        tracker = work / "checkpoints/latest_checkpointed_iteration.txt"
        done = int(tracker.read_text() or 0) if tracker.exists() else 0
        for name in ("metrics.live.jsonl", "metrics.jsonl"):
            for line in (work / name).read_text().splitlines(keepends=True) if (work / name).exists() else []:
                if line.endswith("\n"):
                    row = json.loads(line)
                    row = {"step": row["step"], **row.get("data", row)}
                    if row["step"] <= done:
                        rows[row["step"]] = row[CURVE]
    return rows


def runs(root: Path) -> set[str]:
    """Ids of the stage runs in MLflow."""
    return set(_stage_runs(root))


def iterations(root: Path, stage: str, before: dict[int, float], known: set[str]) -> list[str]:
    """Whether an RL stage has each iteration once: in its curves, its rewards, and the finished MLflow run.

    Args:
        root: the run's folder.
        stage: the RL stage.
        before: `recorded` at the kill; these iterations must not have been trained again.
        known: runs of before.
    """
    wanted = list(range(1, yaml.safe_load((root / "params.yaml").read_text())["rl"]["stages"][stage]["steps"] + 1))
    with open(root / "data" / stage / "steps.csv", newline="") as file:
        curve = {int(float(row["step"])): float(row[CURVE]) for row in csv.DictReader(file)}
    faults = [] if list(curve) == wanted else [f"steps.csv has iterations {list(curve)}, not {wanted}"]
    faults += [
        f"iteration {step} was trained again ({value} before, {curve.get(step)} now)"
        for step, value in before.items()
        if curve.get(step) != value
    ]
    rewards = pq.read_table(root / "data" / stage / "rewards.parquet", filters=[("used", "=", True)])
    means = rewards.group_by("step").aggregate([("reward", "mean")]).sort_by("step").to_pylist()
    if [row["step"] for row in means] != wanted:
        faults.append(f"rewards.parquet has iterations {[row['step'] for row in means]}, not {wanted}")
    faults += [
        f"rewards.parquet has {row['reward_mean']} for iteration {row['step']}, steps.csv {curve.get(row['step'])}"
        for row in means
        if abs(row["reward_mean"] - curve.get(row["step"], 9)) > 1e-5
    ]
    fresh = {run: name for run, name in _stage_runs(root).items() if run not in known}
    finished = [run for run, (name, status) in fresh.items() if (name, status) == (stage, "FINISHED")]
    if len(finished) != 1:
        return [*faults, f"MLflow has {sorted(fresh.values())}, not one finished {stage}"]
    history = _query(
        root, "SELECT step FROM metrics WHERE run_uuid = ? AND key = ? ORDER BY step", finished[0], "train/reward"
    )
    if [step for (step,) in history] != wanted:
        faults.append(f"MLflow has iterations {history} in the finished run, not {wanted}")
    return faults


def _stage_runs(root: Path) -> dict[str, tuple[str, str]]:
    """Name and status of every stage's run, by its id."""
    rows = _query(
        root,
        "SELECT run_uuid, name, status FROM runs WHERE run_uuid IN (SELECT run_uuid FROM tags WHERE key = ? AND value = ?)",
        "compass.kind",
        "stage",
    )
    return {run: (name, status) for run, name, status in rows}


def _query(root: Path, sql: str, *values: str) -> list[tuple]:
    """Ask MLflow's database itself: its client keeps connections to the database of the copy before."""
    with contextlib.closing(sqlite3.connect(f"file:{root}/.compass/mlflow.db?mode=ro", uri=True)) as database:
        return database.execute(sql, values).fetchall()
