"""Carry out one request as a Prefect flow run: in line with all other runs, through DVC, ended whole when it is cancelled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect import get_run_logger, runtime
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.events.clients import PrefectEventsClient
from prefect.events.worker import EventsWorker
from prefect.exceptions import ObjectNotFound, TerminationSignal
from prefect.settings import PREFECT_API_URL
from prefect.states import Cancelled, Completed, Crashed, Failed, Running

from compass.errors import UserError
from compass.line import in_line
from flows.artifacts import MlflowLink, show_command, show_links
from flows.guardian import Guardian, interrupted_once, serving_processes
from flows.profile import AS_IT_IS, profile_in_force
from flows.repro import ReproError
from flows.run import RunRequest, RunResult, run
from flows.stage_tasks import StageTasks

RECONNECT = 600
"""Times, a second apart, that the reports of task runs are tried while the server is down; Prefect's own 10 lose them."""

_RETRIED = ("collect", "grade", "evaluate")
"""Stages that a second try may help where the first one died without a message: they read from hubs and sample from an
engine, and go on from what they have. RL stages do too."""


def carry_out(request: RunRequest, *, profile: str = AS_IT_IS, limit_minutes: float = 0, retries: int = 0) -> State:
    """Run a request in the current folder; called from within a flow.

    Args:
        request: what to run.
        profile: the profile to put in force first, or `AS_IT_IS`.
        limit_minutes: a stage that takes longer is ended with all its processes; 0 sets no limit.
        retries: how often a stage that died without a message is tried again, where that is safe.

    Returns:
        The state that the flow run ends in; its message says why.
    """
    logger, root = get_run_logger(), Path.cwd()
    EventsWorker.set_client_override(PrefectEventsClient, reconnection_attempts=RECONNECT)
    key = f"prefect-{runtime.flow_run.id}"
    link = MlflowLink(root, key)
    command = request.command()
    if profile != AS_IT_IS:
        command = f"compass profile use {profile} && {command}"
    logger.info("the same in a terminal: %s", command)
    show_command(command)
    show_links(root)
    variables = {
        "COMPASS_PIPELINE_RUN": key,
        "COMPASS_STARTED_BY": "prefect",
        "COMPASS_PREFECT_URL": runtime.flow_run.ui_url or "",
    }
    tasks: StageTasks | None = None
    try:
        with (
            Guardian(partial(_ended_on_server, runtime.flow_run.id), serving_processes()) as guardian,
            interrupted_once(),
        ):
            try:
                with (
                    _waiting(lambda told: in_line(root, command, on_wait=told)) as held,
                    profile_in_force(root, profile),
                ):
                    os.environ.update(held)  # `run` finds the lock in this process
                    for attempt in range(retries + 1):
                        tasks = StageTasks(root, link, lambda _: guardian.limit(limit_minutes * 60 or None))
                        try:
                            result = run(request, root, log=tasks.line, env=variables)
                            break
                        except ReproError:
                            guardian.limit(None)
                            tasks.close(failed=True)
                            if attempt == retries or not _worth_another_try(tasks, root):
                                raise
                            logger.warning("%s died without a message; trying again", tasks.failed)
                            request = replace(request, force=False)
                tasks.close()
            except (TerminationSignal, KeyboardInterrupt):
                return _interrupted(guardian, tasks, limit_minutes)
    except UserError as error:
        logger.error("%s", error)
        return Failed(message=str(error))
    except ReproError as error:
        lines = tasks.error if tasks and tasks.error else str(error).splitlines()
        what = f"{tasks.failed}: " if tasks and tasks.failed and not lines[0].startswith(f"{tasks.failed}:") else ""
        message = what + "\n".join(lines)
        logger.error("failed: %s", message)
        return Failed(message=message)
    return Completed(message=summary(result))


def summary(result: RunResult) -> str:
    """`ran denoise, report; 10 of 12 stages were unchanged`."""
    ran = f"ran {', '.join(result.ran)}" if result.ran else "nothing to run"
    restored = f"; took {', '.join(result.restored)} from the cache" if result.restored else ""
    unchanged = f"; {len(result.unchanged)} unchanged" if result.unchanged else ""
    experiment = f"; kept as the experiment {result.experiment}" if result.experiment else ""
    return ran + restored + unchanged + experiment


def _worth_another_try(tasks: StageTasks, root: Path) -> bool:
    from compass.settings import load_settings

    return tasks.crashed and tasks.failed in (*_RETRIED, *load_settings(root / "params.yaml").rl.stages)


def _interrupted(guardian: Guardian, tasks: StageTasks | None, limit_minutes: float) -> State:
    """The state of a run that was interrupted, once nothing of it runs any more."""
    logger = get_run_logger()
    kept = "every process of it has ended; checkpoints and finished shards are kept, and the next run goes on from them"
    if tasks:
        tasks.close(cancelled=True)
    if guardian.reason == "late":
        logger.error("ended after its limit of %g minutes; %s", limit_minutes, kept)
        return Failed(name="TimedOut", message=f"took longer than its limit of {limit_minutes:g} minutes; {kept}")
    if guardian.reason == "orphaned":
        logger.error("ended, since the process that served it has ended; %s", kept)
        return Crashed(message=f"the process that served it has ended; {kept}")
    logger.warning("cancelled; %s", kept)
    return Cancelled(message=f"cancelled; {kept}")


@contextmanager
def _waiting(enter: Callable[[Callable[[str], object]], Any]) -> Iterator[Any]:
    """Enter the line; while it is not this run's turn, its state on the server is `Waiting`."""
    logger, waited = get_run_logger(), False

    def told(what: str) -> None:
        nonlocal waited
        logger.info("%s", what)
        _set_state(Running(name="Waiting", message=what))
        waited = True

    with enter(told) as held:
        if waited:
            _set_state(Running(message="its turn has come"))
        yield held


def _set_state(state: State) -> None:
    try:
        with get_client(sync_client=True) as client:
            client.set_flow_run_state(runtime.flow_run.id, state, force=True)
    except Exception as error:  # the server is down; the state is for those who look at it
        get_run_logger().debug("state %s not shown: %s", state.name, error)


def _ended_on_server(flow_run: str) -> bool:
    """Whether the server says that a run is to end, or has ended, or is gone."""
    if not PREFECT_API_URL.value():
        return False
    try:
        with get_client(sync_client=True) as client:
            state = client.read_flow_run(UUID(flow_run)).state
    except ObjectNotFound:
        return True
    return state is not None and (state.is_cancelling() or state.is_final())
