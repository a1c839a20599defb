"""Run `dvc` in a process group of its own: its lines passed on and understood, the whole tree ended on cancel."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import psutil

from compass import environment
from compass.processes import is_alive
from flows.dvc_lines import DvcLines, Event, last_words
from flows.output import Output

GRACE_S = ((signal.SIGINT, 9.0), (signal.SIGTERM, 4.0), (signal.SIGKILL, 4.0))
"""How a tree of processes is ended, and how many seconds each signal has: 17 in all.

A stage that is interrupted records its end, and DVC takes its entries out of its own lock; SIGTERM ends DVC at once.
"""

LINES = 20
"""Last lines of a stage that its error keeps."""


class ReproError(RuntimeError):
    """`dvc` ended with an error; the message has the stage, its exit status and its last lines."""

    exit_status = 3
    """The exit status of a command that ends with it."""

    def __init__(self, message: str, stage: str | None = None, status: int = 1) -> None:
        super().__init__(message)
        self.stage = stage
        self.status = status


@dataclass
class Watched:
    """What is known of a run from DVC's lines, while it runs and afterwards."""

    started: bool = False
    """Whether it was this run's turn."""
    stage: str | None = None
    """The stage that runs now, or that failed."""
    ran: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    last: list[str] = field(default_factory=list)
    """The last lines of the stage that runs, or of DVC where none does."""
    _lines: DvcLines = field(default_factory=DvcLines)

    def line(self, line: str) -> None:
        """Take note of one line of output."""
        self._note(self._lines.read(line))

    def ended(self, status: int) -> None:
        """Take note of DVC's end: the stage that ran last is done if it ended well."""
        if status == 0:
            self._note(self._lines.end("done"))

    def _note(self, events: Iterable[Event]) -> None:
        for event in events:
            match event.kind:
                case "begins":
                    self.stage, self.last = event.stage, []
                case "done":
                    self.ran.append(str(event.stage))
                    self.stage = None
                case "restored":
                    self.restored.append(str(event.stage))
                case "unchanged":
                    self.unchanged.append(str(event.stage))
                case "line" if event.text.startswith("> "):  # the stage's command
                    self.last = []
                case "line":
                    self.last = [*self.last[1 - LINES :], event.text]


def dvc_words(target: str | None, *, scope: str = "upto", force: bool = False) -> list[str]:
    """The words after `dvc` that bring `target` (a stage; None for all) up to date.

    Args:
        target: the stage.
        scope: `upto` also runs those it needs, `only` runs it alone, `downstream` also those that build on it.
        force: run what did not change as well.
    """
    scopes = {"upto": [], "only": ["--single-item"], "downstream": ["--downstream"]}
    return ["repro", *scopes[scope], *(["--force"] if force else []), *([target] if target else [])]


def raw_dvc(*words: str) -> list[str]:
    """The command line of DVC itself, which waits for its own lock instead of giving up after 3 s."""
    return [sys.executable, "-m", "dvc", "--wait-for-lock", *words]


def run_group(
    command: list[str],
    *,
    folder: str | Path,
    log: Callable[[str], object],
    env: Mapping[str, str] | None = None,
    watched: Watched | None = None,
    shown: BinaryIO | None = None,
) -> Watched:
    """Run a command in a new process group and pass on its output line by line.

    If this process is interrupted (Ctrl-C, a cancelled flow run, any exception) the whole group ends with it, and so do
    descendants that have left the group, as Ray's do. If it is killed, the command ends too (`flows.child`).

    Args:
        command: the program's path and its arguments.
        folder: where it runs.
        log: takes its lines.
        env: variables besides those of this process.
        watched: filled meanwhile.
        shown: a terminal that gets the output as it comes, bars included, instead of `log`.

    Returns:
        What DVC's lines told.

    Raises:
        ReproError: the command's exit status is not 0.
    """
    environment.apply()
    watched = Watched() if watched is None else watched
    watched.started = True
    # Stages call `python`: this one, whatever is on the path of the process that started the flow. A pipe makes
    # Python's output block-buffered; the log is to show a stage's lines as they are written.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    variables = {
        **environment.dvc_variables(Path(folder)),
        **os.environ,
        "PATH": path,
        "PYTHONUNBUFFERED": "1",
        **(env or {}),
    }
    with Output(shown) as output:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("child.py")), str(os.getpid()), *command],
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output.write_end,
            stderr=output.write_end,
            start_new_session=True,
        )
        try:
            for line in output.lines():
                if line:
                    watched.line(line)
                    if not shown:
                        log(line)
            status = process.wait()
        finally:
            if process.poll() is None:
                with output.discarded():
                    _end_whatever_comes(process.pid)
                    process.wait()
    watched.ended(status)
    if status:
        raise _error(command, status, watched)
    return watched


