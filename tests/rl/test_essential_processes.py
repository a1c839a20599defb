"""A trainer whose Ray or engine has died is noticed before Ray notices."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from compass.rl import essential_processes
from compass.rl.essential_processes import EssentialProcesses

TRAINER = """
import subprocess, sys, time
ray = subprocess.Popen([sys.argv[1], "60"])
print(ray.pid, flush=True)
time.sleep(60)
"""


def test_a_raylet_that_ends_before_the_trainer_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "raylet"
    program.symlink_to("/bin/sleep")
    trainer = subprocess.Popen([sys.executable, "-c", TRAINER, program], stdout=subprocess.PIPE, text=True)
    try:
        started = int(trainer.stdout.readline())
        watched = EssentialProcesses(trainer.pid)
        deadline = time.monotonic() + 5
        while psutil.Process(started).name() != "raylet" and time.monotonic() < deadline:
            time.sleep(0.01)
        assert watched.lost() == ""
        psutil.Process(started).kill()
        time.sleep(0.2)
        assert watched.lost() == ""  # at the end of training Ray's processes go first
        monkeypatch.setattr(essential_processes, "GRACE_S", 0.1)
        time.sleep(0.2)
        assert watched.lost() == "Ray's raylet"
    finally:
        trainer.kill()
        trainer.wait()
    assert EssentialProcesses(trainer.pid).lost() == ""


ENGINE = """
import setproctitle, subprocess, sys, time
if len(sys.argv) > 1:
    setproctitle.setproctitle("VLLM::EngineCore")
    print("ready", flush=True)
    time.sleep(60)
engine = subprocess.Popen([sys.executable, "-c", sys.orig_argv[2], "engine"])
print(engine.pid, flush=True)
time.sleep(60)
"""


def test_an_engine_that_ends_before_the_trainer_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(essential_processes, "GRACE_S", 0.0)
    trainer = subprocess.Popen([sys.executable, "-c", ENGINE], stdout=subprocess.PIPE, text=True)
    try:
        started, ready = int(trainer.stdout.readline()), trainer.stdout.readline()
        watched = EssentialProcesses(trainer.pid)
        assert (ready, watched.lost()) == ("ready\n", "")
        psutil.Process(started).kill()
        time.sleep(0.2)
        assert watched.lost() == "vLLM's engine"
    finally:
        trainer.kill()
        trainer.wait()
