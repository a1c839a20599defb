"""Start the servers of a repository, all of them healthy or none that this call started, and end them with all that they started."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path

import httpx
import psutil

from compass.errors import UserError
from compass.locks import read_turn, take_lock
from compass.processes import find_start, is_alive, wait_until_ended
from compass.services.servers import DEFAULT_PORTS, HOST, MARK, NAME, Server, ask, environment, list_servers
from compass.services.state import FOLDER, Service, read_recorded_services, read_services, write_services
from compass.tracking.mlflow_client import lock_store

START_S = 180.0
"""Seconds that the servers have to become ready: a busy machine of two cores takes 60."""

ANSWER_S = 10.0
"""Seconds that a server which runs already has to answer, before it counts as hung."""

CANCEL_S = 9.0
"""Seconds that flow runs have to end after they were cancelled: a stage keeps its checkpoint in that time."""

STOP_S = 3.0
"""Seconds that the deployments, and then the servers, have to end by themselves before they are killed: with the time above and
what a busy machine adds, all is over within 20."""

KILL_S = 5.0
"""Seconds in which killed processes have to be gone."""

UNFINISHED = ("RUNNING", "PENDING", "CANCELLING")
"""Prefect's types of states in which a flow run has processes."""


class ServiceError(UserError):
    """A server did not start; the message says which, with the last lines that it wrote."""

    exit_status = 3


def start(
    root: Path, wanted: Collection[str], ports: Mapping[str, int], *, tell: Callable[[str], object] = print
) -> dict[str, Service]:
    """Bring servers up; those that run already and answer stay as they are.

    Args:
        root: the repository's root.
        wanted: names of `list_servers`.
        ports: the ports that the user chose; the others are those that servers had before, or the defaults.
        tell: takes what is worth knowing while it takes time.

    Returns:
        The wanted servers, all of them ready.

    Raises:
        UserError: a port is taken, or a server runs on another port than the chosen one; nothing was started.
        ServiceError: a server ended or was not ready in time; those that this call started are ended.
    """
    with _hold_lock(root, tell):
        recorded = read_recorded_services(root)
        running = {name: service for name, service in recorded.items() if service.runs}
        ports = {**DEFAULT_PORTS, **{name: one.port for name, one in recorded.items() if one.port}, **ports}
        if "prefect" not in {*wanted, *running}:
            ports.pop("prefect")  # the stages are then served to PREFECT_API_URL
        for name, service in running.items():
            if service.port and service.port != ports[name]:
                raise UserError(f"{name} runs on another port ({service.url}). To move it, end it first: compass down")
        servers = list_servers(root, ports)
        hung = []
        for name in [name for name in running if name in wanted]:
            if not _wait_until(partial(servers[name].is_ready, running[name]), ANSWER_S):
                tell(f"{name} runs and does not answer: started again")
                hung.append(name)
                del running[name]
        missing = {name: server for name, server in servers.items() if name in wanted and name not in running}
        # A worker that outlived its server keeps the port. A flow run that outlived the deployments ends by itself.
        end_processes(root, {*hung, *missing.keys() - {"deployments"}})
        check_ports({name: ports[name] for name in missing if name in ports})
        try:
            _start_missing(root, missing, running, ports)
        except BaseException:  # Ctrl-C as well: nothing half started stays
            end_processes(root, missing.keys())
            write_services([service for name, service in running.items() if name not in missing], root)
            raise
        return {name: running[name] for name in servers if name in wanted}


def stop(root: Path, *, force: bool = False, tell: Callable[[str], object] = print) -> list[str]:
    """End all servers; the deployments first, so that the end of their flow runs is still noted.

    Args:
        root: the repository's root.
        force: cancel the flow runs that are in progress.
        tell: takes what is worth knowing while it takes time.

    Returns:
        Names of the servers that ran.

    Raises:
        UserError: flow runs are in progress, and `force` is not given; nothing was ended.
    """
    with _hold_lock(root, tell):
        running = read_services(root)
        api = f"{running['prefect'].url}/api" if "prefect" in running else ""
        if flow_runs := _list_flow_runs(api):
            names = ", ".join(flow_runs.values())
            if not force:
                raise UserError(
                    f"in progress, started from Prefect: {names}. Wait for it, cancel it on {running['prefect'].url}, "
                    "or end it with the services: compass down --force"
                )
            tell(f"cancelling {names}")
            _cancel_flow_runs(api, flow_runs)
            _wait_until(lambda: not _list_flow_runs(api), CANCEL_S)
        # What is not noted as ended by then, the deployments note when they are served again.
        end_processes(root, {"deployments"})
        end_processes(root)
        write_services([], root)
        if holder := read_turn(root):
            tell(f"in progress, not ended: {holder}. What it records waits for the next `compass up`")
        shutil.rmtree(root / FOLDER / "tmp", ignore_errors=True)
        return list(running)


