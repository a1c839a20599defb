"""The MLflow run of one stage: opened before the stage begins, filled while it runs, ended as the stage ended.

The parent's status is that of its last stage: nothing tells a stage that it is the last one of its `dvc repro`.
`COMPASS_TRACKING` says what a tracking server that cannot be reached means: `required` (default) ends the stage before
it begins, `optional` warns and continues without a record, `off` records nothing. Once a stage has begun, a failing
server never costs its result: what could not be recorded is printed on stderr.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from compass import environment
from compass.settings import SettingsError
from compass.tracking import mlflow_client
from compass.tracking.dvc_files import Graph, digest
from compass.tracking.mlflow_client import DEFAULT_EXPERIMENT, connect, tracking_uri
from compass.tracking.pipeline_run import (
    KIND,
    OPEN,
    OUTPUTS,
    PIPELINE,
    STAGE,
    cached_runs,
    close,
    git_tags,
    mark_killed,
    open_parent,
    owner,
)
from compass.tracking.processes import pipeline_key
from compass.tracking.values import flatten, metric_values, scrub

LOCAL_UI = "http://127.0.0.1:5000"
"""Where `make ui` shows the local database."""

RUN_PAGE = "COMPASS_RUN_PAGE"
"""Environment variable with the address of the run's page, while a stage runs."""


class TrackingError(SettingsError):
    """The tracking server cannot be used; the message says which and what to do."""


class StageRun:
    """The MLflow run of the stage that is running; every method is a no-op where nothing is tracked."""

    def __init__(
        self,
        client: Any = None,
        run_id: str | None = None,
        parent_id: str | None = None,
        experiment_id: str | None = None,
    ) -> None:
        self._client = client
        self.run_id = run_id
        self.parent_id = parent_id
        self.experiment_id = experiment_id

    def summary(self, values: dict[str, Any]) -> None:
        """Record what a stage did: its numbers as metrics, the whole as the artifact `summary.json`."""
        self.metrics(metric_values(values))
        self._safely("the summary", lambda: self._client.log_dict(self.run_id, values, "summary.json"))

    def metrics(self, values: dict[str, float], step: int | None = None) -> None:
        """Record metrics (nested names with dots), at a step where they are a curve."""
        flat = metric_values(values)
        self._safely("metrics", lambda: mlflow_client.log_metrics(self._client, self.run_id, flat, step or 0))

    def artifact(self, path: str | Path) -> None:
        """Copy a small file or folder (a plot, a page) into the run; weights are referenced by their hash instead."""
        self._safely(f"the artifact {path}", lambda: self._client.log_artifact(self.run_id, str(path)))

    def tags(self, values: dict[str, str]) -> None:
        """Set tags on the run."""
        self._tag(self.run_id, values)

    def _tag(self, run_id: str | None, values: dict[str, str]) -> None:
        harmless = {name: scrub(str(value)) for name, value in values.items()}
        self._safely("tags", lambda: mlflow_client.log_tags(self._client, run_id, harmless))

    def _safely(self, what: str, call: Callable[[], Any]) -> Any:
        """Call MLflow; a failure is printed and ignored, since the stage's result matters more than its record."""
        if self._client is None:
            return None
        try:
            return call()
        except mlflow_client.failures() as error:
            print(f"tracking: {what} not recorded: {_first_line(error)}", file=sys.stderr)
            return None


def record_curves(rows: Iterable[Mapping[str, Any]]) -> None:
    """Record iterations of before in the run of the stage that is running, if one is tracked.

    Args:
        rows: the metrics of each iteration, with its `step`.
    """
    run_id = os.environ.get("MLFLOW_RUN_ID")
    rows = list(rows)
    if not run_id or not rows:
        return
    try:
        client, _ = connect(Path())
    except mlflow_client.failures() as error:
        print(f"tracking: earlier iterations not recorded: {_first_line(error)}", file=sys.stderr)
        return
    tracked = StageRun(client, run_id)
    for row in rows:
        tracked.metrics({name: value for name, value in row.items() if name != "step"}, step=row["step"])


@contextlib.contextmanager
def stage_run(stage: str, settings: Any, folder: str | Path = ".") -> Iterator[StageRun]:
    """Track one stage in MLflow while the block runs.

    Sets MLFLOW_TRACKING_URI, MLFLOW_EXPERIMENT_NAME and MLFLOW_RUN_ID for the block, so that verl logs into the same
    run. An exception marks the run FAILED; a run whose process was killed is marked KILLED at the next stage's start.

    Args:
        stage: the stage's name in `dvc.yaml`.
        settings: `compass.settings.Settings`.
        folder: where `dvc.yaml` is.

    Raises:
        TrackingError: the tracking server cannot be reached, unless COMPASS_TRACKING allows that.
    """
    environment.apply()
    mode = os.environ.get("COMPASS_TRACKING", "required")
    if mode not in ("required", "optional", "off"):
        raise TrackingError(f"COMPASS_TRACKING is {mode!r}; allowed: required, optional, off")
    tracked = StageRun() if mode == "off" else _begin(stage, settings, Path(folder), optional=mode == "optional")
    try:
        with _exported(tracked, tracking_uri(folder)):
            yield tracked
    except BaseException as error:
        tracked.tags({"compass.error": f"{type(error).__name__}: {error}"[:500]})
        _end(tracked, "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED")
        raise
    if tracked.run_id:
        _record_outputs(tracked, stage, Path(folder))
        _end(tracked, "FINISHED")


