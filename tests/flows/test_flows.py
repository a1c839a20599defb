"""Flows run DVC in a process group that ends whole, and leave it to DVC what runs."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from compass.errors import UserError
from flows.overrides import parse_parameters
from flows.repro import ReproError, run_group


def test_parameter_words_are_read_as_yaml() -> None:
    assert parse_parameters(["evaluate.samples=4", "rl.rollout.dynamic_sampling=false"]) == {
        "evaluate.samples": 4,
        "rl.rollout.dynamic_sampling": False,
    }
    with pytest.raises(UserError, match="NAME=VALUE"):
        parse_parameters(["evaluate.samples"])


def test_output_is_streamed_and_a_failure_carries_it(tmp_path: Path) -> None:
    lines: list[str] = []
    with pytest.raises(ReproError, match=r"status 3:\nfirst\nsecond"):
        run_group([sys.executable, "-c", "print('first'); print('second'); exit(3)"], folder=tmp_path, log=lines.append)
    assert lines == ["first", "second"]


def test_a_stages_python_is_the_flows_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    lines: list[str] = []
    run_group(["sh", "-c", "command -v python"], folder=tmp_path, log=lines.append)
    assert lines == [str(Path(sys.executable).parent / "python")]


@pytest.mark.usefixtures("interruptible")
def test_interrupting_ends_the_group_and_those_who_left_it(tmp_path: Path) -> None:
    nap = "import time; time.sleep(600)"
    script = (
        "import subprocess, sys; import time\n"
        f"near = subprocess.Popen([sys.executable, '-c', {nap!r}])\n"
        f"far = subprocess.Popen([sys.executable, '-c', {nap!r}], start_new_session=True)\n"
        "print(near.pid, far.pid, flush=True); time.sleep(600)"
    )
    pids: list[int] = []

    def log(line: str) -> None:
        pids.extend(int(word) for word in line.split())
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        run_group([sys.executable, "-c", script], folder=tmp_path, log=log)
    assert len(pids) == 2
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and any(_runs(pid) for pid in pids):
        time.sleep(0.05)
    assert not any(_runs(pid) for pid in pids)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
