"""Run `dvc` in a process group of its own, which ends whole, with all that has left it, when the caller is interrupted."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

from compass import environment, machine
from compass.files import write_text
from compass.locks import is_held_for_me, open_lock, take_turn, try_lock
from compass.processes import is_dvc
from flows.cancel import Stopped, end_group, give_notice

LINES = 20
"""Last lines of a command that its error keeps."""

LOOK_S = 0.5
"""Seconds between two looks at what another `dvc` does."""

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|[\x00-\x08\x0b\x0c\x0e-\x1a]")


class DvcError(RuntimeError):
    """`dvc` ended with an error; the message has what failed, and the last lines where they were not shown already."""

    exit_status = 3
    """The exit status of a command that ends with it."""

    def __init__(self, message: str, stage: str | None = None) -> None:
        super().__init__(message)
        self.stage = stage


def dvc_command(*words: str) -> list[str]:
    """The command line of DVC, which waits for its own lock instead of giving up after 3 s."""
    return [sys.executable, "-m", "dvc", "--wait-for-lock", *words]


def run_command(
    command: list[str],
    *,
    folder: str | Path,
    log: Callable[[str], object] | None,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run a command in a new process group, and end the group if this process is interrupted (Ctrl-C, a cancel, any exception).

    If this process is killed, the command ends too (`compass.machine.main`).

    Args:
        command: the program's path and its arguments.
        folder: where it runs.
        log: gets its lines; None where the command writes to this process's own output, as on a terminal.
        env: variables besides those of this process.

    Raises:
        DvcError: the command's exit status is not 0.
    """
    environment.apply()
    # Stages call `python`: this one, whatever is on the path of the process that started the run. A pipe makes Python's
    # output block-buffered; the log is to show a stage's lines as they are written.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    variables = {
        **environment.dvc_variables(Path(folder)),
        **os.environ,
        "PATH": path,
        "PYTHONUNBUFFERED": "1",
        **(env or {}),
    }
    process = subprocess.Popen(
        [sys.executable, machine.__file__, str(os.getpid()), *command],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if log else None,
        stderr=subprocess.STDOUT if log else None,
        start_new_session=True,
    )
    last: deque[str] = deque(maxlen=LINES)

    def follow() -> None:
        for raw in process.stdout or ():
            # Of a progress bar, what it shows in the end.
            line = _CONTROL.sub("", raw.decode("utf-8", "replace").rstrip("\r\n")).rsplit("\r", 1)[-1].rstrip()
            if line and log:
                last.append(line)
                log(line)

    try:
        follow()
        status = process.wait()
    except Stopped as stopped:
        if stopped.number == signal.SIGTERM:  # the machine may be taken away
            _read_aside(follow)
            give_notice(process.pid)
        raise
    finally:
        if process.poll() is None:
            _read_aside(lambda: _discard_output(process))
            end_group(process.pid)
            process.wait()
    if status:
        raise DvcError("\n".join([f"{' '.join(command[2:])} ended with status {status}", *last]))


def _discard_output(process: subprocess.Popen[bytes]) -> None:
    """Read and forget what a command writes from now on: its end must not wait for a reader of a full pipe."""
    while process.stdout and process.stdout.read(65536):
        pass


def _read_aside(read: Callable[[], None]) -> None:
    """Read a command's output in a thread until it is closed."""

    def run() -> None:
        with contextlib.suppress(ValueError, OSError):  # closed meanwhile
            read()

    threading.Thread(target=run, daemon=True).start()


@contextlib.contextmanager
def take_run_turn(
    root: Path, command: str, *, on_wait: Callable[[str], object] | None = None
) -> Iterator[dict[str, str]]:
    """Hold the repository's lock as `take_turn` does, at a moment when no plain `dvc` works there.

    DVC says "busy" where two want the same file, and ends. While one works, the lock is not held: its stages take it.
    """
    shown = ""
    while True:
        with take_turn(root, command, on_wait=on_wait) as held:
            other = None if is_held_for_me(root) else find_dvc(root)
            if not other:
                yield held
                return
        if other != shown:
            shown = other
            (on_wait or print)(f"waiting for {other}")
        time.sleep(LOOK_S)


def find_dvc(root: Path) -> str | None:
    """The `dvc` that works in the repository, as its entries in `.dvc/tmp/rwlock` say: "`dvc repro` (process 12)"; None where none does.

    Entries of runs that were killed are taken out. DVC does so itself where the process is gone; where a process of another
    program has its number by now, DVC says "busy" forever.
    """
    folder = root / ".dvc" / "tmp"
    path = folder / "rwlock"
    if not path.exists():
        return None
    guard = open_lock(folder / "rwlock.lock")  # the file that DVC itself locks to edit the other
    try:
        if not try_lock(guard):
            return "a `dvc` that begins or ends a stage"
        entries = None
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
            kept: dict[str, dict[str, Any]] = {
                "write": {place: one for place, one in entries.get("write", {}).items() if _is_held(one)},
                "read": {
                    place: left
                    for place, several in entries.get("read", {}).items()
                    if (left := [one for one in several if _is_held(one)])
                },
            }
        except (ValueError, AttributeError, KeyError, TypeError):
            kept = {}  # torn when its writer was killed: DVC would refuse it
        if kept != entries:
            write_text(path, json.dumps(kept))
    finally:
        os.close(guard)
    held = [*kept.get("write", {}).values(), *(one for several in kept.get("read", {}).values() for one in several)]
    return f"`{held[0].get('cmd', 'dvc')}` (process {held[0]['pid']})" if held else None


def _is_held(entry: Mapping[str, object]) -> bool:
    """Whether the process of an entry still runs and is one of DVC, not a later one of another program with the same number."""
    try:
        return is_dvc(psutil.Process(int(str(entry["pid"]))))
    except psutil.Error:
        return False
