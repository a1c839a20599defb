"""What runs, or should: the services and their ports, and processes and folders that earlier runs left."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from compass.checks.finding import Finding, Place
from compass.locks import try_lock
from compass.process_tree import OWNER, PREFIX

RAY = ("raylet", "gcs_server")
LARGE_BYTES = 1 << 30
"""Leftover temporary files beyond this size are worth a warning."""


def check_services(place: Place) -> Iterator[Finding]:
    """Those of `compass up`: alive, answering; the ports of the others free."""
    from compass.services.ports import find_free_port, find_listener, is_free
    from compass.services.servers import DEFAULT_PORTS, list_servers
    from compass.services.state import read_recorded_services

    recorded = read_recorded_services(place.root)
    servers = list_servers(place.root, {name: one.port for name, one in recorded.items() if one.port})
    up = []
    for name, service in recorded.items():
        if not service.runs:
            found = f"{name} was started and has ended; {service.log} has its last lines"
            yield Finding("services", "problem", found, "`compass up` starts it again")
        elif name in servers and not servers[name].is_ready(service):
            found = f"{name} runs and does not answer; {service.log} has its last lines"
            yield Finding("services", "problem", found, "`compass up` starts it again")
        else:
            up.append(f"{name} {service.url or ''}".strip())
    if up:
        yield Finding("services", "ok", ", ".join(up))
    elif not recorded:
        yield Finding("services", "ok", "none runs; `compass up` starts them")
    for name, port in DEFAULT_PORTS.items():
        chosen = int(os.environ.get(f"COMPASS_{name.upper()}_PORT", port))
        if name not in recorded and not is_free(chosen):
            remedy = f"end it, or `compass up --{name}-port {find_free_port(chosen)}`"
            yield Finding("ports", "warning", f"port {chosen}, {name}'s, is taken by {find_listener(chosen)}", remedy)


def check_leftovers(place: Place) -> Iterator[Finding]:
    """Processes that outlived what started them."""
    from compass.services.lifetime import find_processes
    from compass.services.state import read_services

    running = {service.pid for service in read_services(place.root).values()}
    own = {process.pid for process in (psutil.Process(), *psutil.Process().parents())}
    left = [
        process
        for process in find_processes(place.root)
        if process.pid not in own and running.isdisjoint({process.pid, *(parent.pid for parent in process.parents())})
    ]
    if left:
        shown = ", ".join(f"{process.pid} ({' '.join(process.cmdline()[:4])})" for process in left[:3])
        more = f" and {len(left) - 3} more" if len(left) > 3 else ""
        yield Finding("processes", "warning", f"left of a service that has ended: {shown}{more}", "`compass down`")
    ray = [process for process in psutil.process_iter(["name", "ppid"]) if process.info["name"] in RAY]
    orphans = [process for process in ray if process.info["ppid"] == 1]
    if orphans and not os.environ.get("RAY_ADDRESS"):
        since = time.strftime("%H:%M", time.localtime(min(process.create_time() for process in orphans)))
        pids = " ".join(str(process.pid) for process in orphans)
        found = f"Ray runs since {since} without a program above it (processes {pids})"
        yield Finding("processes", "warning", found, f"if no one needs it: `ray stop`, or `kill {pids}`")
    elif not left:
        yield Finding("processes", "ok", "none is left of earlier runs" + (", Ray runs under a stage" if ray else ""))


def check_temporary_files(place: Place) -> Iterator[Finding]:
    """Folders of stages that were killed whole, and of Ray sessions that have ended."""
    stages = [folder for folder in Path("/tmp").glob(f"{PREFIX}*") if _is_abandoned(folder)]
    current = {path.resolve() for path in Path("/tmp/ray").glob("session_latest")}
    running = any(process.info["name"] in RAY for process in psutil.process_iter(["name"]))
    sessions = [path for path in Path("/tmp/ray").glob("session_2*") if not (running and path in current)]
    size = _measure_size([*stages, *sessions])
    if size > LARGE_BYTES:
        remedy = "`rm -r " + " ".join([*map(str, stages[:3]), *(["/tmp/ray/session_2*"] if sessions else [])]) + "`"
        found = f"{size >> 20} MiB of {len(stages)} stages and {len(sessions)} Ray sessions that have ended"
        yield Finding("temporary files", "warning", found, remedy)
    elif stages:
        yield Finding("temporary files", "ok", f"{len(stages)} folders of killed stages; the next stage removes them")


def _is_abandoned(folder: Path) -> bool:
    """Whether nobody holds the lock of a stage's temporary folder."""
    try:
        with open(folder / OWNER, "rb+") as file:
            return try_lock(file.fileno())
    except OSError:  # in use, someone else's, or not a folder of a stage
        return False


def _measure_size(folders: list[Path], within_s: float = 0.5) -> int:
    """Bytes below folders; what is counted within the time."""
    deadline, total = time.monotonic() + within_s, 0
    for folder in folders:
        for parent, _, names in os.walk(folder):
            for name in names:
                total += (
                    os.lstat(os.path.join(parent, name)).st_blocks * 512
                    if os.path.lexists(os.path.join(parent, name))
                    else 0
                )
            if time.monotonic() > deadline:
                return total
    return total
