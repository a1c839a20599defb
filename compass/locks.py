"""Locks that the kernel frees: held through `flock` until the last process that has the file open has ended.

`filelock.lock_descriptor` takes them, and not `filelock.FileLock`, which lets go of a lock in forked processes: a stage is
several forks (`compass.process_tree`), and its lock has to last until the last of them has ended.

One lock orders the runs of a repository, `.compass/pipeline.lock`: DVC frees its own lock while a stage's command runs, and a
second `dvc repro` then fails with "busy" instead of waiting.

    with take_turn(root, "dvc repro", on_wait=print) as variables:
        subprocess.run([...], env={**os.environ, **variables})

A process that the holder started, with the holder's
`variables`, does not wait for itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import lock_descriptor

from compass.durations import duration
from compass.processes import process_key, process_runs

PIPELINE = Path(".compass/pipeline.lock")
OFF = "COMPASS_LINE"
"""Environment variable: with `off`, stages that DVC runs in copies of the repository do not wait for their turn."""

HELD = "COMPASS_PIPELINE_LOCK"
"""Environment variable with the holder's key, for the processes that the holder starts."""

POLL_S = 0.2


@dataclass(frozen=True)
class Holder:
    """Who holds a lock."""

    process: str
    """`pid:create time`, as `compass.processes` writes it."""
    command: str
    since: float
    """Seconds since 1970."""

    @property
    def pid(self) -> int:
        """Its process id."""
        return int(self.process.partition(":")[0])

    def __str__(self) -> str:
        return f"`{self.command}` (process {self.pid}, for {duration(time.time() - self.since)})"


def open_lock(path: Path) -> int:
    """The file of a lock, made where it is missing, not locked yet; children that execute another program do not have it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def try_lock(file: int) -> bool:
    """Lock an open file if nobody else has it locked; returns at once."""
    return lock_descriptor(file, blocking=False)


def take_lock(
    path: Path, command: str, *, wait_s: float | None = None, on_wait: Callable[[str], object] | None = None
) -> int | None:
    """Lock a file, and write into it who holds it.

    Args:
        path: the lock's file.
        command: what the holder does, for those that wait.
        wait_s: seconds to wait for another holder; None waits until it is free.
        on_wait: gets a line that names the holder, and again when another one holds it; standard error by default.

    Returns:
        The open file: the lock is held until it is closed in this process and in all that are forked from it. None where
        another process still held it after `wait_s` seconds.
    """
    file = open_lock(path)
    try:
        deadline, shown = None if wait_s is None else time.monotonic() + wait_s, None
        while not try_lock(file):
            if deadline is not None and time.monotonic() >= deadline:
                os.close(file)
                return None
            holder = read_holder(path)
            if shown is None or (holder and holder.process != shown):
                shown = holder.process if holder else ""
                (on_wait or _print)(f"waiting for {holder or 'a run that is ending'}")
            time.sleep(POLL_S)
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(asdict(Holder(process_key(), command, time.time()))).encode(), 0)
    except BaseException:  # interrupted while it waits: the file would stay open
        with contextlib.suppress(OSError):
            os.close(file)
        raise
    return file


def read_holder(path: Path) -> Holder | None:
    """Who holds the lock at `path`; None where nobody does, or the holder is just writing its name."""
    try:
        found = Holder(**json.loads(path.read_text(encoding="utf-8")))
        return found if process_runs(found.process) else None
    except (OSError, ValueError, TypeError):
        return None


def read_turn(root: str | Path = ".") -> Holder | None:
    """Who works on the results of the repository at `root` now; None where nobody does."""
    return read_holder(Path(root) / PIPELINE)


def is_held_for_me(root: str | Path = ".") -> bool:
    """Whether a process that started this one holds the repository's lock."""
    current = read_turn(root)
    return current is not None and current.process == os.environ.get(HELD)


def hold_turn(root: str | Path, command: str, *, on_wait: Callable[[str], object] | None = None) -> int | None:
    """Wait until no other run works on the repository, then hold its lock.

    Returns:
        The open file, as `take_lock`; None where a process that started this one holds the lock already.
    """
    if is_held_for_me(root):
        return None
    return take_lock(Path(root) / PIPELINE, command, on_wait=on_wait)


@contextlib.contextmanager
def take_turn(
    root: str | Path, command: str, *, on_wait: Callable[[str], object] | None = None
) -> Iterator[dict[str, str]]:
    """Hold the repository's lock while the block runs.

    Args:
        root: the repository's root.
        command: what is going to run.
        on_wait: gets a line that names the run that is waited for; standard error by default.

    Yields:
        The environment variables that pass the lock on to the processes that the block starts.
    """
    file = hold_turn(root, command, on_wait=on_wait)
    if file is None:
        yield {HELD: os.environ[HELD]}
        return
    try:
        yield {HELD: process_key()}
    finally:
        os.ftruncate(file, 0)
        os.close(file)


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
