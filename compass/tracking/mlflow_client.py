"""The calls to MLflow that tracking makes. The only module that imports MLflow."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from compass.tracking.repository import repository_root

DEFAULT_EXPERIMENT = "compass-thinker"

BATCH = 100
"""Most parameters, metrics or tags that MLflow takes in one call."""

LONGEST_TAG = 5000
"""Characters of a tag's value that are kept; MLflow refuses longer ones."""


def tracking_uri(folder: str | Path = ".") -> str:
    """`MLFLOW_TRACKING_URI`, or the SQLite file `mlflow.db` at the repository's root."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{repository_root(folder) / 'mlflow.db'}"


def failures() -> tuple[type[Exception], ...]:
    """What a call raises when the tracking server or its database fails."""
    from mlflow.exceptions import MlflowException

    return MlflowException, OSError


def connect(folder: Path) -> tuple[Any, str]:
    """The client and the experiment's id; a fresh SQLite file is made by one process at a time.

    MLflow migrates a new database on first use, and two processes doing that at once break it.
    """
    import fcntl
    import logging

    # Seven retries with growing pauses are MLflow's default: minutes of silence where a server is down.
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
    logging.getLogger("alembic").setLevel(logging.WARNING)  # the migrations of a fresh database, line by line
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    logging.getLogger("mlflow.store").setLevel(logging.WARNING)
    uri, name = tracking_uri(folder), os.environ.get("MLFLOW_EXPERIMENT_NAME", DEFAULT_EXPERIMENT)
    local = uri.startswith("sqlite:")
    root = repository_root(folder)
    with open(root / "mlflow.db.lock", "a") if local else contextlib.nullcontext() as lock:
        if lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
        client = MlflowClient(tracking_uri=uri)
        experiment = client.get_experiment_by_name(name)
        if experiment is None:
            try:
                place = (root / "mlartifacts").as_uri() if local else None
                return client, client.create_experiment(name, artifact_location=place)
            except MlflowException:
                experiment = client.get_experiment_by_name(name)  # another machine made it in between
                if experiment is None:
                    raise
    return client, experiment.experiment_id


def log_params(client: Any, run_id: str, values: Mapping[str, str]) -> None:
    """Record parameters: flat names and texts."""
    from mlflow.entities import Param

    for batch in _batches(Param(name, value) for name, value in values.items()):
        client.log_batch(run_id, params=batch)


def log_metrics(client: Any, run_id: str, values: Mapping[str, float], step: int) -> None:
    """Record metrics at a step."""
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    for batch in _batches(Metric(name, value, now, step) for name, value in values.items()):
        client.log_batch(run_id, metrics=batch)


def log_tags(client: Any, run_id: str, values: Mapping[str, str]) -> None:
    """Set tags; long values are cut."""
    from mlflow.entities import RunTag

    for batch in _batches(RunTag(name, value[:LONGEST_TAG]) for name, value in values.items()):
        client.log_batch(run_id, tags=batch)


def log_datasets(client: Any, run_id: str, context: str, datasets: Sequence[Mapping[str, Any]]) -> None:
    """Record the tables that a run reads.

    Args:
        client: MLflow's.
        run_id: the run.
        context: what reads them, shown beside each.
        datasets: `name`, `md5`, `rows` and `columns` of each.
    """
    from mlflow.entities import Dataset, DatasetInput, InputTag

    inputs = [
        DatasetInput(
            Dataset(
                name=dataset["name"],
                digest=dataset["md5"],
                source_type="local",
                source=json.dumps({"uri": dataset["name"]}),
                schema=json.dumps({"columns": dataset["columns"]}),
                profile=json.dumps({"num_rows": dataset["rows"]}),
            ),
            tags=[InputTag("mlflow.data.context", context)],
        )
        for dataset in datasets
    ]
    if inputs:
        client.log_inputs(run_id, datasets=inputs)


def _batches(entities: Iterable[Any]) -> Iterable[list[Any]]:
    waiting = iter(entities)
    while batch := list(islice(waiting, BATCH)):
        yield batch
