"""What the stages measured, read from their output files for the page and the table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compass.curves import CURVES, read_steps, unlisted_curves
from compass.ledger import Counts
from compass.records import RecordError
from compass.report.outputs import find_outputs
from compass.report.planted import measure_folder
from compass.settings.pipeline import AFTER_RL, BEFORE_RL

TOLD_AT_ZERO = ("entropy", "grad_norm", "cut_off")
"""Curves that say something where they are always 0."""


@dataclass(frozen=True)
class Results:
    """The results of a run, as far as its stages have run.

    `summaries`: stage to the content of `metrics/<stage>.json`. `scores`: model to benchmark (or "average") to its
    scores, fractions from 0 to 1. `curves`: RL stage to columns of equal length: `step`, `reward`, `accuracy`,
    `response_tokens`, `left_out` (share of responses that the update did not use), and as far as every iteration has them `entropy`,
    `grad_norm`, `clipped`, `kl`, `cut_off` and, by their own names, the other metrics that `compass.curves` shows and that are not always 0. `counts`: rows of every curation stage. `planted`: what curation made of planted defects, None
    where nothing was planted. `findings`: RL stage to what its guards found. `tokens`: RL stage to the tokens of all responses that it sampled.
    """

    summaries: dict[str, dict[str, Any]] = field(default_factory=dict)
    scores: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    curves: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    counts: list[Counts] = field(default_factory=list)
    planted: dict[str, Any] | None = None
    findings: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)

    @property
    def benchmarks(self) -> list[str]:
        """Every benchmark on which a model was scored, the average first where there are several."""
        names = dict.fromkeys(name for scored in self.scores.values() for name in scored)
        average = ["average"] if "average" in names and len(names) != 2 else []
        return average + [name for name in names if name != "average"]

    @property
    def averages(self) -> dict[str, Mapping[str, Any]]:
        """Every scored model's average over benchmarks; an empty one where it has none."""
        return {model: scored.get("average", {}) for model, scored in self.scores.items()}


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
    curves, tokens = {}, {}
    for stage, path in rewards.items():
        if path.exists():
            curve, tokens[stage] = _curve(path)
            curves[stage] = curve | _measured_curves(folder / "data" / stage, curve["step"])
    guards = {stage: folder / "data" / stage / "guards.json" for stage in trained}
    findings: dict[str, Any] = {stage: read_json(path) for stage, path in guards.items() if path.exists()}
    counts, planted = find_outputs(folder / "data").counts(), measure_folder(folder / "data")
    return Results(summaries, scores, curves, counts, planted, findings, tokens)


def _curve(path: Path) -> tuple[dict[str, list[float]], int]:
    """Means of every step over all of its responses: reward, accuracy, length, and the share that the update left out; and the tokens of all."""
    import pyarrow.compute as pc

    from compass.rl.rollouts import read_rewards

    try:
        rewards = read_rewards(path).select(["step", "reward", "right", "response_tokens", "used"])
    except (OSError, ValueError, KeyError) as error:
        raise RecordError(f"{path}: not the rewards that an RL stage writes ({error}); run its stage again") from None
    right = pc.cast(rewards["right"], "float64")
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
    curve = {name: [float(value) for value in means[column].to_pylist()] for name, column in names.items()}
    return curve, int(pc.sum(rewards["response_tokens"]).as_py() or 0)


def _measured_curves(folder: Path, steps: Sequence[float]) -> dict[str, list[float]]:
    """What was measured in every iteration of a stage, of the metrics that the report draws; those that were always 0 are left out but for
    `TOLD_AT_ZERO`."""
    path = folder / "steps.csv"
    if not path.exists():
        return {}
    rows = read_steps(path)
    wanted = {curve.column: curve.metric for curve in CURVES if curve.column}
    wanted |= {name: name for name in unlisted_curves(name for row in rows.values() for name in row)}
    whole = {name: [rows.get(int(step), {}).get(metric) for step in steps] for name, metric in wanted.items()}
    curves = {name: values for name, values in whole.items() if None not in values}
    return {name: curve for name, curve in curves.items() if any(curve) or name in TOLD_AT_ZERO}


def read_json(path: Path) -> dict[str, Any]:
    """A stage's JSON file.

    Raises:
        RecordError: it is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RecordError(f"{path}: not JSON ({error}); delete it and run its stage again") from None
