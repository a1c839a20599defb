"""The connection to MLflow, and the calls that write to a run. Only modules called `mlflow_*` import MLflow."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from compass.tracking.local_store import artifacts_uri, local_uri, relocate, store_lock

DEFAULT_EXPERIMENT = "compass-thinker"

BATCH = 100
"""Most parameters or tags that MLflow takes in one call."""

METRICS_BATCH = 500
"""Metrics in one call; MLflow takes 1,000."""

LONGEST_TAG = 5000
"""Characters of a tag's value that are kept; MLflow refuses longer ones."""

REQUEST_S = 20
"""Seconds after which a request counts as failed. The sender tries again, so MLflow's own retries are off: they would
create a run twice where a server answers too late."""

LASTING = (
    "INVALID_PARAMETER_VALUE",
    "RESOURCE_DOES_NOT_EXIST",
    "RESOURCE_ALREADY_EXISTS",
    "BAD_REQUEST",
    "INVALID_STATE",
)
"""MLflow's codes for a call that will fail again however often it is made."""


def tracking_uri(folder: str | Path = ".") -> str:
    """`MLFLOW_TRACKING_URI`, or the SQLite file `.compass/mlflow.db` at the repository's root."""
    return os.environ.get("MLFLOW_TRACKING_URI") or local_uri(folder)


def experiment_name() -> str:
    """`MLFLOW_EXPERIMENT_NAME`, or the project's own."""
    return os.environ.get("MLFLOW_EXPERIMENT_NAME") or DEFAULT_EXPERIMENT


def failures() -> tuple[type[Exception], ...]:
    """What a call raises when the tracking server or its database fails."""
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, OSError


def lasting(error: Exception) -> bool:
    """Whether a failed call is of no use to repeat: the server answered, and refused it."""
    return getattr(error, "error_code", None) in LASTING


def connect(folder: str | Path = ".") -> Any:
    """A client of the tracking server, which was not asked anything yet, or of the local database."""
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", str(REQUEST_S))
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    logging.getLogger("alembic").setLevel(logging.WARNING)  # the migrations of a fresh database, line by line
    from mlflow import MlflowClient

    logging.getLogger("mlflow.store").setLevel(logging.WARNING)
    uri = tracking_uri(folder)
    local = uri == local_uri(folder)
    with store_lock(folder) if local else contextlib.nullcontext():
        if local:
            relocate(folder)
        return MlflowClient(tracking_uri=uri)


def experiment_id(client: Any, name: str, folder: str | Path = ".") -> str:
    """The id of the experiment called `name`, made where there is none."""
    from mlflow.exceptions import MlflowException

    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        place = artifacts_uri(folder) if client.tracking_uri == local_uri(folder) else None
        try:
            return client.create_experiment(name, artifact_location=place)
        except MlflowException:
            experiment = client.get_experiment_by_name(name)  # another process made it in between
            if experiment is None:
                raise
    return experiment.experiment_id


def create_once(client: Any, experiment: str, condition: str, create: Callable[[], Any]) -> tuple[Any, bool]:
    """The run that a condition finds, and whether it was made now: a server that answered too late may have made it before.

    Of several the oldest stays; the others are deleted.
    """

    def found() -> list[Any]:
        return client.search_runs([experiment], condition, order_by=["attributes.start_time ASC"])

    if runs := found():
        new = False
    else:
        made = create()
        runs, new = found() or [made], True
    for extra in runs[1:]:
        client.delete_run(extra.info.run_id)
    return runs[0], new


def log_params(client: Any, run_id: str, values: Mapping[str, str]) -> None:
    """Record parameters: flat names and texts."""
    from mlflow.entities import Param

    for batch in _batches((Param(name, value) for name, value in values.items()), BATCH):
        client.log_batch(run_id, params=batch)


def log_metrics(client: Any, run_id: str, values: Iterable[Sequence[Any]], model: str | None = None) -> None:
    """Record metrics, each `(name, value, time in ms, step)`; the same ones again change nothing.

    Args:
        client: MLflow's.
        run_id: the run.
        values: the metrics.
        model: the id of the logged model that they are of.
    """
    from mlflow.entities import Metric

    entities = (Metric(name, value, time, step, model_id=model) for name, value, time, step in values)
    for batch in _batches(entities, METRICS_BATCH):
        client.log_batch(run_id, metrics=batch)


def log_tags(client: Any, run_id: str, values: Mapping[str, str]) -> None:
    """Set tags; long values are cut."""
    from mlflow.entities import RunTag

    for batch in _batches((RunTag(name, value[:LONGEST_TAG]) for name, value in values.items()), BATCH):
        client.log_batch(run_id, tags=batch)


def log_datasets(client: Any, run_id: str, datasets: Sequence[Mapping[str, Any]]) -> None:
    """Record the tables that a run reads; MLflow's digest of each is DVC's hash of the file.

    Args:
        client: MLflow's.
        run_id: the run.
        datasets: `name`, `path`, `md5`, `dvc` (the hash that dvc.lock has), `rows`, `columns` and `context` of each.
    """
    from mlflow.entities import Dataset, DatasetInput, InputTag

    inputs = [
        DatasetInput(
            Dataset(
                name=dataset["name"],
                digest=dataset["md5"],
                source_type="local",
                source=json.dumps({"uri": dataset["path"]}),
                schema=json.dumps(
                    {"mlflow_colspec": [{"name": name, "type": kind} for name, kind in dataset["columns"].items()]}
                ),
                profile=json.dumps({"num_rows": dataset["rows"]}),
            ),
            tags=[
                InputTag("mlflow.data.context", dataset["context"]),
                InputTag("dvc.path", dataset["path"]),
                InputTag("dvc.md5", dataset["dvc"]),
            ],
        )
        for dataset in datasets
    ]
    if inputs:
        client.log_inputs(run_id, datasets=inputs)


def _batches(entities: Iterable[Any], size: int) -> Iterable[list[Any]]:
    waiting = iter(entities)
    while batch := list(islice(waiting, size)):
        yield batch
