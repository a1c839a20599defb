"""A stage, every process that it starts, and its temporary files end together, and with whoever started the stage.

A stage that `own_processes` split is three processes:

- the **outer guard** is the process that DVC, or a shell, started;
- the **inner guard** is its child, in a session of its own, so that a signal to the outer one's process group spares it;
- the **worker** is the child of the inner guard, and does the stage's work.

Both guards are subreapers (`PR_SET_CHILD_SUBREAPER`): the kernel gives them the orphans among their descendants, so that
none is lost, whichever sessions and process groups Ray and vLLM choose. A guard ends everything below it, and removes
the temporary folder, when the worker ends, when the other guard ends, or when the starter ends. Only a kill of all three
at once leaves a folder behind; the next stage removes it.

The lock of a stage (`lock_stage`) is held by all three: the kernel frees it when the last one has ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from compass.errors import UserError
from compass.locks import open_lock, read_holder, take_lock, try_lock
from compass.machine import die_with_parent
from compass.processes import is_alive, is_dvc, read_command

LOCK_WAIT_S = 30.0
"""Seconds to wait for an earlier process of the same stage: one that is being ended takes a few."""

END_S = 20.0
"""Seconds in which every process of a tree has to be gone."""

TRACKER_S = 2.0
"""Seconds that Python's resource trackers have to unlink shared memory, once its users are gone."""

OWNER = "owner.lock"
"""The file in a temporary folder whose lock says that the folder is in use."""

PREFIX = "compass-"
UNLOCKED = "new-"
"""Before the prefix until a folder is locked, so that `remove_abandoned` of another stage does not take it for abandoned."""
LONGEST_BASE = 20  # characters: Ray adds 90 to reach its sockets, whose paths the kernel limits to 107
_PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StageRunningError(UserError):
    """Another process is at work on the same stage; the message names it."""


def lock_stage(stage: str) -> int:
    """Take the lock of a stage, `work/STAGE.lock`, so that no two processes write its outputs or its work folder.

    Returns:
        The open file; the lock is held until it is closed in this process and in all that are forked from it.

    Raises:
        StageRunningError: another process still held it after `LOCK_WAIT_S` seconds.
    """
    path = Path("work") / f"{stage}.lock"

    def show(line: str) -> None:
        print(f"{stage}: {line}", file=sys.stderr, flush=True)

    file = take_lock(path, f"stage {stage}", wait_s=LOCK_WAIT_S, on_wait=show)
    if file is None:
        holder = read_holder(path) or "an unknown process"
        raise StageRunningError(
            f"{holder} is still at work on this stage (it holds {path}); wait for it or end it, then run this again"
        )
    return file


def own_processes() -> None:
    """Split this process into two guards and a worker (see above); returns in the worker alone.

    Call it before any thread is started. The worker's temporary files, and those of all that it starts, go into a folder of
    their own (`TMPDIR`). The guards end with the worker's exit status, 128 + N where signal N ended it.
    """
    remove_abandoned()
    folder = _temporary_folder()
    starters = _starters()
    if "DVC_STAGE" in os.environ and os.getsid(os.getppid()) != os.getsid(0):
        shutil.rmtree(folder, ignore_errors=True)
        sys.exit("DVC, which started this stage, has ended")  # the kernel gave this process another parent
    outer = psutil.Process()
    sys.stdout.flush()
    sys.stderr.flush()
    _collect_orphans()
    if inner := os.fork():
        _guard(inner, starters, folder)
    os.setsid()
    _collect_orphans()
    if worker := os.fork():
        _guard(worker, [outer, *starters], folder)
    die_with_parent(os.getppid())
    _use_folder(folder)


def remove_abandoned() -> list[Path]:
    """Remove the temporary folders whose stages are gone, guards included; returns them."""
    removed = []
    for folder in _base().glob(f"{PREFIX}*"):
        try:
            if folder.stat().st_uid != os.getuid():
                continue
            file = os.open(folder / OWNER, os.O_RDWR | os.O_CLOEXEC)
        except OSError:  # not a folder of this module, or gone by now
            continue
        if try_lock(file):
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
        os.close(file)
    return removed


def end_descendants() -> None:
    """Kill every descendant of this process, those that appear meanwhile included; gives up those that hang inside the kernel.

    Python's resource trackers come last: they unlink the shared memory of the processes that were killed.
    """
    began = time.monotonic()
    while (waited := time.monotonic() - began) < END_S and (running := _running_descendants()):
        users = [process for process in running if not _is_tracker(process)]
        for process in running if not users and waited > TRACKER_S else users:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        _reap()
        time.sleep(0.05)
    _reap()


def _guard(child: int, watched: Sequence[psutil.Process], folder: Path) -> None:
    """Wait for the child or for one of the watched processes to end, then end everything below. Never returns."""
    signals = {number for number in _FORWARDED if signal.getsignal(number) != signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals | {signal.SIGCHLD})
    status = 1
    try:
        while (ended := _reap(child)) is None:
            if any(not is_alive(process) for process in watched):
                break
            got = signal.sigtimedwait(signals | {signal.SIGCHLD}, 0.2)
            # Python 3.11 returns what happens to be in memory when the wait was suspended for longer than it was to take.
            if got is not None and got.si_signo in signals:
                os.kill(child, got.si_signo)
        if ended is not None:
            status = ended if ended >= 0 else 128 - ended
        end_descendants()
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os._exit(status)


def _reap(child: int = 0) -> int | None:
    """Take note of the children that have ended; the exit code of `child` when it is among them."""
    code = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if ended == 0:
            return code
        if ended == child:
            code = os.waitstatus_to_exitcode(status)


def _starters() -> list[psutil.Process]:
    """The processes that this one must not outlive: its parent, and DVC where a shell stands between."""
    parents = psutil.Process().parents()
    return [
        process
        for number, process in enumerate(parents)
        if process.pid != 1 and (number == 0 or (os.environ.get("DVC_STAGE") and is_dvc(process)))
    ]


def _is_tracker(process: psutil.Process) -> bool:
    return any("resource_tracker" in word for word in read_command(process))


def _running_descendants() -> list[psutil.Process]:
    return [process for process in psutil.Process().children(recursive=True) if is_alive(process)]


def _collect_orphans() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _base() -> Path:
    """Where temporary folders go: the system's place, or /tmp where that one's path is too long for sockets."""
    given = Path(tempfile.gettempdir())
    return given if len(str(given)) <= LONGEST_BASE else Path("/tmp")


def _temporary_folder() -> Path:
    """A new private folder, with a file whose lock says that it is in use until this process and its forks have ended."""
    folder = Path(tempfile.mkdtemp(prefix=UNLOCKED + PREFIX, dir=_base()))
    try_lock(open_lock(folder / OWNER))  # nobody else knows the folder yet
    return folder.rename(folder.with_name(folder.name.removeprefix(UNLOCKED)))


def _use_folder(folder: Path) -> None:
    """Have this process, and all that it starts, put temporary files there; what is compiled stays in `work/`."""
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path("work/torchinductor").resolve()))
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None
