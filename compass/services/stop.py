"""End the services of a repository, with everything that they started."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from compass.errors import UserError
from compass.locks import read_turn
from compass.services import http, processes
from compass.services.start import one_at_a_time
from compass.services.state import FOLDER, Service, recorded_services, write_services

CANCEL_S = 9.0
"""Seconds that flow runs have to end after they were cancelled: a stage keeps its checkpoint in that time."""

STOP_S = 3.0
"""Seconds that the deployments, and then the servers, have to end by themselves before they are killed: with the time above and
what a busy machine adds, all is over within 20."""

UNFINISHED = ("RUNNING", "PENDING", "CANCELLING")
"""Prefect's types of states in which a flow run has processes."""


def stop(root: Path, *, force: bool = False, tell: Callable[[str], object] = print) -> list[str]:
    """End all services; the deployments first, so that the end of their flow runs is still noted.

    Args:
        root: the repository's root.
        force: cancel the flow runs that are in progress.
        tell: takes what is worth knowing while it takes time.

    Returns:
        Names of the services that ran.

    Raises:
        UserError: flow runs are in progress, and `force` is not given; nothing was ended.
    """
    with one_at_a_time(root, tell):
        recorded = recorded_services(root)
        running = {name: service for name, service in recorded.items() if service.runs}
        flow_runs = _flow_runs(running)
        if flow_runs:
            names = ", ".join(flow_runs.values())
            if not force:
                raise UserError(
                    f"in progress, started from Prefect: {names}. Wait for it, cancel it on {running['prefect'].url}, "
                    "or end it with the services: compass down --force"
                )
            tell(f"cancelling {names}")
            _cancel(running, flow_runs)
        if "deployments" in running:
            processes.end(processes.tree([running["deployments"]]), STOP_S)
        _settle(running, flow_runs)
        processes.end(processes.tree(running.values()), STOP_S)
        if left := processes.marked(root):
            processes.end(left, STOP_S)
        write_services([], root)
        if holder := read_turn(root):
            tell(f"in progress, not ended: {holder}. What it records waits for the next `compass up`")
        shutil.rmtree(root / FOLDER / "tmp", ignore_errors=True)
        return list(running)


def _flow_runs(running: dict[str, Service]) -> dict[str, str]:
    """Id to name of the flow runs in progress, those of workers elsewhere included; empty where there is none."""
    if "prefect" not in running:
        return {}
    has_processes = "deployments" in running and len(processes.tree([running["deployments"]])) > 1
    return _unfinished(running["prefect"]) or ({"": "a flow run"} if has_processes else {})


def _unfinished(prefect: Service) -> dict[str, str]:
    """Id to name of the flow runs that Prefect takes for unfinished; empty where it does not answer."""
    question = {"flow_runs": {"state": {"type": {"any_": list(UNFINISHED)}}}, "limit": 200}
    try:
        return {run["id"]: run["name"] for run in http.ask(f"{prefect.url}/api/flow_runs/filter", question)}
    except (OSError, ValueError):
        return {}


def _cancel(running: dict[str, Service], flow_runs: dict[str, str]) -> None:
    """Have Prefect cancel flow runs, and wait until their processes have ended."""
    for identity in filter(None, flow_runs):
        _set_state(running["prefect"], identity, "CANCELLING", force=False)
    deadline = time.monotonic() + CANCEL_S
    while time.monotonic() < deadline and _flow_runs(running):
        time.sleep(0.2)


def _settle(running: dict[str, Service], flow_runs: dict[str, str]) -> None:
    """Have none of the cancelled flow runs stand as running for ever once what ran it is gone."""
    if flow_runs:
        for identity in _unfinished(running["prefect"]).keys() & flow_runs.keys():
            _set_state(running["prefect"], identity, "CANCELLED", force=True)


def _set_state(prefect: Service, identity: str, state: str, *, force: bool) -> None:
    body = {"state": {"type": state, "name": state.title(), "message": "Ended by compass down"}, "force": force}
    try:
        http.ask(f"{prefect.url}/api/flow_runs/{identity}/set_state", body)
    except (OSError, ValueError):
        return  # the server is about to end; what it does not answer now stays as it was
