"""What the stages measured, read from their output files for the page and the table."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compass.ledger import Counts
from compass.records import RecordError
from compass.report.outputs import find_outputs
from compass.report.planted import measure_folder
from compass.settings.pipeline import AFTER_RL, BEFORE_RL


@dataclass(frozen=True)
class Results:
    """The results of a run, as far as its stages have run.

    `summaries`: stage to the content of `metrics/<stage>.json`. `scores`: model to benchmark (or "average") to its
    scores, fractions from 0 to 1. `curves`: RL stage to columns of equal length: `step`, `reward`, `accuracy`,
    `response_tokens`, `left_out` (share of responses that the update did not use), and as far as every iteration has them `entropy`,
    `grad_norm`, `cut_off` and, by their own names, the metrics of `OTHER_CURVES` that are not always 0. `counts`: rows of every curation stage. `planted`: what curation made of planted defects, None
    where nothing was planted. `findings`: RL stage to what its guards found.
    """

    summaries: dict[str, dict[str, Any]] = field(default_factory=dict)
    scores: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    curves: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    counts: list[Counts] = field(default_factory=list)
    planted: dict[str, Any] | None = None
    findings: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


VERL_CURVES = {"entropy": "actor/entropy", "grad_norm": "actor/grad_norm", "cut_off": "guards/cut_off_share"}
"""Curves that come from verl's metrics (`steps.csv`)."""

OTHER_CURVES = ("guards/", "reward/")
"""How the names of metrics begin that are curves too, under their own names."""

DRAWN_OTHERWISE = {*VERL_CURVES.values(), "guards/response_length"}
"""Metrics that another curve shows."""


def read_results(folder: str | Path = ".", rl_stages: Sequence[str] | None = None) -> Results:
    """Read every result under a repository's root.

    Args:
        folder: the root.
        rl_stages: the RL stages of the parameters in force, so that what stages of other names left behind is not
            shown; None for those whose models have scores.

    Raises:
        RecordError: a file is not what its stage writes; the message names it.
    """
    folder = Path(folder)
    evaluated = folder / "metrics" / "evaluate.json"
    scores = read_json(evaluated).get("models", {}) if evaluated.exists() else {}
    trained = [model for model in scores if model != "base"] if rl_stages is None else rl_stages
    metrics = {stage: folder / "metrics" / f"{stage}.json" for stage in (*BEFORE_RL, *trained, *AFTER_RL)}
    summaries = {stage: read_json(path) for stage, path in metrics.items() if path.exists() and path != evaluated}
    rewards = {stage: folder / "data" / stage / "rewards.parquet" for stage in trained}
    curves = {stage: _curve(path) for stage, path in rewards.items() if path.exists()}
    for stage, curve in curves.items():
        curve |= _verl_curves(folder / "data" / stage, curve["step"])
    guards = {stage: folder / "data" / stage / "guards.json" for stage in trained}
    findings: dict[str, Any] = {stage: read_json(path) for stage, path in guards.items() if path.exists()}
    counts, planted = find_outputs(folder / "data").counts(), measure_folder(folder / "data")
    return Results(summaries, scores, curves, counts, planted, findings)


def _curve(path: Path) -> dict[str, list[float]]:
    """Means of every step over all of its responses: reward, accuracy, length, and the share that the update left out."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        rewards = pq.read_table(path, columns=["step", "reward", "response_tokens", "used"])
    except (OSError, ValueError, KeyError) as error:
        raise RecordError(f"{path}: not the rewards that an RL stage writes ({error}); run its stage again") from None
    right = pc.cast(pc.greater(rewards["reward"], 0), "float64")
    left_out = pc.cast(pc.invert(rewards["used"]), "float64")
    measures = ("reward", "accuracy", "response_tokens", "left_out")
    means = (
        rewards.append_column("accuracy", right)
        .append_column("left_out", left_out)
        .group_by("step")
        .aggregate([(name, "mean") for name in measures])
        .sort_by("step")
    )
    names = {"step": "step"} | {name: f"{name}_mean" for name in measures}
    return {name: [float(value) for value in means[column].to_pylist()] for name, column in names.items()}


def _verl_curves(folder: Path, steps: Sequence[float]) -> dict[str, list[float]]:
    """What was measured in a stage's iterations, of `VERL_CURVES` and `OTHER_CURVES` what every iteration has."""
    path = folder / "steps.csv"
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = {float(row["step"]): row for row in csv.DictReader(file)}
    columns = sorted({name for row in rows.values() for name in row if name and name.startswith(OTHER_CURVES)})
    wanted = VERL_CURVES | {name: name for name in columns if name not in DRAWN_OTHERWISE}
    whole = {name: [rows.get(step, {}).get(column) for step in steps] for name, column in wanted.items()}
    curves = {name: [float(value) for value in values if value] for name, values in whole.items() if all(values)}
    return {name: curve for name, curve in curves.items() if name in VERL_CURVES or any(curve)}


def read_json(path: Path) -> dict[str, Any]:
    """A stage's JSON file.

    Raises:
        RecordError: it is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RecordError(f"{path}: not JSON ({error}); delete it and run its stage again") from None
