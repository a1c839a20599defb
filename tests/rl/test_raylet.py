"""A trainer whose Ray has died is noticed before Ray notices."""

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from compass.rl import raylet
from compass.rl.raylet import RayProcesses

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
        watched = RayProcesses(trainer.pid)
        deadline = time.monotonic() + 5
        while psutil.Process(started).name() != "raylet" and time.monotonic() < deadline:
            time.sleep(0.01)
        assert watched.lost() == ""
        psutil.Process(started).kill()
        time.sleep(0.2)
        assert watched.lost() == ""  # at the end of training Ray's processes go first
        monkeypatch.setattr(raylet, "GRACE_S", 0.1)
        time.sleep(0.2)
        assert watched.lost() == "raylet"
    finally:
        trainer.kill()
        trainer.wait()
    assert RayProcesses(trainer.pid).lost() == ""
