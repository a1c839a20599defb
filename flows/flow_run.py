"""Carry out one request as a Prefect flow run: after all other runs, through DVC, ended whole when it is cancelled.

DVC alone decides what runs. A flow run has one task run per stage, which shows what the stage writes of its progress
(`compass.runs.progress`) and ends in the stage's state, in a thread of its own, so that a Prefect server that is slow or down
holds up no stage.
"""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from uuid import UUID

from prefect import get_run_logger, runtime, task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.events.clients import PrefectEventsClient
from prefect.events.worker import EventsWorker
from prefect.exceptions import ObjectNotFound
from prefect.futures import PrefectFuture
from prefect.settings import PREFECT_API_URL
from prefect.states import Cancelled, Completed, Crashed, Failed, Running

from compass.errors import UserError
from compass.runs.progress import StageProgress, read_run
from flows.artifacts import ProgressArtifact, show_links, show_results
from flows.cancel import Guardian, find_serving_processes, interrupt_once
from flows.dvc_process import DvcError
from flows.run import RunRequest, RunResult, find_unfinished, request_rest, run

RECONNECT = 600
"""Times, a second apart, that the reports of task runs are tried while the server is down; Prefect's own 10 lose them."""

LOOK_S = 1.0
"""Seconds between two looks at the files that stages write."""

AT_END_S = 90.0
"""Seconds to wait in the end, for all of them together, for task runs whose reports the server has not taken yet."""

_RETRIED = ("collect", "grade", "evaluate")
"""Stages that a second try may help where the first one died without a message: they read from hubs and sample from an
engine, and continue from what they have. RL stages do too."""


def carry_out(
    request: RunRequest,
    *,
    limit_minutes: float = 0,
    retries: int = 0,
) -> State:
    """Run a request in the current folder; called from within a flow.

    Args:
        request: what to run.
        limit_minutes: a stage that takes longer is ended with all its processes; 0 sets no limit.
        retries: how often a stage that died without a message is tried again, where that is safe.

    Returns:
        The state that the flow run ends in; its message says why.
    """
    logger, root = get_run_logger(), Path.cwd()
    EventsWorker.set_client_override(PrefectEventsClient, reconnection_attempts=RECONNECT)
    key = f"prefect-{runtime.flow_run.id}"
    logger.info("terminal command that does the same: %s", request.command())
    show_links(root)
    variables = {
        "COMPASS_PIPELINE_RUN": key,
        "COMPASS_STARTED_BY": "prefect",
        "COMPASS_PREFECT_URL": runtime.flow_run.ui_url or "",
    }

    waited = False

    def show_waiting(line: str) -> None:
        nonlocal waited
        waited = True
        logger.info("%s", line)
        _set_state(Running(name="Waiting", message=line))

    def begin() -> None:
        if waited:
            _set_state(Running(message="its turn has come"))
        tasks.begin()

    try:
        with (
            Guardian(partial(_is_ended_on_server, runtime.flow_run.id), find_serving_processes()) as guardian,
            interrupt_once(),
        ):
            tasks = StageTasks(root, key, lambda: guardian.set_limit(limit_minutes * 60 or None))
            try:
                for attempt in range(retries + 1):
                    try:
                        result = run(request, root, log=tasks.log, on_wait=show_waiting, on_start=begin, env=variables)
                        break
                    except DvcError:
                        guardian.set_limit(None)
                        tasks.close()
                        died = find_unfinished(root, key)
                        if attempt == retries or died is None or not _is_worth_another_try(died, root):
                            raise
                        logger.warning("%s died without a message; trying again", died.stage)
                        request = request_rest(request, root, key)
                tasks.close(result)
            except KeyboardInterrupt:
                tasks.close(cancelled=True)
                return _interrupted(guardian, limit_minutes)
    except UserError as error:
        logger.error("%s", error)
        return Failed(message=str(error))
    except DvcError as error:
        what, *last = str(error).splitlines()
        logger.error("failed: %s", error)
        return Failed(message=what if error.stage else "\n".join([what, *last[-8:]]))
    kept = f"; kept as the experiment {result.experiment}" if result.experiment else ""
    return Completed(message=f"{result}{kept}")


