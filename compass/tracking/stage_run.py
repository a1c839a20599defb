"""The MLflow run of one stage: opened before the stage begins, filled while it runs, ended as the stage ended.

What a stage records goes into its journal (`compass.tracking.journal`) at once and to the server by a thread
(`compass.tracking.sender`), so that a server that is down or slow costs no stage and no record. The parent's status is that of
its last stage: nothing tells a stage that it is the last one of its `dvc repro`.

`COMPASS_TRACKING` says what a tracking server that cannot be reached when a stage begins means: `optional` (default) keeps the
record in `.compass/outbox` and goes on, `required` ends the stage before it begins, `off` records nothing.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compass import environment
from compass.runs.repository import repository_root
from compass.runs.values import scrub
from compass.settings import SettingsError
from compass.tracking.journal import END, Journal, new_journal
from compass.tracking.mlflow_client import experiment_name, tracking_uri
from compass.tracking.sender import Sender, say
from compass.tracking.stage_outcome import record_begin, record_outputs
from compass.tracking.stage_record import StageRun
from compass.tracking.system_metrics import Sampler

LOCAL_UI = "http://127.0.0.1:5000"
"""Where `compass up` shows the local database, unless it was given another port."""

OPEN_S = 60.0
"""Seconds that a stage waits for its run to be open; a fresh database takes some."""

SEND_S = 60.0
"""Seconds that a finished stage waits for its record to be sent, as long as the server answers."""

FAILED_S, CANCELLED_S = 15.0, 3.0
"""The same for a stage that fails, and for one that is cancelled: what it could not send is sent later."""


class TrackingError(SettingsError):
    """The tracking server cannot be used; the message says which and what to do."""


_running = StageRun()


def current_run() -> StageRun:
    """The run of the stage that is running in this process; one that records nothing where none is."""
    return _running


@contextlib.contextmanager
def stage_run(stage: str, settings: Any, folder: str | Path = ".") -> Iterator[StageRun]:
    """Track one stage in MLflow while the block runs.

    Sets MLFLOW_TRACKING_URI, MLFLOW_EXPERIMENT_NAME and MLFLOW_RUN_ID for the block, so that a library that logs by itself
    finds the run. An exception marks the run FAILED; a run whose process was killed is marked KILLED when its journal is sent.

    Args:
        stage: the stage's name in `dvc.yaml`.
        settings: `compass.settings.Settings`.
        folder: where `dvc.yaml` is.

    Raises:
        TrackingError: the address is none that MLflow knows, or COMPASS_TRACKING is `required` and the server is away.
    """
    global _running
    environment.apply()
    mode = os.environ.get("COMPASS_TRACKING", "optional")
    if mode not in ("required", "optional", "off"):
        raise TrackingError(f"COMPASS_TRACKING is {mode!r}; allowed: required, optional, off")
    if mode == "off":
        yield StageRun()
        return
    journal, sender = _begin(stage, settings, Path(folder), required=mode == "required")
    tracked, sampler = StageRun(stage, settings, folder, journal), Sampler(journal)
    before, _running = _running, tracked
    began = time.monotonic()
    try:
        with _exported(tracked), sampler:
            yield tracked
        record_outputs(tracked, (time.monotonic() - began) / 3600)
    except BaseException as error:
        tracked.tags({"compass.error": f"{type(error).__name__}: {error}"[:500]})
        cancelled = isinstance(error, KeyboardInterrupt)
        _end(tracked, sender, "KILLED" if cancelled else "FAILED", CANCELLED_S if cancelled else FAILED_S)
        raise
    finally:
        _running = before
    _end(tracked, sender, "FINISHED", SEND_S)


def run_page() -> dict[str, str]:
    """Text and address of the page of the run that is being tracked; empty where nothing is, or the server is away."""
    if not _running.run_id:
        return {}
    from compass.services.state import read_services

    uri = tracking_uri(_running.folder)
    service = read_services(repository_root(_running.folder)).get("mlflow")
    local = service.url if service else None
    web = scrub(uri) if uri.startswith("http") else local or LOCAL_UI
    page = f"{web.rstrip('/')}/#/experiments/{_running.experiment_id}/runs/{_running.parent_id or _running.run_id}"
    return {"MLflow run" if uri.startswith("http") or local else "MLflow run (after make up)": page}


def _begin(stage: str, settings: Any, folder: Path, *, required: bool) -> tuple[Journal, Sender]:
    """Open the stage's run under its pipeline's, or have it opened when the server is there."""
    uri = tracking_uri(folder)
    if not uri.startswith(("http://", "https://", "sqlite:", "postgresql", "mysql", "mssql", "databricks")):
        raise TrackingError(
            f"MLFLOW_TRACKING_URI is {scrub(uri)!r}, which is no tracking server; give http://HOST:PORT or a database "
            "(sqlite:///FILE), or unset it to use the local database"
        )
    try:
        journal = new_journal(stage, folder)
    except OSError as error:
        raise TrackingError(
            f"the record of runs cannot be written ({error}); set COMPASS_TRACKING=off to run without one"
        ) from None
    record_begin(journal, stage, settings, folder)
    sender = Sender(journal, folder)
    sender.start(OPEN_S)
    if required and sender.reason:
        sender.finish(0)
        journal.remove()
        raise TrackingError(
            f"the tracking server {scrub(uri)} cannot be used: {sender.reason}\nStart it, unset MLFLOW_TRACKING_URI to use the "
            "local database, or set COMPASS_TRACKING=optional to keep the record here until the server is back."
        )
    return journal, sender


def _end(tracked: StageRun, sender: Sender, status: str, wait_s: float) -> None:
    tracked.write(END, status=status)
    if not sender.finish(wait_s):
        say(
            f"the record of {sender.journal.id} waits in .compass/outbox ({sender.reason or 'the server is slow'}); the next stage, "
            "`compass up` or `compass runs sync` sends it"
        )


@contextlib.contextmanager
def _exported(tracked: StageRun) -> Iterator[None]:
    """The run in the environment, for libraries and subprocesses, as long as the block runs."""
    names = ("MLFLOW_RUN_ID", "MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME")
    before = {name: os.environ.get(name) for name in names}
    if tracked.run_id:
        os.environ["MLFLOW_RUN_ID"] = tracked.run_id
        os.environ["MLFLOW_TRACKING_URI"] = tracking_uri(tracked.folder)
        os.environ["MLFLOW_EXPERIMENT_NAME"] = experiment_name()
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
