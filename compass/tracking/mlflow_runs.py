"""The runs that MLflow has, read back: a list of pipeline runs, one of them by a name, and what was kept with it."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.runs.run_name import slug
from compass.runs.values import scrub
from compass.tracking.mlflow_client import connect, describe_failure, failures, search_runs, tracking_uri
from compass.tracking.record import EXPERIMENT, KIND, MODELS, PIPELINE, experiment_name

SHORTEST_PREFIX = 4
"""Characters of an id that name a run."""

MOST = 1000
"""Runs that are looked through."""


@dataclass(frozen=True)
class PastRun:
    """A pipeline run: `params` are profile, seed and what differs from the profile, `metrics` those of the parent."""

    id: str
    name: str
    started: datetime
    ended: datetime | None
    status: str
    params: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def experiment(self) -> str:
        """The DVC experiment that it belongs to; empty where it is none."""
        return self.tags.get(EXPERIMENT, "")

    @property
    def models(self) -> list[str]:
        """The models that were scored, in the order of training."""
        return [name for name in self.tags.get(MODELS, "").split(",") if f"average/{name}" in self.metrics]

    def score(self, model: str, kind: str = "average") -> tuple[float, float | None, float | None] | None:
        """A model's `average` or `gain`, with the ends of its 95% interval; None where it was not scored."""
        value = self.metrics.get(f"{kind}/{model}")
        return (
            None if value is None else (value, *(self.metrics.get(f"{kind}/{model}.{end}") for end in ("low", "high")))
        )


class Runs:
    """The pipeline runs of the experiment in use.

    Raises:
        UserError: the tracking server does not answer.
    """

    def __init__(self, folder: str | Path = ".") -> None:
        self.folder = folder
        with self._reading():
            self.client = connect(folder)
            experiment = self.client.get_experiment_by_name(experiment_name())
        self.experiment = experiment.experiment_id if experiment else None

    def newest(self, count: int = MOST, *, data: str = "") -> list[PastRun]:
        """Pipeline runs, the newest first.

        Args:
            count: how many at most.
            data: a hash of DVC, or a digest of MLflow, of a table or model: only runs that read or wrote it.

        Raises:
            UserError: the tracking server does not answer.
        """
        if self.experiment is None:
            return []
        runs = self._search("pipeline", MOST if data else count)
        if data:
            keys = {run.data.tags.get(PIPELINE) for run in self._search("stage", 10 * MOST) if _has(run, data)}
            runs = [run for run in runs if run.data.tags[PIPELINE] in keys][:count]
        return [_past(run) for run in runs]

    def find(self, word: str) -> PastRun:
        """The newest run that a word names: its name, the beginning of its id, or its DVC experiment.

        Raises:
            UserError: none is called so.
        """
        runs = self.newest()
        tests = (
            lambda run: word in (run.id, run.experiment),
            lambda run: word in (run.name, slug(run.name)),
            lambda run: len(word) >= SHORTEST_PREFIX and run.id.startswith(word),
        )
        for test in tests:
            if found := [run for run in runs if test(run)]:
                return found[0]
        known = "; ".join(f"{run.name} ({run.id[:8]})" for run in runs[:5]) or "none is recorded"
        raise UserError(f"no run is called {word!r} by name, id or DVC experiment; the newest: {known}")

    def _search(self, kind: str, count: int) -> list[Any]:
        with self._reading():
            return search_runs(self.client, self.experiment, {KIND: kind}, count)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except failures() as error:
            raise UserError(
                f"the tracking server {scrub(tracking_uri(self.folder))} cannot be read: {describe_failure(error)}; start it, or unset "
                "MLFLOW_TRACKING_URI to read the local record"
            ) from None

    def document(self, run: PastRun, name: str) -> Any:
        """A JSON artifact of a run; None where it has none."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                path = self.client.download_artifacts(run.id, name, folder)
            except failures():
                return None
            return json.loads(Path(path).read_text(encoding="utf-8"))


def _has(run: Any, data: str) -> bool:
    hashes = [value for name, value in run.data.tags.items() if name.startswith("dvc.")]
    for one in run.inputs.dataset_inputs if run.inputs else ():
        hashes += [one.dataset.digest, *(tag.value for tag in one.tags)]
    return any(value.startswith(data) for value in hashes)


def _past(run: Any) -> PastRun:
    info = run.info
    return PastRun(
        info.run_id,
        info.run_name,
        _time(info.start_time),
        _time(info.end_time) if info.end_time else None,
        info.status,
        dict(run.data.params),
        dict(run.data.metrics),
        dict(run.data.tags),
    )


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone()
