"""What a stage says of itself while it runs: metrics, curves, tags, artifacts, written into its journal."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from compass.runs.values import scrub
from compass.tracking.journal import Journal
from compass.tracking.sender import say
from compass.tracking.stage_metrics import PARENT_CURVES, curve_values, stage_metrics


class StageRun:
    """The run of the stage that is running; every method is a no-op where nothing is tracked."""

    def __init__(self, stage: str = "", settings: Any = None, folder: str | Path = ".", journal: Journal | None = None):
        self.stage, self.settings, self.folder = stage, settings, Path(folder)
        self._journal = journal

    @property
    def run_id(self) -> str | None:
        """The run's id in MLflow, as soon as the server has given one."""
        return self._journal.sent.run if self._journal else None

    @property
    def parent_id(self) -> str | None:
        """The id of the pipeline's run; None for a stage that was started by hand."""
        return self._journal.sent.parent if self._journal else None

    @property
    def experiment_id(self) -> str | None:
        """The experiment's id in MLflow."""
        return self._journal.sent.experiment if self._journal else None

    def summary(self, values: Mapping[str, Any]) -> None:
        """Record what a stage did: what people compare as metrics, the whole as the artifact `summary.json`."""
        self.metrics(stage_metrics(self.stage, values))
        self.document("summary.json", values)

    def metrics(self, values: Mapping[str, float], step: int = 0, *, on: str = "run") -> None:
        """Record metrics, of the stage's run or with `on="parent"` of the pipeline's."""
        if values:
            self.write("metrics", on=on, values=_points(values, step))

    def curves(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Record iterations of an RL stage: verl's metrics of each, with its `step`."""
        for row in rows:
            self.metrics(curve_values(row), int(row["step"]))
            self.write("metrics", on="parent", values=parent_points(self.settings, self.stage, row))

    def artifact(self, path: str | Path, folder: str = "") -> None:
        """Copy a small file or folder (a plot, a page) into the run; weights are referenced by their hash instead."""
        if self._journal and Path(path).exists():
            with _or_said(f"{path}"):
                self.write("artifact", on="run", file=self._journal.copy(Path(path)), folder=folder)

    def document(self, name: str, values: Any, *, on: str = "run") -> None:
        """Keep values as a JSON artifact."""
        if self._journal:
            path = self._journal.folder / name
            with _or_said(name):
                path.write_text(json.dumps(values, indent=2, ensure_ascii=False, default=str), encoding="utf-8")
                self.write("artifact", on=on, file=self._journal.copy(path), folder="")
                path.unlink()

    def tags(self, values: Mapping[str, str], *, on: str = "run") -> None:
        """Set tags."""
        self.write("tags", on=on, values={name: scrub(str(value)) for name, value in values.items()})

    def write(self, kind: str, **values: Any) -> None:
        """Add a record of a kind that `compass.tracking.mlflow_records` knows."""
        if self._journal:
            with _or_said(kind):
                self._journal.write(kind, **values)


@contextlib.contextmanager
def _or_said(what: str) -> Iterator[None]:
    """Say what is not recorded where the disk is full: the stage meets that by itself where it matters."""
    try:
        yield
    except OSError as error:
        say(f"{what} not recorded: {error}")


def parent_points(settings: Any, stage: str, row: Mapping[str, Any]) -> list[list[Any]]:
    """An iteration of an RL stage as the pipeline's run shows it: few curves, counted on over all RL stages."""
    values = curve_values(row)
    shared = {name: values[name] for name in PARENT_CURVES if name in values}
    return _points(shared, _steps_before(settings, stage) + int(row["step"]))


def _points(values: Mapping[str, float], step: int) -> list[list[Any]]:
    """Metrics as a journal keeps them; with their time, so that the same record sent twice is one."""
    now = int(time.time() * 1000)
    return [[name, value, now, step] for name, value in values.items()]


def _steps_before(settings: Any, stage: str) -> int:
    """Iterations of the RL stages before one, where all count on."""
    before = 0
    for name, one in settings.rl.stages.items() if settings else ():
        if name == stage:
            return before
        before += one.steps
    return 0
