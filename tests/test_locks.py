"""A lock is held until the last process that has it has ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from compass.locks import lock_holder, try_lock, unlock

HOLDER = """
import os, sys, time
from pathlib import Path
from compass.locks import try_lock
assert try_lock(Path("a.lock"), "the first") is not None
if fork := os.fork():
    print(fork, flush=True)
    sys.exit()
time.sleep(60)
"""


def test_a_lock_lasts_as_long_as_a_fork_of_its_holder(tmp_path: Path) -> None:
    root = Path(__file__).parents[1]
    started = subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    fork = int(started.stdout.readline())
    assert started.wait() == 0
    path = tmp_path / "a.lock"
    assert try_lock(path) is None
    assert lock_holder(path) == "the first"
    os.kill(fork, signal.SIGKILL)
    started.stdout.read()  # ends when the fork has
    file = try_lock(path)
    assert file is not None
    unlock(path, file)
    assert lock_holder(path) == ""