def _begin(stage: str, settings: Any, folder: Path, *, optional: bool) -> StageRun:
    """Open the stage's run under its pipeline's, or say why that is impossible."""
    try:
        client, experiment = connect(folder)
        graph = Graph(folder)
        mark_killed(client, experiment)
        key, parent = pipeline_key(), None
        if key:
            parent, new = open_parent(client, experiment, key, settings.profile)
            if new:
                mlflow_client.log_params(client, parent, flatten(settings.model_dump(mode="json")))
        return _open_stage(client, experiment, parent, key, stage, settings, graph)
    except mlflow_client.failures() as error:
        message = f"the tracking server {scrub(tracking_uri(folder))} cannot be used: {_first_line(error)}"
        if optional:
            print(f"tracking: {message}; continuing without a record", file=sys.stderr)
            return StageRun()
        raise TrackingError(
            f"{message}\nStart it, unset MLFLOW_TRACKING_URI to use the local database, "
            "or set COMPASS_TRACKING=optional to continue without a record."
        ) from None


def run_page() -> dict[str, str]:
    """Text and address of the page of the run that is being tracked; empty where nothing is."""
    address = scrub(os.environ.get(RUN_PAGE, ""))
    return {f"MLflow run{' (after make ui)' if address.startswith(LOCAL_UI) else ''}": address} if address else {}


def _open_stage(
    client: Any, experiment: str, parent: str | None, key: str | None, stage: str, settings: Any, graph: Graph
) -> StageRun:
    tags = {
        KIND: "stage",
        STAGE: stage,
        OPEN: "yes",
        "compass.profile": settings.profile,
        **owner(),
        **git_tags(),
        **{f"dvc.dep.{path}": value for path, value in graph.dep_hashes(stage).items()},
    }
    if parent and key:
        tags |= {PIPELINE: key, "mlflow.parentRunId": parent}
    run_id = client.create_run(experiment, tags=tags, run_name=stage).info.run_id
    section = settings.stage(stage).model_dump(mode="json")
    # Named as in params.yaml: verl logs its own configuration into the same run, and must find no name taken.
    mlflow_client.log_params(client, run_id, flatten({"seed": settings.seed, stage: section}))
    mlflow_client.log_datasets(client, run_id, stage, graph.datasets(stage))
    tracked = StageRun(client, run_id, parent, experiment)
    if parent and key:
        tracked._tag(parent, cached_runs(client, experiment, key, stage, graph))
    return tracked


def _record_outputs(tracked: StageRun, stage: str, folder: Path) -> None:
    """Tag the run with what it wrote, and copy the headline metrics to the pipeline's run."""
    hashes = Graph(folder).out_hashes(stage)
    tracked.tags({OUTPUTS: digest(hashes), **{f"dvc.out.{path}": md5 for path, md5 in hashes.items()}})
    for page in ("plots", "reports"):
        for path in hashes:
            if Path(path).parts[0] == page:
                tracked.artifact(folder / path)
    scores = folder / "metrics" / "evaluate.json"
    if tracked.parent_id and stage in ("evaluate", "report") and scores.exists():
        models = json.loads(scores.read_text(encoding="utf-8")).get("models", {})
        headline = {model: {"average": scored.get("average")} for model, scored in models.items()}
        StageRun(tracked._client, tracked.parent_id).metrics(metric_values(headline))


def _end(tracked: StageRun, status: str) -> None:
    for run_id in (tracked.run_id, tracked.parent_id):
        if run_id:
            tracked._safely("the end", lambda run_id=run_id: close(tracked._client, run_id, status))


@contextlib.contextmanager
def _exported(tracked: StageRun, uri: str) -> Iterator[None]:
    """The run in the environment, for verl and for subprocesses, as long as the block runs."""
    before = dict(os.environ)
    if tracked.run_id:
        os.environ["MLFLOW_RUN_ID"] = tracked.run_id
        os.environ["MLFLOW_TRACKING_URI"] = uri
        os.environ.setdefault("MLFLOW_EXPERIMENT_NAME", DEFAULT_EXPERIMENT)
        web = uri if uri.startswith("http") else LOCAL_UI
        os.environ[RUN_PAGE] = (
            f"{web.rstrip('/')}/#/experiments/{tracked.experiment_id}/runs/{tracked.parent_id or tracked.run_id}"
        )
    try:
        yield
    finally:
        for name in ("MLFLOW_RUN_ID", "MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", RUN_PAGE):
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]


def _first_line(error: BaseException) -> str:
    return scrub((str(error).strip().splitlines() or [type(error).__name__])[0])
