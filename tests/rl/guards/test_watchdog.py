"""The watchdog: how long an iteration may take, and what it says when one stands still. Processes are real."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compass.rl.guards.watchdog import Watchdog

QUICK = {"limit": 10.0, "least_seconds": 30, "start_seconds": 90}


@pytest.fixture
def watchdog(tmp_path: Path) -> Watchdog:
    return Watchdog(QUICK, tmp_path / "progress.json", os.getpid())


def later(watchdog: Watchdog, seconds: float) -> None:
    watchdog.last = time.monotonic() - seconds


def test_start_up_has_a_limit_of_its_own(watchdog: Watchdog) -> None:
    later(watchdog, 89)
    assert watchdog.standstill() is None
    later(watchdog, 91)
    told = watchdog.standstill() or ""
    assert (
        "no iteration ended for 91 s (it is the first of this run, allowed are 90 s). The trainer is still starting"
        in told
    )


@pytest.mark.parametrize(("seconds", "allowed"), [([1, 2, 3], 30), ([4, 6, 80], 60)])
def test_an_iteration_may_take_ten_times_the_median_and_never_less_than_the_least(
    watchdog: Watchdog, seconds: list[float], allowed: float
) -> None:
    for value in seconds:
        watchdog.iteration({"timing_s/step": value})
    assert watchdog.allowed == allowed
    later(watchdog, allowed - 1)
    assert watchdog.standstill() is None
    later(watchdog, allowed + 1)
    assert f"allowed are {allowed} s" in (watchdog.standstill() or "")


def test_it_tells_once_per_iteration(watchdog: Watchdog) -> None:
    watchdog.iteration({"timing_s/step": 1.0})
    later(watchdog, 31)
    assert watchdog.standstill()
    assert watchdog.standstill() is None
    watchdog.iteration({"timing_s/step": 1.0})
    later(watchdog, 31)
    assert watchdog.standstill()


def test_it_names_phase_progress_and_the_process_that_ended(watchdog: Watchdog) -> None:
    told = {"step": 4, "phase": "update", "detail": "", "at": time.time() - 40}
    watchdog.progress.write_text(json.dumps(told))
    lost = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    stays = subprocess.Popen(["sleep", "61"])
    try:
        watchdog.iteration({"timing_s/step": 1.0})
        lost.kill()
        lost.wait()
        later(watchdog, 31)
        message = watchdog.standstill() or ""
    finally:
        for process in (lost, stays):
            process.kill()
            process.wait()
    assert "The trainer is in iteration 4, phase `update`, and said so 40 s ago." in message
    assert f"sleep (pid {stays.pid}) sleeping, 0% of a core" in message
    assert f"(pid {lost.pid})" in message.split("Ended since the first iteration: ")[1]


def test_a_stopped_process_is_named_first(watchdog: Watchdog) -> None:
    started = [subprocess.Popen(["sleep", "62"]) for _ in range(12)]
    try:
        os.kill(started[7].pid, signal.SIGSTOP)
        later(watchdog, 91)
        message = watchdog.standstill() or ""
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert f"Its processes: sleep (pid {started[7].pid}) stopped, 0% of a core; " in message
    assert message.count("% of a core") == 8


def test_a_trainer_that_is_gone_has_no_processes(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    watchdog = Watchdog(QUICK, tmp_path / "progress.json", gone.pid)
    later(watchdog, 91)
    assert "Its processes: none." in (watchdog.standstill() or "")
