"""The connection to MLflow: where it is, whether it answers, why not, and its runs. Only modules called `mlflow_*` import MLflow."""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
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


def search_runs(client: Any, experiment: str, tags: Mapping[str, str], most: int = 1000) -> Sequence[Any]:
    """Runs with these tags, the newest first."""
    condition = " and ".join(f"tags.`{name}` = '{value}'" for name, value in tags.items())
    return client.search_runs([experiment], condition, max_results=most, order_by=["attributes.start_time DESC"])


def can_write_artifacts(client: Any, experiment: str, folder: str | Path = ".") -> bool:
    """Whether artifacts of an experiment go where they belong: a local store that was copied names the folder of the original."""
    if client.tracking_uri != local_uri(folder):
        return True
    return client.get_experiment(experiment).artifact_location == _artifacts_uri(folder)


def _artifacts_uri(folder: str | Path) -> str:
    return (repository_root(folder) / ARTIFACTS).as_uri()
