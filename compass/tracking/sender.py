"""A thread that sends what stages recorded to the tracking server, and does not mind when the server is away.

A stage writes its journal and goes on at once; the thread sends journals of earlier stages first, then the running stage's as
it grows. A server that is down, slow or stopped delays the record and nothing else.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compass.runs.values import scrub
from compass.tracking.journal import Journal, begun, waiting
from compass.tracking.mlflow_client import connect, failures, lasting, tracking_uri

POLL_S = 1.0
"""Seconds between two looks into the journal: metrics go out in batches, not one by one."""

LONGEST_PAUSE_S = 10.0
"""Seconds between two tries of a server that does not answer, at most."""

TRIES = 5
"""Times that a record is tried which fails although the server answers otherwise; then it is left out."""


class AwayError(Exception):
    """The server does not answer, or cannot take records now; the message is the reason."""


class Sender:
    """Sends a stage's journal as it grows, from `start` to `finish`."""

    def __init__(self, journal: Journal, folder: str | Path = ".") -> None:
        self.journal = journal
        self.folder = folder
        self.reason = ""
        """Why the server was away at the last try; empty when it answered."""
        self._told = False
        self._wake, self._stop = threading.Event(), threading.Event()
        self._tried = threading.Condition()
        self._tries = 0
        self._drained = self._gave_up = self._left = self._earlier = False
        self._thread = threading.Thread(target=self._run, name="tracking", daemon=True)

    def start(self, wait_s: float) -> None:
        """Begin to send; returns when the run is open, at the first failure, or after `wait_s` seconds."""
        self._thread.start()
        with self._tried:
            self._tried.wait_for(lambda: self.journal.sent.run or self._tries, timeout=wait_s)

    def finish(self, wait_s: float) -> bool:
        """Send the rest; waits `wait_s` seconds at most, and gives up at the first try that finds the server away.

        Returns:
            Whether the whole journal, with its end, was sent. It is removed then, and waits in the outbox otherwise.
        """
        self._stop.set()
        self._wake.set()
        with self._tried:
            self._tried.wait_for(lambda: self._drained or self._gave_up, timeout=wait_s)
        drained = self._drained
        self._left = True
        self._wake.set()
        self._thread.join(None if drained else 1.0)  # a try that is under way ends by itself
        if drained:
            self.journal.remove()
        return drained

    def _run(self) -> None:
        pause, client = POLL_S, None
        while not self._drained and not self._left:
            ending = self._stop.is_set()
            try:
                client = client or connect(self.folder)
                if not self._earlier:
                    send_waiting(self.folder, client)
                    self._earlier = True
                send(self.journal, client, opened=self._tell_try)
                self._answered()
                pause = POLL_S
                self._drained = ending
            except (AwayError, *failures()) as error:
                self._away(first_line(error))
                client, pause = None, min(2 * pause, LONGEST_PAUSE_S)
                self._gave_up = ending
            self._tell_try()
            self._wake.wait(pause)
            self._wake.clear()
        if not self._drained:
            self.journal.close()

    def _tell_try(self) -> None:
        with self._tried:
            self._tries += 1
            self._tried.notify_all()

    def _away(self, reason: str) -> None:
        self.reason = reason
        if not self._told:
            self._told = True
            say(
                f"{scrub(tracking_uri(self.folder))} cannot take records ({reason}); they are kept in .compass/outbox and sent later"
            )

    def _answered(self) -> None:
        self.reason = ""
        if self._told:
            self._told = False
            say(f"{scrub(tracking_uri(self.folder))} answers again; all records are sent")


def send_waiting(folder: str | Path = ".", client: Any = None) -> tuple[int, int]:
    """Send the journals of stages that run no more, oldest first.

    Args:
        folder: the repository.
        client: MLflow's; None connects where a journal waits.

    Returns:
        How many were sent, and how many stay because they are of another server.

    Raises:
        AwayError: the server does not answer; what was sent until then is noted.
    """
    sent = stay = 0
    for journal in waiting(folder):
        try:
            if begun(journal.folder).get("server") != server(folder):
                stay += 1
                journal.close()
                continue
            client = client or connect(folder)
            send(journal, client)
        except BaseException:
            journal.close()
            raise
        journal.remove()
        sent += 1
    return sent, stay


def send(journal: Journal, client: Any, opened: Any = None) -> None:
    """Send what a journal holds that was not sent.

    Args:
        journal: locked by this process.
        client: MLflow's.
        opened: called when the run is open on the server.

    Raises:
        AwayError: the server does not answer, or cannot take records now.
    """
    from compass.tracking.mlflow_records import apply

    for record, position in _joined(journal.unsent()):
        _try(lambda record=record: apply(client, journal, record), record, client)
        journal.sent.position = position
        journal.save()
        if opened and record["do"] == "begin":
            opened()


def server(folder: str | Path = ".") -> str:
    """What a journal is for: the address of the server without credentials, or `local`, wherever the folder is."""
    uri = tracking_uri(folder)
    return "local" if uri.startswith("sqlite:") and uri.endswith("/.compass/mlflow.db") else scrub(uri)


def _try(call: Any, record: Any, client: Any) -> None:
    """Carry out one record; one that the server refuses is left out with a message, and so is one that fails while others do not."""
    for attempt in range(TRIES):
        try:
            return call()
        except failures() as error:
            if lasting(error):
                return say(f"{record['do']} not recorded: {first_line(error)}")
            reason = first_line(error)
            try:
                client.search_experiments(max_results=1)
            except failures():
                raise AwayError(reason) from error
            if attempt + 1 < TRIES:
                time.sleep(0.5 * 2**attempt)
    return say(f"{record['do']} not recorded: {reason}")


def _joined(records: list[tuple[dict[str, Any], int]]) -> Iterator[tuple[dict[str, Any], int]]:
    """The records, with neighbouring metrics of the same run as one."""
    kept: tuple[dict[str, Any], int] | None = None
    for record, position in records:
        if kept and record["do"] == kept[0]["do"] == "metrics" and record.get("on") == kept[0].get("on"):
            kept = {**kept[0], "values": kept[0]["values"] + record["values"]}, position
            continue
        if kept:
            yield kept
        kept = record, position
    if kept:
        yield kept


def say(text: str) -> None:
    """One line for the user."""
    print(f"tracking: {text}", file=sys.stderr, flush=True)


def first_line(error: BaseException) -> str:
    """An error's first line, without credentials and the details of the network library."""
    text = scrub((str(error).strip().splitlines() or [type(error).__name__])[0])
    if "timed out" in text.lower():
        return "no answer in time"
    return "no connection" if "Connection refused" in text or "Max retries" in text else text[:200]