def _error(command: list[str], status: int, watched: Watched) -> ReproError:
    lines = last_words(watched.last, watched.stage, LINES)
    what = f"stage {watched.stage} failed" if watched.stage else f"{' '.join(command[2:])} ended with status {status}"
    return ReproError("\n".join([f"{what}:", *lines]), watched.stage, status)


def _end_whatever_comes(leader: int) -> None:
    """End the tree even where the user asks again meanwhile: then without waiting for what it has to say."""
    steps = GRACE_S
    while True:
        try:
            end_group(leader, steps)
            return
        except KeyboardInterrupt:
            steps = ((signal.SIGTERM, 1.0), (signal.SIGKILL, 4.0))


def end_group(leader: int, steps: tuple[tuple[signal.Signals, float], ...] = GRACE_S) -> None:
    """End the process group of `leader` and all its descendants.

    Args:
        leader: process id of the group's leader.
        steps: signals in their order, each with the seconds until the next; SIGINT goes to the group alone, since the
            guards of a stage pass it on.
    """
    everyone: dict[int, psutil.Process] = {}
    for number, seconds in steps:
        with contextlib.suppress(psutil.NoSuchProcess):
            root = psutil.Process(leader)
            everyone |= {process.pid: process for process in (root, *root.children(recursive=True))}
        with contextlib.suppress(ProcessLookupError):  # an empty group; descendants outside of it may live on
            os.killpg(leader, number)
        for process in everyone.values() if number != signal.SIGINT else ():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        deadline = time.monotonic() + seconds
        while any(is_alive(process) for process in everyone.values()):
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        else:
            return


def forget_dead_locks(root: Path) -> None:
    """Take the entries of runs that were killed out of `.dvc/tmp/rwlock`.

    DVC does so itself where the process is gone; where another process has its number by now, DVC says "busy" for ever.
    Call it while holding the line's lock, so that no run of ours is one of them.
    """
    folder = root / ".dvc" / "tmp"
    path = folder / "rwlock"
    if not path.exists():
        return
    with open(folder / "rwlock.lock", "a") as guard:  # the file that DVC itself locks to edit the other
        fcntl.flock(guard, fcntl.LOCK_EX)
        written = path.stat().st_mtime
        entries = None
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
            kept: dict[str, object] = {
                "write": {place: one for place, one in entries.get("write", {}).items() if _is_dvc(one, written)},
                "read": {
                    place: left
                    for place, several in entries.get("read", {}).items()
                    if (left := [one for one in several if _is_dvc(one, written)])
                },
            }
        except (ValueError, AttributeError, KeyError, TypeError):
            kept = {}  # torn when its writer was killed: DVC would refuse it
        if kept != entries:
            path.write_text(json.dumps(kept), encoding="utf-8")


def _is_dvc(entry: Mapping[str, object], written: float) -> bool:
    """Whether the process of an entry still runs and is one of DVC, not a later one with the same number."""
    try:
        process = psutil.Process(int(str(entry["pid"])))
        return process.create_time() <= written and any(Path(word).name == "dvc" for word in process.cmdline()[:3])
    except psutil.Error:
        return False
