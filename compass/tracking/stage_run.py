"""The MLflow run of one stage: opened before the stage begins, filled while it runs, ended as the stage ended.

What a stage records is in its record (`compass.tracking.record`). A thread writes the record to disk every few seconds and sends what is new: a
server that is down, slow or stopped delays the record and nothing else.

`COMPASS_TRACKING` says what a tracking server that cannot be reached when a stage begins means: `optional` (default) keeps the
record in `.compass/outbox` and continues, `required` ends the stage before it begins, `off` records nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from compass import environment
from compass.runs.repository import repository_root
from compass.runs.values import scrub
from compass.settings import SettingsError
from compass.tracking.mlflow_client import connect, describe_failure, failures, server_name, tracking_uri
from compass.tracking.mlflow_send import Sent, send_record, send_waiting
from compass.tracking.mlflow_system_metrics import LoadSampler
from compass.tracking.outbox import Record, copy_artifact, outbox, write_record
from compass.tracking.record import add_curves, add_outputs, begin_record, end_record

LOCAL_UI = "http://127.0.0.1:5000"
"""Where `compass up` shows the local database, unless it was given another port."""

SEND_EVERY_S = 5.0
"""Seconds between two looks at a record that may have grown, and between two tries of a server that does not answer."""

OPEN_S = 60.0
"""Seconds that a stage waits for its run to be open; a fresh database takes some."""

END_S = {"FINISHED": 60.0, "FAILED": 15.0, "KILLED": 3.0}
"""Seconds that a stage waits for its record to be sent, as long as the server answers; the rest is sent later."""


class TrackingError(SettingsError):
    """The tracking server cannot be used; the message says which and what to do."""


class StageRun:
    """The run of the stage that is running; without a record, where nothing is tracked, every method does nothing."""

    def __init__(self, settings: Any = None, folder: str | Path = ".", record: Record | None = None) -> None:
        self.settings, self.folder = settings, Path(folder)
        self.sent = Sent()
        """Where the record is in MLflow; filled by the first send that succeeds."""
        self.reason = ""
        """Why the server was away at the last try; empty when it answered."""
        self._record = record
        self._changing, self._ending, self._tried = threading.Lock(), threading.Event(), threading.Event()
        self._complete = False
        self._thread = threading.Thread(target=self._send, name="tracking", daemon=True)

    @property
    def run_id(self) -> str | None:
        """The run's id in MLflow, as soon as the server has given one."""
        return self.sent.run or None

    @property
    def parent_id(self) -> str | None:
        """The id of the pipeline's run; None for a stage that was started by hand."""
        return self.sent.parent or None

    def curves(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Record iterations of an RL stage: verl's metrics of each, with its `step`."""
        if self._record:
            with self._changing:
                add_curves(self._record, self.settings, rows)

    def artifact(self, path: Path) -> None:
        """Record a small file, such as a configuration, as it is now."""
        if self._record:
            with _shown_errors():
                copy_artifact(self._record, path, self.folder)

    def start(self, wait_s: float) -> None:
        """Begin to send; returns when the run is open, at the first failure, or after `wait_s` seconds."""
        self._thread.start()
        self._tried.wait(wait_s)

    def finish(self, status: str, error: BaseException | None = None) -> None:
        """Record how the stage ended and send the rest; gives up at the first try that finds the server away, and after `END_S` seconds."""
        assert self._record is not None
        with self._changing, _shown_errors():
            end_record(self._record, status, error)
            # The thread may wait for the server until this process ends; a record on disk that runs would then count as killed.
            write_record(self._record, self.folder)
        self._ending.set()
        self._thread.join(END_S[status])
        if self._complete:
            self.forget()
            return
        say(
            f"the record of {self._record.id} waits in .compass/outbox ({self.reason or 'the server is slow'}); the next "
            "stage, `compass up` or `compass runs sync` sends it"
        )

    def forget(self) -> None:
        """Stop to send, and remove the record."""
        assert self._record is not None
        self._ending.set()
        self._thread.join(END_S["KILLED"])
        shutil.rmtree(outbox(self.folder) / self._record.id, ignore_errors=True)

    def outputs(self) -> None:
        """Record what a stage that ended well wrote: its metrics, plots and reports, hashes, its model, its scores."""
        if self._record:
            with self._changing, _shown_errors():
                add_outputs(self._record, self.settings, self.folder)

    def _send(self) -> None:
        assert self._record is not None
        sampler, client = LoadSampler(), None
        while True:
            ending = self._ending.is_set()
            with self._changing, _shown_errors():
                self._record.points += sampler.sample(now=ending)
                write_record(self._record, self.folder)
            try:
                if client is None:
                    client = connect(self.folder)
                    send_waiting(self.folder, client, but=self._record.id)
                send_record(client, self._record, self.folder, self.sent)
                if self.reason:
                    say(f"{scrub(tracking_uri(self.folder))} answers again; all records are sent")
                self.reason, self._complete = "", ending
            except failures() as error:
                if not self.reason:
                    say(
                        f"{scrub(tracking_uri(self.folder))} cannot take records ({describe_failure(error)}); they are kept in "
                        ".compass/outbox and sent later"
                    )
                self.reason, client = describe_failure(error), None
            self._tried.set()
            if ending:
                return
            self._ending.wait(SEND_EVERY_S)


_running = StageRun()


def current_run() -> StageRun:
    """The run of the stage that is running in this process; one that records nothing where none is."""
    return _running


@contextlib.contextmanager
def stage_run(stage: str, settings: Any, folder: str | Path = ".") -> Iterator[StageRun]:
    """Track one stage in MLflow while the block runs.

    An exception marks the run FAILED; a run whose process was killed is marked KILLED when its record is sent.

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
    tracked = _begin(stage, settings, Path(folder), required=mode == "required")
    before, _running = _running, tracked
    try:
        yield tracked
        tracked.outputs()
    except BaseException as error:
        tracked.finish("KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED", error)
        raise
    finally:
        _running = before
    tracked.finish("FINISHED")


def run_page() -> dict[str, str]:
    """Text and address of the page of the run that is being tracked; empty where nothing is, or the server is away."""
    if not _running.run_id:
        return {}
    from compass.services.state import read_services

    uri = tracking_uri(_running.folder)
    service = read_services(repository_root(_running.folder)).get("mlflow")
    local = service.url if service else None
    web = re.sub("//[^/@]*@", "//", uri) if uri.startswith("http") else local or LOCAL_UI  # whoever follows it logs in
    page = f"{web.rstrip('/')}/#/experiments/{_running.sent.experiment}/runs/{_running.parent_id or _running.run_id}"
    return {"MLflow run" if uri.startswith("http") or local else "MLflow run (after make up)": page}


def say(line: str) -> None:
    """Print a line about the record on standard error."""
    print(f"tracking: {line}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _shown_errors() -> Iterator[None]:
    """Print an error of the disk: it costs the record, not the stage, which meets a full disk where it matters."""
    try:
        yield
    except OSError as error:
        say(f"not recorded: {error}")


def _begin(stage: str, settings: Any, folder: Path, *, required: bool) -> StageRun:
    """Open the stage's run under its pipeline's, or have it opened when the server is there."""
    uri = tracking_uri(folder)
    if not uri.startswith(("http://", "https://", "sqlite:", "postgresql", "mysql", "mssql", "databricks")):
        raise TrackingError(
            f"MLFLOW_TRACKING_URI is {scrub(uri)!r}, which is no tracking server; give http://HOST:PORT or a database "
            "(sqlite:///FILE), or unset it to use the local database"
        )
    try:
        record = begin_record(stage, settings, folder, server_name(folder))
    except OSError as error:
        raise TrackingError(
            f"the record of runs cannot be made or written ({error}); set COMPASS_TRACKING=off to run without one"
        ) from None
    tracked = StageRun(settings, folder, record)
    tracked.start(OPEN_S)
    if required and tracked.reason:
        tracked.forget()
        raise TrackingError(
            f"the tracking server {scrub(uri)} cannot be used: {tracked.reason}\nStart it, unset MLFLOW_TRACKING_URI to use the "
            "local database, or set COMPASS_TRACKING=optional to keep the record here until the server is back."
        )
    return tracked
