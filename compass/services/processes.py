"""The processes of a repository's services, wherever they hang in the process tree, and their end."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil

from compass.processes import is_alive
from compass.services.catalogue import MARK, NAME
from compass.services.state import Service

KILL_S = 5.0
"""Seconds in which killed processes have to be gone."""


def tree(services: Iterable[Service]) -> list[psutil.Process]:
    """The live processes of services and all that they started, parents first."""
    found: dict[int, psutil.Process] = {}
    for service in services:
        if service.runs:
            with contextlib.suppress(psutil.NoSuchProcess):
                leader = psutil.Process(service.pid)
                for process in (leader, *leader.children(recursive=True)):
                    found.setdefault(process.pid, process)
    return [process for process in found.values() if is_alive(process)]


def marked(root: Path, name: str | None = None) -> list[psutil.Process]:
    """Every live process whose environment says that it belongs to this repository's services, or to one of them.

    It finds what outlived its parents. A process that overwrites its environment to show a title, as Ray's do, is missed
    here; stages end those themselves.
    """
    marks = {f"{MARK}={root.resolve()}".encode(), *([f"{NAME}={name}".encode()] if name else [])}
    found = []
    for process in psutil.process_iter():
        try:
            variables = set(Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0"))
        except OSError:  # it ended, or belongs to another user
            continue
        if marks <= variables and is_alive(process):
            found.append(process)
    return found


def end(processes: Sequence[psutil.Process], within_s: float) -> None:
    """Ask processes to end, and kill them, with all that they started meanwhile, after `within_s` seconds."""
    everyone = {process.pid: process for process in processes}
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline and _living(everyone):
        time.sleep(0.05)
    deadline = time.monotonic() + KILL_S
    while (living := _living(everyone)) and time.monotonic() < deadline:
        for process in living:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(0.05)


def _living(everyone: dict[int, psutil.Process]) -> list[psutil.Process]:
    """Those that still run; `everyone` grows by the children that they have started meanwhile."""
    for process in list(everyone.values()):
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in process.children(recursive=True):
                everyone.setdefault(child.pid, child)
    return [process for process in everyone.values() if is_alive(process)]
