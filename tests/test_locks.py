"""Runs of one repository wait for each other, in their order; a lock ends with the last process that holds it."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from compass.locks import HELD, PIPELINE, read_turn, take_lock, take_turn, try_lock

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HELD, raising=False)


def test_who_holds_the_lock_is_named_to_those_that_wait(tmp_path: Path) -> None:
    lines: list[str] = []

    def wait() -> None:
        with take_turn(tmp_path, "second", on_wait=lines.append):
            lines.append("in")

    with take_turn(tmp_path, "first"):
        thread = threading.Thread(target=wait)
        thread.start()
        while not lines:
            thread.join(0.05)
        current = read_turn(tmp_path)
        assert current is not None
        assert (current.command, current.pid) == ("first", os.getpid())
    thread.join(10)
    waiting, entered = lines
    assert re.fullmatch(rf"waiting for `first` \(process {os.getpid()}, for \d+ s\)", waiting)
    assert entered == "in"
    assert read_turn(tmp_path) is None


def test_a_wait_may_have_an_end(tmp_path: Path) -> None:
    held = take_lock(tmp_path / "lock", "first")
    assert held is not None
    assert take_lock(tmp_path / "lock", "second", wait_s=0.1, on_wait=lambda line: None) is None
    os.close(held)
    again = take_lock(tmp_path / "lock", "second", wait_s=0.1)
    assert again is not None
    os.close(again)


def test_a_lock_outlasts_its_taker_in_what_was_forked_from_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = (
        "import os, pathlib, sys, time\n"
        "from compass.locks import take_lock\n"
        "take_lock(pathlib.Path(sys.argv[1]), 'outer')\n"
        "if child := os.fork():\n"
        "    print(child, flush=True)\n"
        "    os._exit(0)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, path], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdin is not None
    process.stdout.readline()
    process.wait()
    with open(path, "rb+") as file:
        assert not try_lock(file.fileno())
        process.stdin.close()
        while not try_lock(file.fileno()):
            time.sleep(0.02)


HOLDER = """
import sys, time
from compass.locks import take_turn
with take_turn(sys.argv[1], sys.argv[2]):
    print("in", flush=True)
    time.sleep(float(sys.argv[3]))
"""


def start(root: Path, name: str, seconds: float) -> subprocess.Popen:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HOLDER, str(root), name, str(seconds)]
    return subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)


def wait_until_waiting(process: subprocess.Popen) -> None:
    assert process.stderr is not None
    assert process.stderr.readline().startswith("waiting for ")


def test_killed_holders_and_killed_waiters_block_nobody(tmp_path: Path) -> None:
    first = start(tmp_path, "first", 600)
    assert first.stdout is not None
    first.stdout.readline()
    second = start(tmp_path, "second", 600)
    wait_until_waiting(second)
    third = start(tmp_path, "third", 0)
    wait_until_waiting(third)
    for process in (second, first):
        process.kill()
        process.wait()
    out, _ = third.communicate(timeout=120)
    assert out == "in\n"
    assert read_turn(tmp_path) is None


def test_what_the_holder_starts_does_not_wait_for_itself(tmp_path: Path) -> None:
    with take_turn(tmp_path, "outer") as variables:
        code = HOLDER.replace("import sys, time", f"import os, sys, time; os.environ.update({variables!r})")
        inner = [sys.executable, "-c", code, str(tmp_path), "inner", "0"]
        subprocess.run(inner, cwd=ROOT, check=True, timeout=300, capture_output=True)
    assert (tmp_path / PIPELINE).exists()