def find_processes(root: Path, names: Collection[str] | None = None) -> list[psutil.Process]:
    """The live processes of a repository's servers and of all that they started.

    Found below each server's process, and by the environment that all of them have from it, which finds what outlived its
    parents. A process that overwrites its environment to show a title, as Ray's do, and outlived its parents is missed: stages
    end those themselves.

    Args:
        root: the repository's root.
        names: the servers; all of them by default.
    """
    found: dict[int, psutil.Process] = {}
    for name, service in read_services(root).items():
        if names is None or name in names:
            with contextlib.suppress(psutil.NoSuchProcess):
                leader = psutil.Process(service.pid)
                found.update((process.pid, process) for process in (leader, *leader.children(recursive=True)))
    of_root, of_names = f"{MARK}={root.resolve()}".encode(), {f"{NAME}={name}".encode() for name in names or ()}
    for process in psutil.process_iter():
        try:
            variables = set(Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0"))
        except OSError:  # it ended, or belongs to another user
            continue
        if of_root in variables and (names is None or of_names & variables):
            found.setdefault(process.pid, process)
    return [process for process in found.values() if is_alive(process)]


def end_processes(root: Path, names: Collection[str] | None = None) -> None:
    """Ask the processes of servers to end; after `STOP_S` seconds kill them, with what they started meanwhile."""
    asked = find_processes(root, names)
    for process in asked:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    wait_until_ended(asked, STOP_S)
    left = [*filter(is_alive, asked), *find_processes(root, names)]
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    wait_until_ended(left, KILL_S)


def check_ports(ports: Mapping[str, int]) -> None:
    """Raise UserError that names every taken port, who listens there, and what to do."""
    taken = []
    for name, port in ports.items():
        if sharer := next((other for other, number in ports.items() if number == port and other < name), None):
            taken.append(f"{name} and {sharer} cannot both have port {port}")
        elif not is_free(port):
            other = find_free_port(port)
            advice = f", or choose another port: compass up --{name}-port {other}" if other else ""
            taken.append(f"port {port}, which {name} needs, is taken by {find_listener(port)}. End that{advice}")
    if taken:
        raise UserError("\n".join(taken))


def is_free(port: int) -> bool:
    """Whether a server could listen on a port of `HOST` now."""
    with socket.socket() as probe:
        # As servers do: a port whose last connections linger in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def find_free_port(above: int) -> int | None:
    """The first free port after `above`, None where there is none among the next hundred."""
    return next((port for port in range(above + 1, min(above + 101, 65536)) if is_free(port)), None)


def find_listener(port: int) -> str:
    """Who listens on a port, for a message: `process 123 (python -m http.server 5000) in /home/me`."""
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port and connection.pid:
            with contextlib.suppress(psutil.Error):  # it ended just now, or belongs to another user
                process = psutil.Process(connection.pid)
                return f"process {process.pid} ({shlex.join(process.cmdline())[:120]}) in {process.cwd()}"
    return "the system: ports below 1024 need its administrator" if port < 1024 else "a process of another user"


@contextlib.contextmanager
def _hold_lock(root: Path, tell: Callable[[str], object]) -> Iterator[None]:
    """Keep two `compass up` or `compass down` of a repository apart."""
    folder = root / FOLDER
    try:
        lock = take_lock(folder / "services.lock", f"compass {' '.join(sys.argv[1:])}", on_wait=tell)
    except OSError as error:
        remedy = f"`chmod u+rwx {folder}`, or change its owner"
        raise UserError(f"{folder} cannot be written: {error.strerror}", remedy) from None
    assert lock is not None
    try:
        yield
    finally:
        os.close(lock)


def _start_missing(
    root: Path, missing: Mapping[str, Server], running: dict[str, Service], ports: Mapping[str, int]
) -> None:
    """Start servers and wait until all are ready, then the deployments, which ask Prefect's; `running` gets them as they start."""
    deadline = time.monotonic() + START_S
    is_new = "mlflow" in missing and not (root / FOLDER / "mlflow.db").exists()
    with lock_store(root) if is_new else contextlib.nullcontext():  # until the server has made its tables
        for last in (False, True):
            servers = [server for server in missing.values() if (server.name == "deployments") is last]
            for server in servers:
                running[server.name] = _launch(root, server, ports.get(server.name))
                write_services(running.values(), root)
            for server in servers:
                _wait_ready(root, server, running[server.name], deadline)


def _launch(root: Path, server: Server, port: int | None) -> Service:
    log = root / FOLDER / "logs" / f"{server.name}.log"
    for folder in (log.parent, root / FOLDER / "tmp"):
        folder.mkdir(parents=True, exist_ok=True)
    if log.exists():
        log.replace(log.with_suffix(".log.1"))  # two starts are kept, so that logs do not grow without end
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [sys.executable, *server.arguments],
            cwd=root,
            env=environment(root, server),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal, and the terminal's end, are not theirs
        )
    url = f"http://{HOST}:{port}" if port else None
    return Service(server.name, process.pid, find_start(process.pid), url, str(log.relative_to(root)))


def _wait_ready(root: Path, server: Server, service: Service, deadline: float) -> None:
    while not server.is_ready(service):
        if service.runs and time.monotonic() < deadline:
            time.sleep(0.2)
            continue
        fault = f"was not ready after {START_S:.0f} s" if service.runs else "ended while it started"
        lines = (root / service.log).read_text(encoding="utf-8", errors="replace").splitlines()
        shown = "\n".join(f"  {line}" for line in lines[-15:] if line.strip())
        raise ServiceError(f"{server.name} {fault}; its last lines ({service.log}):\n{shown or '  none'}")


def _wait_until(condition: Callable[[], bool], within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return met


def _list_flow_runs(api: str) -> dict[str, str]:
    """Id to name of the flow runs that Prefect takes for unfinished; empty where no server answers."""
    question = {"flow_runs": {"state": {"type": {"any_": list(UNFINISHED)}}}, "limit": 200}
    try:
        return {run["id"]: run["name"] for run in ask(f"{api}/flow_runs/filter", question)} if api else {}
    except (httpx.HTTPError, ValueError):
        return {}


def _cancel_flow_runs(api: str, flow_runs: Collection[str]) -> None:
    body = {"state": {"type": "CANCELLING", "name": "Cancelling", "message": "Ended by compass down"}}
    for identity in flow_runs:
        # The server is about to end; what it does not answer now stays as it was.
        with contextlib.suppress(httpx.HTTPError, ValueError):
            ask(f"{api}/flow_runs/{identity}/set_state", body)