class StageTasks:
    """The task runs of one flow run: one begins when a stage writes that it has begun."""

    def __init__(self, root: Path, key: str, on_begin: Callable[[], object]) -> None:
        """Args:
        root: the repository's root.
        key: what the stages of this run have in common (COMPASS_PIPELINE_RUN).
        on_begin: called when a stage has begun, in a thread of its own.
        """
        self._root, self._key, self._on_begin = root, key, on_begin
        self._flow_logger = self._logger = get_run_logger()
        self._watcher: threading.Thread | None = None

    def begin(self) -> None:
        """Show the stages that begin from now on."""
        self._began, self._futures = time.time(), list[PrefectFuture]()
        self._ended, self._cancelled = threading.Event(), False
        # Prefect finds the flow run through context variables.
        self._watcher = threading.Thread(target=contextvars.copy_context().run, args=(self._watch,), daemon=True)
        self._watcher.start()

    def log(self, line: str) -> None:
        """Log a line of the output, with the stage that runs or else with the flow."""
        self._logger.info("%s", line)

    def close(self, result: RunResult | None = None, *, cancelled: bool = False) -> None:
        """End what is open, show the stages that had nothing to do as cached, and wait until all have reported."""
        if self._watcher is None:
            return  # its turn has not come
        self._cancelled = cancelled
        self._ended.set()
        self._watcher.join()
        for stages, why in (
            (result.restored if result else (), "its outputs were taken from DVC's cache"),
            (result.unchanged if result else (), "nothing it depends on has changed"),
        ):
            self._futures += [self._submit(stage, partial(_show_cached, stage, self._root, why)) for stage in stages]
        deadline = time.monotonic() + AT_END_S
        for future in self._futures:
            future.wait(max(0.0, deadline - time.monotonic()))

    def _watch(self) -> None:
        shown: set[str] = set()
        last = False
        while not last:
            last = self._ended.wait(LOOK_S)  # a stage may have begun and ended since the last look
            for progress in read_run(self._root, self._key):
                if progress.stage not in shown and progress.started >= self._began:
                    shown.add(progress.stage)
                    self._on_begin()
                    self._futures.append(self._submit(progress.stage, partial(self._follow, progress.stage)))

    def _submit(self, stage: str, work: Callable[[], State]) -> PrefectFuture:
        @task(name=stage, task_run_name=stage, cache_policy=NO_CACHE, persist_result=False)
        def follow() -> State:
            return work()

        return follow.submit()

    def _follow(self, stage: str) -> State:
        """Show a stage's progress until it has ended; its state."""
        self._logger, artifact = get_run_logger(), ProgressArtifact()
        try:
            while True:
                over = self._ended.is_set()
                progress = {one.stage: one for one in read_run(self._root, self._key)}.get(stage)
                if progress:
                    artifact.show(progress)
                # A cancelled stage is killed before this run knows that it was cancelled.
                if over or (progress and progress.state in ("finished", "failed")):
                    return self._state(progress)
                self._ended.wait(LOOK_S)
        finally:
            self._logger = self._flow_logger

    def _state(self, progress: StageProgress | None) -> State:
        if progress and progress.state == "finished":
            show_results(progress.stage, self._root)
            return Completed(message="ran")
        if self._cancelled:
            return Cancelled(message="ended with its processes; what it had finished is kept")
        return Failed(message=(progress.error if progress else "") or "it ended without a message")


def _show_cached(stage: str, root: Path, why: str) -> State:
    show_results(stage, root)
    return Completed(name="Cached", message=why)


def _is_worth_another_try(died: StageProgress, root: Path) -> bool:
    from compass.settings import load_settings

    return not died.refused and died.stage in (*_RETRIED, *load_settings(root / "params.yaml").rl.stages)


def _interrupted(guardian: Guardian, limit_minutes: float) -> State:
    """The state of a run that was interrupted, once nothing of it runs any more."""
    kept = "every process of it has ended; checkpoints and finished shards are kept, and the next run goes on from them"
    if guardian.reason == "late":
        state = Failed(name="TimedOut", message=f"took longer than its limit of {limit_minutes:g} minutes; {kept}")
    elif guardian.reason == "orphaned":
        state = Crashed(message=f"the process that served it has ended; {kept}")
    else:
        state = Cancelled(message=f"cancelled; {kept}")
    get_run_logger().log(logging.WARNING if state.is_cancelled() else logging.ERROR, "%s", state.message)
    return state


def _set_state(state: State) -> None:
    try:
        with get_client(sync_client=True) as client:
            client.set_flow_run_state(runtime.flow_run.id, state, force=True)
    except Exception as error:  # the server is down; the state is for those who look at it
        get_run_logger().debug("state %s not shown: %s", state.name, error)


def _is_ended_on_server(flow_run: str) -> bool:
    """Whether the server says that a run is to end, or has ended, or is gone."""
    if not PREFECT_API_URL.value():
        return False
    try:
        with get_client(sync_client=True) as client:
            state = client.read_flow_run(UUID(flow_run)).state
    except ObjectNotFound:
        return True
    return state is not None and (state.is_cancelling() or state.is_final())
