"""Whether every RL stage can fill its batches, as far as files and the last run's outputs tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.checks.finding import Finding, of_all_stages
from compass.curriculum.curriculum import curriculum
from compass.records import RecordError, read_records, split_stages
from compass.rl.mixed_groups import cannot_fill, predict_mixed_groups
from compass.runs.dvc_files import Graph
from compass.runs.values import flatten
from compass.settings import Settings

VERIFIED = Path("data/verify/kept.parquet")
MOST_ROWS = 60_000
"""Verified problems up to which the curriculum is chosen here as well: about half a second."""


def find_batch_problems(settings: Settings, root: Path, rows: int | None) -> list[Finding]:
    """RL stages that cannot fill a batch.

    Args:
        settings: what to check.
        root: the repository's root, with the outputs of earlier runs.
        rows: the rows of all sources together; None where that is not known.
    """
    most, why = _at_most(settings, rows)
    found = []
    kept = _chosen(settings, root) if most is None or most >= _largest(settings) else None
    chosen = {} if kept is None else _counts(settings, kept)
    for name, stage in settings.rl.stages.items():
        count, reason = (chosen[name], "the last run's problems give it") if name in chosen else (most, why)
        held, batch = stage.checkpoint.validation_problems, stage.data.batch_size
        if count is None or count - held >= batch:
            continue
        validation = f", {held} of them held out (`checkpoint.validation_problems`)" if held else ""
        left = max(1, count - held)
        found.append(
            Finding(
                f"rl.stages.{name}.data.batch_size",
                "problem",
                f"{reason} {count} problems{validation}, fewer than a batch of {batch}",
                f"set `rl.data.batch_size` and `rl.optimizer.mini_batch_size` to {left} or less, or give it more problems: "
                f"sources, `curriculum.mixes`, `curriculum.solve_rate`",
            )
        )
    unfillable = [] if kept is None or found else _unfillable(settings, kept)
    return of_all_stages(found, list(settings.rl.stages)) + unfillable


def _largest(settings: Settings) -> int:
    return max(stage.data.batch_size for stage in settings.rl.stages.values())


def _at_most(settings: Settings, rows: int | None) -> tuple[int | None, str]:
    """A number of problems that no stage's training set exceeds, and why; None where none is known."""
    bounds = []
    if rows is not None:
        bounds.append((rows, "all sources together hold"))
    if (generator := settings.collect.generate) and all(
        source.path.startswith("$GENERATED") for source in settings.collect.sources
    ):
        bounds.append((5 * generator.problems_per_level, "`collect.generate.problems_per_level` gives"))
    if settings.grade.max_problems and not settings.curriculum.use_source_level:
        bounds.append((settings.grade.max_problems, "`grade.max_problems` leaves it"))
    return min(bounds, default=(None, ""))


def _chosen(settings: Settings, root: Path) -> pa.Table | None:
    """The problems that the curriculum would choose from the last run's verified rows; None where other settings made them."""
    path = root / VERIFIED
    if not path.is_file() or not _made_by(settings, root):
        return None
    try:
        records = read_records(path)
    except RecordError:
        return None
    return curriculum(records, settings.curriculum, settings.seed)[0] if records.num_rows <= MOST_ROWS else None


def _counts(settings: Settings, kept: pa.Table) -> dict[str, int]:
    """Problems of each RL stage."""
    named = [split_stages(stages) for stages in kept["stages"].to_pylist()]
    return {name: sum(name in stages for stages in named) for name in settings.rl.stages}


def _unfillable(settings: Settings, kept: pa.Table) -> list[Finding]:
    """Stages that would refuse to start: too few groups are expected to hold both right and wrong responses."""
    found = []
    rows = list(zip(*(kept[name].to_pylist() for name in ("solve_rate", "n_rollouts", "stages")), strict=True))
    for name, stage in settings.rl.stages.items():
        own = stage.graded_by_policy(settings.grade)  # rates of another model only warn
        if not own or not stage.rollout.dynamic_sampling or stage.guards.mixed_groups.level != "stop":
            continue
        graded = [(rate, n) for rate, n, stages in rows if rate is not None and n and name in split_stages(stages)]
        if not graded:
            continue
        expected = predict_mixed_groups(*zip(*graded, strict=True), stage.rollout.group_size)
        if seen := cannot_fill(expected, stage.rollout.max_generation_batches):
            remedy = (
                f"change `curriculum.mixes.{name}`, raise `rollout.group_size`, or turn `rollout.dynamic_sampling` off"
            )
            found.append(Finding(f"rl.stages.{name}.rollout", "problem", seen, remedy))
    return found


def _made_by(settings: Settings, root: Path) -> bool:
    """Whether the verified rows were made with these settings, by what dvc.lock says of every stage before them."""
    lock = Graph(root).lock
    wanted = flatten(settings.model_dump(mode="json"))
    for stage in ("collect", "dedup", "denoise", "base", "grade", "verify"):
        if stage not in lock:
            return False
        used: dict[str, Any] = lock[stage].get("params", {}).get("params.yaml", {})
        if any(wanted.get(key) != value for key, value in flatten(used).items()):
            return False
    return True
