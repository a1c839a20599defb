"""The MLflow run of one stage: opened before the stage begins, filled while it runs, ended as the stage ended.

What a stage records is in its record on disk (`compass.tracking.outbox`) at once; a thread sends the record, and sends it again
as it grows. A server that is down, slow or stopped delays the record and nothing else. The parent runs until the
stage that `compass run` names as its last one ends, or one fails. Under a plain `dvc repro` nothing tells a stage whether others follow: the
parent's status is then that of its last stage so far.

`COMPASS_TRACKING` says what a tracking server that cannot be reached when a stage begins means: `optional` (default) keeps the
record in `.compass/outbox` and continues, `required` ends the stage before it begins, `off` records nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from compass import environment
from compass.runs.repository import repository_root
from compass.runs.values import scrub
from compass.settings import SettingsError
from compass.tracking.mlflow_client import connect, describe_failure, failures, server_name, tracking_uri
from compass.tracking.mlflow_send import Sent, send_record, send_waiting
from compass.tracking.mlflow_system_metrics import Sampler
from compass.tracking.outbox import (
    copy_file,
    find_unkept,
    keep_finished,
    outbox,
    read_record,
    remove_record,
    write_document,
    write_record,
)
from compass.tracking.record import (
    Record,
    add_curves,
    add_outputs,
    add_summary,
    begin_record,
    end_record,
    experiment_name,
)

LOCAL_UI = "http://127.0.0.1:5000"
"""Where `compass up` shows the local database, unless it was given another port."""

SEND_EVERY_S = 5.0
"""Seconds between two looks at a record that may have grown."""

LONGEST_PAUSE_S = 10.0
"""Seconds between two tries of a server that does not answer, at most."""

OPEN_S = 60.0
"""Seconds that a stage waits for its run to be open; a fresh database takes some."""

END_S = {"FINISHED": 60.0, "FAILED": 15.0, "KILLED": 3.0}
"""Seconds that a stage waits for its record to be sent, as long as the server answers; the rest is sent later."""


class TrackingError(SettingsError):
    """The tracking server cannot be used; the message says which and what to do."""


class StageRun:
    """The run of the stage that is running; every method does nothing where nothing is tracked."""

    def __init__(
        self, settings: Any = None, folder: str | Path = ".", record: Record | None = None, sent: Sent | None = None
    ):
        self.settings, self.folder = settings, Path(folder)
        self._record, self._sent = record, sent or Sent()
        self._writing = threading.Lock()

    @property
    def run_id(self) -> str | None:
        """The run's id in MLflow, as soon as the server has given one."""
        return self._sent.run or None

    @property
    def parent_id(self) -> str | None:
        """The id of the pipeline's run; None for a stage that was started by hand."""
        return self._sent.parent or None

    @property
    def experiment_id(self) -> str | None:
        """The experiment's id in MLflow."""
        return self._sent.experiment or None

    def summary(self, values: Mapping[str, Any]) -> None:
        """Record what a stage did: what people compare as metrics, the whole as the artifact `summary.json`."""
        with self._change() as record:
            if record:
                add_summary(record, values)
                write_document(record, "summary.json", values, folder=self.folder)

    def curves(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Record iterations of an RL stage: verl's metrics of each, with its `step`."""
        with self._change() as record:
            if record:
                add_curves(record, self.settings, rows)

    def points(self, points: list[list[Any]]) -> None:
        """Record metrics: name, value, time in milliseconds and step of each."""
        with self._change() as record:
            if record:
                record.points += points

    def artifact(self, path: str | Path, folder: str = "") -> None:
        """Copy a small file or folder (a plot, a page) into the run; weights are referenced by their hash instead."""
        with self._change() as record:
            if record and Path(path).exists():
                copy_file(record, Path(path), to=folder, folder=self.folder)

    def outputs(self, hours: float) -> None:
        """Record what a stage that ended well wrote: plots and reports, hashes, its model, its scores."""
        with self._change() as record:
            if record is None:
                return
            documents = add_outputs(record, self.settings, self.folder, hours)
            for name, values in documents.items():
                write_document(record, name, values, on="parent", folder=self.folder)
            written = [name.removeprefix("dvc.out.") for name in record.tags if name.startswith("dvc.out.")]
            for path in written:
                if Path(path).parts[0] in ("plots", "reports"):
                    copy_file(record, self.folder / path, folder=self.folder)

    @contextlib.contextmanager
    def _change(self) -> Iterator[Record | None]:
        """The record, written when the block has changed it. A full disk costs the record, not the stage, which meets it where it matters."""
        with self._writing:
            try:
                yield self._record
                if self._record:
                    write_record(self._record, self.folder)
            except OSError as error:
                say(f"not recorded: {error}")


_running = StageRun()


def current_run() -> StageRun:
    """The run of the stage that is running in this process; one that records nothing where none is."""
    return _running


@contextlib.contextmanager
def stage_run(stage: str, settings: Any, folder: str | Path = ".") -> Iterator[StageRun]:
    """Track one stage in MLflow while the block runs.

    Sets MLFLOW_TRACKING_URI, MLFLOW_EXPERIMENT_NAME and MLFLOW_RUN_ID for the block, so that a library that logs by itself
    finds the run. An exception marks the run FAILED; a run whose process was killed is marked KILLED when its record is sent.

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
    record, sender = _begin(stage, settings, Path(folder), required=mode == "required")
    tracked = StageRun(settings, folder, record, sender.sent)
    before, _running = _running, tracked
    began = time.monotonic()
    try:
        with _exported(tracked), Sampler(tracked.points):
            yield tracked
        tracked.outputs((time.monotonic() - began) / 3600)
    except BaseException as error:
        status = "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED"
        with tracked._change():
            end_record(record, status, error)
        sender.finish(END_S[status])
        raise
    finally:
        _running = before
    with tracked._change():
        end_record(record, "FINISHED")
        keep_finished(record, tracked.folder)
    sender.finish(END_S["FINISHED"])


def run_page() -> dict[str, str]:
    """Text and address of the page of the run that is being tracked; empty where nothing is, or the server is away."""
    if not _running.run_id:
        return {}
    from compass.services.state import read_services

    uri = tracking_uri(_running.folder)
    service = read_services(repository_root(_running.folder)).get("mlflow")
    local = service.url if service else None
    web = re.sub("//[^/@]*@", "//", uri) if uri.startswith("http") else local or LOCAL_UI  # whoever follows it logs in
    page = f"{web.rstrip('/')}/#/experiments/{_running.experiment_id}/runs/{_running.parent_id or _running.run_id}"
    return {"MLflow run" if uri.startswith("http") or local else "MLflow run (after make up)": page}


class Sender:
    """A thread that sends a record, and sends it again as it grows, from `start` to `finish`."""

    def __init__(self, record: Record, folder: Path) -> None:
        self.sent = Sent()
        """Where the record is in MLflow; filled by the first send that succeeds."""
        self.reason = ""
        """Why the server was away at the last try; empty when it answered."""
        self._folder, self._place = folder, outbox(folder) / record.id
        self._ending, self._wake, self._tried = threading.Event(), threading.Event(), threading.Event()
        self._complete = self._told = False
        self._thread = threading.Thread(target=self._run, name="tracking", daemon=True)

    def start(self, wait_s: float) -> None:
        """Begin to send; returns when the run is open, at the first failure, or after `wait_s` seconds."""
        self._thread.start()
        self._tried.wait(wait_s)

    def finish(self, wait_s: float) -> None:
        """Send the rest; waits `wait_s` seconds at most, and gives up at the first try that finds the server away."""
        self._ending.set()
        self._wake.set()
        self._thread.join(wait_s)
        if self._complete:
            remove_record(self._place)
        else:
            say(
                f"the record of {self._place.name} waits in .compass/outbox ({self.reason or 'the server is slow'}); the next "
                "stage, `compass up` or `compass runs sync` sends it"
            )

    def _run(self) -> None:
        pause, client, size = SEND_EVERY_S, None, 0.0
        while True:
            ending = self._ending.is_set()
            try:
                if client is None:
                    client = connect(self._folder)
                    send_waiting(self._folder, client, but=self._place.name)
                changed = (self._place / "record.json").stat().st_mtime_ns
                if changed != size or ending:
                    record = read_record(self._place)
                    if record:
                        send_record(client, record, self._folder, self.sent)
                    size = changed
                self._show_answered()
                pause = SEND_EVERY_S
                self._complete = ending
            except failures() as error:
                self._show_away(describe_failure(error))
                client, pause = None, min(2 * pause, LONGEST_PAUSE_S)
            self._tried.set()
            if ending:
                return
            self._wake.wait(pause)
            self._wake.clear()

    def _show_away(self, reason: str) -> None:
        self.reason = reason
        if not self._told:
            self._told = True
            say(
                f"{scrub(tracking_uri(self._folder))} cannot take records ({reason}); they are kept in .compass/outbox and sent later"
            )

    def _show_answered(self) -> None:
        self.reason = ""
        if self._told:
            self._told = False
            say(f"{scrub(tracking_uri(self._folder))} answers again; all records are sent")


def say(line: str) -> None:
    """Print a line about the record on standard error."""
    print(f"tracking: {line}", file=sys.stderr, flush=True)


def _begin(stage: str, settings: Any, folder: Path, *, required: bool) -> tuple[Record, Sender]:
    """Open the stage's run under its pipeline's, or have it opened when the server is there."""
    uri = tracking_uri(folder)
    if not uri.startswith(("http://", "https://", "sqlite:", "postgresql", "mysql", "mssql", "databricks")):
        raise TrackingError(
            f"MLFLOW_TRACKING_URI is {scrub(uri)!r}, which is no tracking server; give http://HOST:PORT or a database "
            "(sqlite:///FILE), or unset it to use the local database"
        )
    record = begin_record(stage, settings, folder, server_name(folder))
    record.replaces = find_unkept(stage, folder) if record.parent else ""
    try:
        write_record(record, folder)
        if record.parent:
            write_document(record, "settings.json", settings.model_dump(mode="json"), on="parent", folder=folder)
            write_record(record, folder)
    except OSError as error:
        raise TrackingError(
            f"the record of runs cannot be written ({error}); set COMPASS_TRACKING=off to run without one"
        ) from None
    sender = Sender(record, folder)
    sender.start(OPEN_S)
    if required and sender.reason:
        remove_record(outbox(folder) / record.id)
        raise TrackingError(
            f"the tracking server {scrub(uri)} cannot be used: {sender.reason}\nStart it, unset MLFLOW_TRACKING_URI to use the "
            "local database, or set COMPASS_TRACKING=optional to keep the record here until the server is back."
        )
    return record, sender


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
