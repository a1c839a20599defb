"""One Prefect task run per stage, in the order in which DVC comes to them, with DVC's verdict as its state.

DVC alone decides what runs: a task run here is a reader of its lines. It begins when DVC begins the stage and ends when DVC
says so, in a thread of its own, so that a Prefect server that is slow or down holds up no stage.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from pathlib import Path

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.futures import PrefectFuture
from prefect.states import Cancelled, Completed, Failed

from flows.artifacts import MlflowLink, ProgressArtifact, show_results
from flows.dvc_lines import DvcLines, Event, last_words

LOOK_S = 2.0
"""Seconds between two looks at how far a stage is, while it prints nothing."""

AT_END_S = 90.0
"""Seconds to wait in the end, for all of them together, for task runs whose reports the server has not taken yet."""


class StageTasks:
    """The task runs of one flow run; feed it DVC's lines."""

    def __init__(self, root: Path, link: MlflowLink, on_begin: Callable[[str], object] = lambda _: None) -> None:
        """Args:
        root: the repository's root.
        link: the link to MLflow, made while a stage runs.
        on_begin: told the name of a stage that begins, in the thread that feeds the lines.
        """
        self.root = root
        self.failed: str | None = None
        """The stage that failed."""
        self.error: list[str] = []
        """The last lines of its error, or of DVC's own where no stage failed."""
        self.crashed = False
        """Whether the stage that failed died without a message to its user, so that another try may go well."""
        self._link = link
        self._on_begin = on_begin
        self._logger = get_run_logger()
        self._lines = DvcLines()
        self._futures: list[PrefectFuture] = []
        self._feed: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._said: list[str] = []

    def line(self, line: str) -> None:
        """Take one line of DVC's output."""
        for event in self._lines.read(line):
            self._take(event)

    def close(self, *, failed: bool = False, cancelled: bool = False) -> None:
        """End the task run that is open, and wait until all have reported."""
        if cancelled:
            self._feed.put(None)
        else:
            for event in self._lines.end("failed" if failed else "done"):
                self._take(event)
        if failed and not self.failed:
            self.error = last_words(self._said)
        deadline = time.monotonic() + AT_END_S
        for future in self._futures:
            future.wait(max(0.0, deadline - time.monotonic()))

    def _take(self, event: Event) -> None:
        if event.kind == "line":
            self._said = [*self._said[-199:], event.text]
            if event.stage is None:
                self._logger.info(event.text)
        if event.kind in ("begins", "unchanged", "restored"):
            assert event.stage is not None
            self._feed, self._said = queue.SimpleQueue(), []
            if event.kind == "begins":
                self._on_begin(event.stage)
            self._futures.append(self._begin(event.stage, self._feed))
        if event.kind == "failed":
            self.failed, self.error = event.stage, last_words(self._said, event.stage)
            self.crashed = any(line.startswith("Traceback ") or "exited with -" in line for line in self._said)
        self._feed.put(event)

    def _begin(self, stage: str, feed: queue.SimpleQueue[Event | None]) -> PrefectFuture:
        progress = ProgressArtifact(stage, self.root, self._link)

        @task(name=stage, task_run_name=stage, cache_policy=NO_CACHE, persist_result=False)
        def read() -> State:
            return _read(stage, feed, progress)

        return read.submit()


def _read(stage: str, feed: queue.SimpleQueue[Event | None], progress: ProgressArtifact) -> State:
    """Pass on a stage's lines and progress until it has ended; its state."""
    logger = get_run_logger()
    said: list[str] = []
    while True:
        try:
            event = feed.get(timeout=LOOK_S)
        except queue.Empty:
            progress.look()
            continue
        if event is None:
            progress.look()
            return Cancelled(message="ended with its processes; what it had finished is kept")
        match event.kind:
            case "line":
                said = [*said[-199:], event.text]
                logger.info(event.text)
                progress.look()
            case "unchanged":
                return Completed(name="Cached", message="nothing it depends on has changed")
            case "restored":
                show_results(stage, progress.root)
                return Completed(name="Cached", message="its outputs were taken from DVC's cache")
            case "done":
                progress.look(ended=True)
                show_results(stage, progress.root)
                return Completed(message="ran")
            case "failed":
                progress.look()
                return Failed(message="\n".join(last_words(said, stage)) or "it ended without a message")
