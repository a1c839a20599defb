"""A finished run for TensorBoard or Weights & Biases, by their own libraries, from the files that the run left.

Curves go over the iterations of all RL stages; accuracies over the models, base first. Nothing is sent: TensorBoard's files and W&B's offline
run lie in a folder, and `wandb sync` sends the latter when its owner asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from compass.errors import UserError
from compass.report.run import Run
from compass.runs.values import flatten

MEASURES = ("accuracy", "greedy", "lenient", "truncated", "length")
"""What is exported of each model's scores on each benchmark, as far as it was measured."""


class Point(NamedTuple):
    """A value of a metric at a step: an iteration, or of scores a model's position, 0 for the first."""

    name: str
    value: float
    step: int


def training_points(run: Run) -> Iterator[Point]:
    """Every curve of every RL stage, `train/NAME`, with iterations counted on from stage to stage."""
    before = 0
    for curves in run.results.curves.values():
        steps = [int(step) for step in curves["step"]]
        for name, values in curves.items():
            if name != "step":
                yield from _finite(f"train/{name}", values, [before + step for step in steps])
        before += max(steps, default=0)


def score_points(run: Run) -> Iterator[Point]:
    """Every score, `accuracy/BENCHMARK` and so on, over the models in the order of training."""
    for position, benchmarks in enumerate(run.results.scores.values()):
        for benchmark, measured in benchmarks.items():
            for measure in MEASURES:
                if isinstance(measured.get(measure), int | float):
                    yield from _finite(f"{measure}/{benchmark}", [measured[measure]], [position])


def write_tensorboard(run: Run, folder: Path) -> Path:
    """Write event files that `tensorboard --logdir FOLDER` shows.

    Raises:
        UserError: the folder holds event files already, whose curves would be drawn together with these.
        ModuleNotFoundError: tensorboard is not installed.
    """
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    if any(folder.glob("events.out.tfevents.*")):
        raise UserError(f"{folder}: holds TensorBoard's events already; name another folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    writer = EventFileWriter(str(folder))
    try:
        for point in (*training_points(run), *score_points(run)):
            value = Summary.Value(tag=point.name, simple_value=point.value)
            writer.add_event(Event(step=point.step, wall_time=0.0, summary=Summary(value=[value])))
    finally:
        writer.close()
    return folder


def write_wandb(run: Run, folder: Path, *, project: str = "compass-thinker") -> Path:
    """Write an offline run of Weights & Biases: settings, curves, and scores; nothing is sent.

    Returns:
        The folder that `wandb sync` takes.

    Raises:
        ModuleNotFoundError: wandb is not installed.
    """
    import wandb

    folder.mkdir(parents=True, exist_ok=True)
    started = wandb.init(
        mode="offline",
        dir=str(folder),
        project=project,
        name=run.name,
        config=flatten(run.parameters),
        settings=wandb.Settings(console="off", silent=True, save_code=False, disable_git=True, x_disable_stats=True),
    )
    axes = {"iteration": ["train/*"], "model": [f"{measure}/*" for measure in MEASURES]}
    for axis, names in axes.items():
        started.define_metric(axis)
        for name in names:
            started.define_metric(name, step_metric=axis)
    for axis, points in (("iteration", training_points(run)), ("model", score_points(run))):
        for step, values in _by_step(points).items():
            started.log({axis: step, **values})
    started.summary["models"] = run.models
    place = Path(started.dir).parent
    started.finish()
    wandb.teardown()  # its own process writes the last of the file when it ends
    return place


def _by_step(points: Iterator[Point]) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = {}
    for point in points:
        found.setdefault(point.step, {})[point.name] = point.value
    return dict(sorted(found.items()))


def _finite(name: str, values: list[float], steps: list[int]) -> Iterator[Point]:
    """Points without what cannot be drawn."""
    for value, step in zip(values, steps, strict=True):
        if value is not None and math.isfinite(value):
            yield Point(name, float(value), step)
