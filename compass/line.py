"""The line in which every run of a repository waits: one at a time, first come, first served.

DVC frees its own lock while a stage's command runs, and a second `dvc repro` then fails with "busy" instead of waiting.
So whatever works on the results here, takes its place in this line first:

    with in_line(root, "dvc repro", on_wait=print) as variables:
        subprocess.run([...], env={**os.environ, **variables})

`.compass/pipeline.lock` is held through `flock`: the kernel frees it when its holder ends, however that happens. Those that
wait hold a numbered ticket each in `.compass/line/`, in the same way. A process that was started by the holder, with the
holder's `variables`, does not wait for itself.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compass.durations import duration
from compass.tracking.processes import process_key, process_runs

FOLDER = ".compass"
LOCK = "pipeline.lock"
TICKETS = "line"
OFF = "COMPASS_LINE"
"""Environment variable: with `off`, stages that DVC runs in copies of the repository do not wait in line."""

HELD = "COMPASS_PIPELINE_LOCK"
"""Environment variable with the holder's token, for the processes that the holder starts."""

POLL_S = 0.2
TELL_S = 60.0
"""Seconds between two lines that say what is waited for."""


@dataclass(frozen=True)
class Holder:
    """Who works on the results of a repository now."""

    process: str
    """`pid:create time`, as `compass.tracking.processes` writes it."""
    command: str
    since: float
    """Seconds since 1970."""

    @property
    def pid(self) -> int:
        """Its process id."""
        return int(self.process.partition(":")[0])

    def __str__(self) -> str:
        return f"`{self.command}` (process {self.pid}, for {duration(time.time() - self.since)})"


def holder(root: str | Path = ".") -> Holder | None:
    """Who holds the lock of the repository at `root`; None where nobody does."""
    return _alive(Path(root) / FOLDER / LOCK)


def waiting(root: str | Path = ".") -> list[Holder]:
    """Who waits in line, the next one first; `since` is when each began to wait."""
    tickets = sorted((Path(root) / FOLDER / TICKETS).glob("*.json"))
    return [entry for entry in map(_alive, tickets) if entry]


@contextlib.contextmanager
def in_line(
    root: str | Path, command: str, *, on_wait: Callable[[str], object] | None = None
) -> Iterator[dict[str, str]]:
    """Wait in line, then hold the lock while the block runs.

    Args:
        root: the repository's root.
        command: what is going to run, as the others are told.
        on_wait: told what is waited for, at once and then once a minute; standard error by default.

    Yields:
        The environment variables that pass the lock on to the processes that the block starts.
    """
    file = take_lock(root, command, on_wait=on_wait)
    if file is None:
        yield {HELD: os.environ[HELD]}
        return
    try:
        yield {HELD: process_key()}
    finally:
        os.ftruncate(file, 0)
        os.close(file)


def take_lock(root: str | Path, command: str, *, on_wait: Callable[[str], object] | None = None) -> int | None:
    """Wait in line for the lock; it is held until the file that is returned is closed in every process that has it.

    Returns:
        The open file; None where a process that started this one holds the lock already.
    """
    folder = Path(root) / FOLDER
    current = holder(root)
    if current and current.process == os.environ.get(HELD):
        return None
    (folder / TICKETS).mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    ticket = _draw_ticket(folder / TICKETS, command)
    try:
        told = -TELL_S
        while _ahead(ticket) or not _try_lock(lock):
            if time.monotonic() - told >= TELL_S:
                told = time.monotonic()
                (on_wait or _tell)(_waits_for(root, ticket))
            time.sleep(POLL_S)
        os.ftruncate(lock, 0)
        os.pwrite(lock, _entry(command), 0)
    except BaseException:
        os.close(lock)
        raise
    finally:
        ticket.path.unlink(missing_ok=True)
        os.close(ticket.file)
    return lock


@dataclass(frozen=True)
class _Ticket:
    path: Path
    file: int


def _draw_ticket(folder: Path, command: str) -> _Ticket:
    """The next number, held from the moment that others can see it."""
    with _guarded(folder):
        taken = [int(path.stem) for path in folder.glob("*.json")]
        path = folder / f"{max(taken, default=0) + 1:09d}.json"
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        _try_lock(file)
        os.pwrite(file, _entry(command), 0)
    return _Ticket(path, file)


def _ahead(ticket: _Ticket) -> list[Path]:
    """The tickets before this one; those whose process has ended are removed."""
    with _guarded(ticket.path.parent):
        before = [path for path in sorted(ticket.path.parent.glob("*.json")) if path.name < ticket.path.name]
        return [path for path in before if not _removed(path)]


def _removed(path: Path) -> bool:
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        if free := _try_lock(file):
            path.unlink(missing_ok=True)
        return free
    finally:
        os.close(file)


@contextlib.contextmanager
def _guarded(folder: Path) -> Iterator[None]:
    with open(folder / "guard", "a") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        yield


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _entry(command: str) -> bytes:
    return json.dumps(asdict(Holder(process_key(), command, time.time()))).encode()


def _alive(path: Path) -> Holder | None:
    try:
        entry = Holder(**json.loads(path.read_text(encoding="utf-8")))
        return entry if process_runs(entry.process) else None
    except (OSError, ValueError, TypeError):  # absent, or just being written
        return None


def _waits_for(root: str | Path, ticket: _Ticket) -> str:
    before = len(_ahead(ticket))
    line = f"; {before} more before this one" if before else ""
    return f"waiting for {holder(root) or 'a run that is ending'}{line}"


def _tell(line: str) -> Any:
    print(line, file=sys.stderr, flush=True)
