"""The line in which every run of a repository waits: one at a time, first come, first served.

DVC frees its own lock while a stage's command runs, and a second `dvc repro` then fails with "busy" instead of waiting.
So whatever works on the results here takes its place in this line first:

    with in_line(root, "dvc repro") as variables:
        subprocess.run([...], env={**os.environ, **variables})

The one whose turn it is holds the lock of `.compass/pipeline.lock`; each of those that wait has a numbered file in
`.compass/line/`. A process that the holder starts, with the holder's `variables`, does not wait for the holder.
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

from compass.durations import duration
from compass.locks import lock_holder, try_lock, unlock
from compass.processes import process_key, process_runs

LOCK = Path(".compass/pipeline.lock")
TICKETS = Path(".compass/line")
OFF = "COMPASS_LINE"
"""Environment variable: with `off`, stages that DVC runs in copies of the repository do not wait in line."""

HELD = "COMPASS_PIPELINE_LOCK"
"""Environment variable with the holder's `process_key`, for the processes that the holder starts."""

POLL_S = 0.2
TELL_S = 60.0
"""Seconds between two lines that say what is waited for."""


@dataclass(frozen=True)
class Holder:
    """Who works on the results of a repository now, or waits for it."""

    process: str
    """As `compass.processes.process_key` writes it."""
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
    return _read(lock_holder(Path(root) / LOCK))


def waiting(root: str | Path = ".") -> list[Holder]:
    """Who waits in line, the next one first; `since` is when each began to wait."""
    return list(_tickets(Path(root) / TICKETS).values())


@contextlib.contextmanager
def in_line(
    root: str | Path,
    command: str,
    *,
    on_wait: Callable[[str], object] | None = None,
    blocker: Callable[[], str | None] = lambda: None,
) -> Iterator[dict[str, str]]:
    """Wait in line, then hold the lock while the block runs; arguments as in `take_lock`.

    Yields:
        The environment variables that pass the lock on to the processes that the block starts.
    """
    file = take_lock(root, command, on_wait=on_wait, blocker=blocker)
    if file is None:
        yield {HELD: os.environ[HELD]}
        return
    try:
        yield {HELD: process_key()}
    finally:
        unlock(Path(root) / LOCK, file)


def take_lock(
    root: str | Path,
    command: str,
    *,
    on_wait: Callable[[str], object] | None = None,
    blocker: Callable[[], str | None] = lambda: None,
) -> int | None:
    """Wait in line for the lock; it is held until the file that is returned is closed in every process that has it.

    Args:
        root: the repository's root.
        command: what is going to run, as the others are told.
        on_wait: gets a line on what is waited for, at once and then once per minute; standard error by default.
        blocker: names what else has to end first, if anything. While it does, others may take their turn: the stages of
            a plain `dvc repro` take this lock one by one.

    Returns:
        The open file; None where a process that started this one holds the lock already.
    """
    current = holder(root)
    if current and current.process == os.environ.get(HELD):
        return None
    (Path(root) / TICKETS).mkdir(parents=True, exist_ok=True)
    report = _once_per_minute(on_wait or _print)
    while True:
        while blocked := blocker():
            report(blocked)
            time.sleep(POLL_S)
        file = _wait_for_turn(Path(root), command, report)
        if not blocker():
            return file
        unlock(Path(root) / LOCK, file)


def _wait_for_turn(root: Path, command: str, report: Callable[[str], object]) -> int:
    def entry() -> str:
        return json.dumps(asdict(Holder(process_key(), command, time.time())))

    ticket = root / TICKETS / f"{time.time_ns():020d}-{os.getpid()}.json"
    ticket.write_text(entry(), encoding="utf-8")
    try:
        while True:
            ahead = [path for path in _tickets(root / TICKETS) if path.name < ticket.name]
            if not ahead and (file := try_lock(root / LOCK, entry())) is not None:
                return file
            more = f"; {len(ahead)} more before this one" if ahead else ""
            report(f"{holder(root) or 'a run that is ending'}{more}")
            time.sleep(POLL_S)
    finally:
        ticket.unlink(missing_ok=True)


def _tickets(folder: Path) -> dict[Path, Holder]:
    """The tickets of those that wait, the next one first; files of processes that have ended are removed."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(FileNotFoundError):
            if entry := _read(text := path.read_text(encoding="utf-8")):
                found[path] = entry
            elif text:  # its process has ended; an empty file is just being written
                path.unlink()
    return found


def _read(text: str) -> Holder | None:
    try:
        entry = Holder(**json.loads(text))
        return entry if process_runs(entry.process) else None
    except (ValueError, TypeError):  # empty, or just being written
        return None


def _once_per_minute(tell: Callable[[str], object]) -> Callable[[str], None]:
    last = -TELL_S

    def report(what: str) -> None:
        nonlocal last
        if time.monotonic() - last >= TELL_S:
            last = time.monotonic()
            tell(f"waiting for {what}")

    return report


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
