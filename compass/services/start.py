"""Start the services of a repository: all of them healthy, or none that this call started."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from compass.errors import UserError
from compass.locks import try_lock
from compass.services import processes
from compass.services.catalogue import CATALOGUE, DEFAULT_PORTS, Definition, environment, url
from compass.services.ports import free_port, holder, is_free
from compass.services.state import FOLDER, Service, recorded_services, write_services

START_S = 180.0
"""Seconds that a service has to become ready: a busy machine of two cores takes 60."""

ANSWER_S = 10.0
"""Seconds that a service which runs already has to answer, before it counts as hung."""

STOP_S = 4.0
"""Seconds that a service has to end by itself before it is killed."""


class ServiceError(UserError):
    """A service did not start; the message says which, with the last lines that it wrote."""

    exit_status = 3


@contextlib.contextmanager
def one_at_a_time(root: Path, tell: Callable[[str], object]) -> Iterator[None]:
    """Keeps two `compass up` or `compass down` of a repository apart."""
    folder = root / FOLDER
    try:
        folder.mkdir(exist_ok=True)
        lock = open(folder / "services.lock", "a")  # noqa: SIM115
    except OSError as error:
        raise UserError(
            f"{folder} cannot be written: {error.strerror}; `chmod u+rwx {folder}`, or change its owner"
        ) from None
    with lock:
        if not try_lock(lock.fileno()):
            tell("waiting for another `compass up` or `compass down` of this folder")
            while not try_lock(lock.fileno()):
                time.sleep(0.2)
        yield


def start(
    root: Path, wanted: Sequence[str], ports: Mapping[str, int], *, tell: Callable[[str], object] = print
) -> dict[str, Service]:
    """Bring services up; those that run already and answer stay as they are.

    Args:
        root: the repository's root.
        wanted: names in `CATALOGUE`.
        ports: the ports that the user chose; the others are those that services had before, or the defaults.
        tell: takes what is worth knowing while it takes time.

    Returns:
        The wanted services, all of them ready.

    Raises:
        UserError: a port is taken, or a service runs on another port than the chosen one; nothing was started.
        ServiceError: a service ended or was not ready in time; those that this call started are ended.
    """
    with one_at_a_time(root, tell):
        wanted = [name for name in CATALOGUE if name in wanted]
        recorded = recorded_services(root)
        running = {name: service for name, service in recorded.items() if service.runs}
        ports = {
            **DEFAULT_PORTS,
            **{name: _port(service) for name, service in recorded.items() if service.url},
            **ports,
        }
        if "prefect" not in {*wanted, *running}:
            ports.pop("prefect")  # the deployments are then served to PREFECT_API_URL
        _check_moves(running, ports)
        for name in [name for name in running if name in wanted]:
            if not _wait(lambda name=name: CATALOGUE[name].is_ready(running[name], ports), ANSWER_S):
                tell(f"{name} runs and does not answer: started again")
                processes.end(processes.tree([running.pop(name)]), STOP_S)
        new = [name for name in wanted if name not in running]
        for name in new:
            # A worker that outlived its server keeps the port. A flow run that outlived the deployments ends by itself.
            if name != "deployments":
                processes.end(processes.marked(root, name), STOP_S)
        check_ports({name: ports[name] for name in new if name in ports})
        return _start_all(root, new, running, wanted, ports)


def _start_all(
    root: Path, new: Sequence[str], running: dict[str, Service], wanted: Sequence[str], ports: Mapping[str, int]
) -> dict[str, Service]:
    began: dict[str, Service] = {}
    try:
        with contextlib.ExitStack() as prepared:
            for name in new:
                prepared.enter_context(CATALOGUE[name].prepare(root))
            _start_in_order(root, new, running, began, set(wanted) - set(running), ports)
    except BaseException:  # Ctrl-C as well: nothing half started stays
        processes.end(processes.tree(began.values()), STOP_S)
        write_services(running.values(), root)
        raise
    both = {**running, **began}
    return {name: both[name] for name in wanted}


def _start_in_order(
    root: Path,
    new: Sequence[str],
    running: Mapping[str, Service],
    began: dict[str, Service],
    missing: set[str],
    ports: Mapping[str, int],
) -> None:
    """Start each service once the one that it needs is ready, and wait until all are; `began` and `missing` change meanwhile."""
    deadline = time.monotonic() + START_S
    while waiting := [name for name in new if name in missing]:
        for name in waiting:
            definition = CATALOGUE[name]
            if name not in began and definition.after not in missing:
                began[name] = _launch(root, definition, ports)
                write_services([*running.values(), *began.values()], root)
        for name in waiting:
            if name not in began:
                continue
            if not began[name].runs:
                raise ServiceError(f"{name} ended while it started; {_last_lines(root, began[name])}")
            if CATALOGUE[name].is_ready(began[name], ports):
                missing.discard(name)
        if time.monotonic() > deadline:
            late = next(name for name in began if name in missing)
            raise ServiceError(f"{late} was not ready after {START_S:.0f} s; {_last_lines(root, began[late])}")
        time.sleep(0.2)


def check_ports(ports: Mapping[str, int]) -> None:
    """Raise UserError that names every taken port, who listens there, and what to do."""
    taken = []
    for name, port in ports.items():
        if sharer := next((other for other, number in ports.items() if number == port and other < name), None):
            taken.append(f"{name} and {sharer} cannot both have port {port}")
        elif not is_free(port):
            other = free_port(port)
            advice = f", or choose another port: compass up --{name}-port {other}" if other else ""
            taken.append(f"port {port}, which {name} needs, is taken by {holder(port)}. End that{advice}")
    if taken:
        raise UserError("\n".join(taken))


def _check_moves(running: Mapping[str, Service], ports: Mapping[str, int]) -> None:
    moved = [name for name, service in running.items() if service.url and _port(service) != ports[name]]
    if moved:
        where = ", ".join(f"{name} ({running[name].url})" for name in moved)
        raise UserError(f"already running on another port: {where}. To move it, end it first: compass down")


def _launch(root: Path, definition: Definition, ports: Mapping[str, int]) -> Service:
    log = root / FOLDER / "logs" / f"{definition.name}.log"
    for folder in (log.parent, root / FOLDER / "tmp"):
        folder.mkdir(parents=True, exist_ok=True)
    if log.exists():
        log.replace(log.with_suffix(".log.1"))  # two starts are kept, so that logs do not grow without end
    with open(log, "wb") as output:
        process = subprocess.Popen(
            definition.command(root, ports),
            cwd=root,
            env=environment(root, ports, definition),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal, and the terminal's end, are not theirs
        )
    created = psutil.Process(process.pid).create_time()
    return Service(definition.name, process.pid, created, url(definition.name, ports), str(log.relative_to(root)))


def _port(service: Service) -> int:
    assert service.url is not None
    return int(service.url.rpartition(":")[2])


def _wait(condition: Callable[[], bool], within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(0.2)
    return met


def _last_lines(root: Path, service: Service, count: int = 15) -> str:
    lines = (root / service.log).read_text(encoding="utf-8", errors="replace").splitlines()
    shown = "\n".join(f"  {line}" for line in lines[-count:] if line.strip())
    return f"its last lines ({service.log}):\n{shown}" if shown else f"it wrote nothing ({service.log} is empty)"
