"""How a run is ended: by Ctrl-C, `kill`, a closed terminal, a cancel in Prefect, a time limit, or the end of who started it.

Whatever asks for it becomes an exception in the main thread; `flows.dvc_process.run_command` then ends the process group of
DVC with all its descendants (`end_group`), and the guards of a stage (`compass.process_tree`) end what has left the group.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import FrameType
from typing import Literal

import psutil

from compass.processes import is_alive, read_command, wait_until_ended

GRACE_S = ((signal.SIGINT, 9.0), (signal.SIGTERM, 4.0), (signal.SIGKILL, 4.0))
"""How a tree of processes is ended, and how many seconds each signal has: 17 in all.

A stage that is interrupted records its end, and DVC takes its entries out of its own lock; SIGTERM ends DVC at once.
"""

IMPATIENT_S = ((signal.SIGTERM, 1.0), (signal.SIGKILL, 4.0))
"""The same after a second Ctrl-C."""

NOTICE_S = 30.0
"""Seconds that a stage has after SIGTERM, before it is ended as above: what most clouds give a machine that they take away."""

LOOK_S = 1.0
"""Seconds between two looks of a guardian at the processes and the time limit."""

ASK_S = 3.0
"""Seconds between two questions of a guardian to the server."""

Reason = Literal["cancelled", "orphaned", "late"]


class Stopped(KeyboardInterrupt):
    """The user, or the system, asked the run to end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number
        self.exit_status = 128 + number
        """130 after Ctrl-C, as shells count it."""


def give_notice(leader: int) -> None:
    """Send SIGTERM to the stage alone that a process of DVC runs, and wait for up to `NOTICE_S` seconds until both have ended.

    An RL stage saves a checkpoint then (`compass.rl.notice`); any other ends. DVC itself would end at once, and the stage with it.
    """
    with contextlib.suppress(psutil.NoSuchProcess):
        run = psutil.Process(leader)
        stages = (process for process in run.children(recursive=True) if _runs_stage(process))
        if stage := next(stages, None):  # the first is the outer guard, which passes the signal on
            stage.send_signal(signal.SIGTERM)
            psutil.wait_procs([run, stage], timeout=NOTICE_S)


def _runs_stage(process: psutil.Process) -> bool:
    return any(flag == "-m" and module.startswith("stages.") for flag, module in pairwise(read_command(process)))


def end_group(leader: int, steps: tuple[tuple[signal.Signals, float], ...] = GRACE_S) -> None:
    """End the process group of `leader` and all its descendants; a second Ctrl-C meanwhile makes it quicker.

    Args:
        leader: process id of the group's leader.
        steps: signals in their order, each with the seconds until the next; SIGINT goes to the group alone, since the
            guards of a stage pass it on.
    """
    everyone: dict[int, psutil.Process] = {}
    try:
        for number, seconds in steps:
            with contextlib.suppress(psutil.NoSuchProcess):
                root = psutil.Process(leader)
                everyone |= {process.pid: process for process in (root, *root.children(recursive=True))}
            with contextlib.suppress(ProcessLookupError):  # an empty group; descendants outside of it may live on
                os.killpg(leader, number)
            for process in everyone.values() if number != signal.SIGINT else ():
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.send_signal(number)
            if wait_until_ended(everyone.values(), seconds):
                return
    except KeyboardInterrupt:
        end_group(leader, IMPATIENT_S)


@contextlib.contextmanager
def stop_on_signals(message: str) -> Iterator[None]:
    """Raise `Stopped` in the block where this process is asked to end: Ctrl-C, SIGTERM, a closed terminal.

    Args:
        message: the line that is printed first; ending a stage takes seconds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread alone
        return
    printed = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal printed
        if not printed:
            printed = True
            print(f"\n{message}", file=sys.stderr, flush=True)
        raise Stopped(number)

    with _handle_signals((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), stop):
        yield


@contextlib.contextmanager
def _handle_signals(
    numbers: tuple[signal.Signals, ...], handle: Callable[[int, FrameType | None], None]
) -> Iterator[None]:
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Guardian:
    """Watches a Prefect flow run from a thread of its own, and interrupts the main thread when the run has to end.

    Prefect marks a run as cancelled and signals one process; where that process cannot be reached the mark is all that
    happens. So every flow run checks its own state on the server and the processes that started it. Whatever ends it, the
    main thread gets SIGTERM, once (`interrupt_once`).
    """

    def __init__(self, is_cancelled: Callable[[], bool], servers: list[psutil.Process]) -> None:
        """Args:
        is_cancelled: asks the server whether this run is to end; an exception means that it cannot be reached.
        servers: the processes that the run must not outlive.
        """
        self.reason: Reason | None = None
        """Why the run was interrupted; None while it was not, or for a signal from elsewhere."""
        self._is_cancelled = is_cancelled
        self._servers = servers
        self._deadline: float | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="guardian", daemon=True)

    def __enter__(self) -> Guardian:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def set_limit(self, seconds: float | None) -> None:
        """End the run so many seconds from now; None takes the limit away."""
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def _watch(self) -> None:
        asked = time.monotonic()
        while not self._over.wait(LOOK_S):
            if any(not is_alive(process) for process in self._servers):
                self._end("orphaned")
                return
            if self._deadline is not None and time.monotonic() > self._deadline:
                self._end("late")
                return
            if time.monotonic() - asked < ASK_S:
                continue
            with contextlib.suppress(Exception):  # a server that is down answers nothing, and ends nothing
                if self._is_cancelled():
                    self._end("cancelled")
                    return
            asked = time.monotonic()

    def _end(self, reason: Reason) -> None:
        if not self._over.is_set():
            self.reason = reason
            os.kill(os.getpid(), signal.SIGTERM)


def find_serving_processes() -> list[psutil.Process]:
    """The ancestors of this process that belong to Prefect: the serving process or the worker, and what is between."""

    def serves(word: str) -> bool:
        return word in ("flows.deployments", "prefect.engine") or word.endswith("/prefect")

    return [process for process in psutil.Process().parents() if any(map(serves, read_command(process)))]


@contextlib.contextmanager
def interrupt_once() -> Iterator[None]:
    """Let the first SIGTERM or SIGINT interrupt the main thread, and no second one: what it ends takes seconds to end.

    Prefect's runner sends SIGTERM while Ctrl-C, which reaches the whole foreground group, is being handled already.
    """
    numbers = signal.SIGTERM, signal.SIGINT

    def interrupt(number: int, frame: FrameType | None) -> None:
        for other in numbers:
            signal.signal(other, lambda *_: None)
        raise KeyboardInterrupt

    with _handle_signals(numbers, interrupt):
        yield
