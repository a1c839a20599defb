"""The connection to MLflow, and the calls that write to a run. Only modules called `mlflow_*` import MLflow."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from compass.files import atomic_path
from compass.locks import take_lock
from compass.runs.repository import repository_root
from compass.runs.values import scrub

STATE = Path(".compass")
DATABASE = STATE / "mlflow.db"
ARTIFACTS = STATE / "mlartifacts"

LONGEST_VALUE = 500
"""Characters of a parameter's value that are kept; databases behind tracking servers bound it."""

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


def local_uri(folder: str | Path = ".") -> str:
    """The tracking address of the local database."""
    return f"sqlite:///{repository_root(folder) / DATABASE}"


def server_name(folder: str | Path = ".") -> str:
    """What a record is for: the address of the server without credentials, or `local`, wherever the folder is."""
    uri = tracking_uri(folder)
    return "local" if uri.startswith("sqlite:") and uri.endswith(f"/{DATABASE}") else scrub(uri)


@contextlib.contextmanager
def lock_store(folder: str | Path = ".") -> Iterator[None]:
    """Hold the local store alone: MLflow migrates a fresh database on first use, and two at once break it."""
    file = take_lock(repository_root(folder) / STATE / "mlflow.lock", "MLflow's database", on_wait=lambda line: None)
    assert file is not None
    try:
        yield
    finally:
        os.close(file)


def failures() -> tuple[type[Exception], ...]:
    """What a call raises when the tracking server or its database fails."""
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, OSError


def describe_failure(error: BaseException) -> str:
    """An error's first line, without credentials and the details of the network library."""
    text = scrub((str(error).strip().splitlines() or [type(error).__name__])[0])
    refused = re.search(r"failed with error code (401|403)\b", text)
    if refused or getattr(error, "error_code", None) in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
        status = f", status {refused[1]}" if refused else ""
        return (
            f"it refuses the credentials{status}: set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or "
            "MLFLOW_TRACKING_TOKEN, to those of a user who may write"
        )
    if "timed out" in text.lower():
        return "no answer in time"
    return "no connection" if "Connection refused" in text or "Max retries" in text else text[:200]


def is_refusal(error: Exception) -> bool:
    """Whether the server answered a call and refused it, so that it is of no use to repeat."""
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
    with lock_store(folder) if uri == local_uri(folder) else contextlib.nullcontext():
        path = repository_root(folder) / DATABASE
        if uri == local_uri(folder) and not path.exists():
            # A kill during the migrations would leave a database that no later call can use: it appears when it is whole.
            with atomic_path(path) as temporary:
                MlflowClient(tracking_uri=f"sqlite:///{temporary}")._tracking_client.store.engine.dispose()
        return MlflowClient(tracking_uri=uri)


def experiment_id(client: Any, name: str, folder: str | Path = ".") -> str:
    """The id of the experiment called `name`, made where there is none."""
    from mlflow.exceptions import MlflowException

    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        place = _artifacts_uri(folder) if client.tracking_uri == local_uri(folder) else None
        # Without this tag MLflow shows pages for applications of language models.
        tags = {"mlflow.experimentKind": "custom_model_development"}
        try:
            return client.create_experiment(name, artifact_location=place, tags=tags)
        except MlflowException:
            experiment = client.get_experiment_by_name(name)  # another process made it in between
            if experiment is None:
                raise
    return experiment.experiment_id


def can_write_artifacts(client: Any, experiment: str, folder: str | Path = ".") -> bool:
    """Whether artifacts of an experiment go where they belong: a local store that was copied names the folder of the original."""
    if client.tracking_uri != local_uri(folder):
        return True
    return client.get_experiment(experiment).artifact_location == _artifacts_uri(folder)


def _artifacts_uri(folder: str | Path) -> str:
    return (repository_root(folder) / ARTIFACTS).as_uri()


def log_params(client: Any, run_id: str, values: Mapping[str, str]) -> None:
    """Record parameters: flat names and texts, which are cut."""
    from mlflow.entities import Param

    client.log_batch(run_id, params=[Param(name, value[:LONGEST_VALUE]) for name, value in values.items()])


def log_metrics(client: Any, run_id: str, values: Iterable[Sequence[Any]], model: str | None = None) -> None:
    """Record metrics, each `(name, value, time in ms, step)`; the same ones again change nothing.

    Args:
        client: MLflow's.
        run_id: the run.
        values: the metrics.
        model: the id of the logged model that they are of.
    """
    from mlflow.entities import Metric

    metrics = [Metric(name, value, time, step, model_id=model) for name, value, time, step in values]
    client.log_batch(run_id, metrics=metrics)


def log_tags(client: Any, run_id: str, values: Mapping[str, str]) -> None:
    """Set tags."""
    from mlflow.entities import RunTag

    client.log_batch(run_id, tags=[RunTag(name, value) for name, value in values.items()])


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
