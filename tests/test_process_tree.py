"""A stage ends with whoever started it, and takes every process and temporary file along, whichever of its processes dies."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from compass import process_tree
from compass.locks import open_lock, read_holder, try_lock
from compass.process_tree import StageRunningError, lock_stage, remove_abandoned

STAGE = """
import json, os, subprocess, sys, time
from pathlib import Path
from compass.process_tree import lock_stage, own_processes

lock_stage("rl-1")
outer = os.getpid()
own_processes()
# A process in a session of its own whose parent has ended, as Ray's are.
orphan = "import subprocess, sys; print(subprocess.Popen(['sleep', '300'], start_new_session=True, stdout=-3, stderr=-3).pid)"
lost = int(subprocess.run([sys.executable, "-c", orphan], capture_output=True, text=True, check=True).stdout)
child = subprocess.Popen(["sleep", "300"])
Path(os.environ["TMPDIR"], "a socket").touch()
told = dict(outer=outer, inner=os.getppid(), worker=os.getpid(), lost=lost, child=child.pid, folder=os.environ["TMPDIR"])
Path("told.part").write_text(json.dumps(told))
Path("told.part").rename("told.json")
if len(sys.argv) > 1:
    sys.exit(int(sys.argv[1]))
time.sleep(300)
"""
STARTER = (
    "import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', sys.argv[1], *sys.argv[2:]]).returncode)"
)


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[subprocess.Popen, dict]]]:
    """Starts a stage below a process that stands for DVC, and says which processes there are."""
    monkeypatch.chdir(tmp_path)
    started: list[dict[str, Any]] = []

    def begin(*words: str) -> tuple[subprocess.Popen, dict[str, Any]]:
        root = Path(process_tree.__file__).parents[1]
        starter = subprocess.Popen(
            [sys.executable, "-c", STARTER, STAGE, *words], env={**os.environ, "PYTHONPATH": str(root)}
        )
        deadline = time.monotonic() + 60
        while not Path("told.json").exists():
            assert time.monotonic() < deadline
            assert starter.poll() is None or Path("told.json").exists()
            time.sleep(0.05)
        started.append(json.loads(Path("told.json").read_text()))
        return starter, started[-1]

    yield begin
    for told in started:  # what a failed test left
        for name in ("outer", "inner", "worker", "lost", "child"):
            if runs(told[name]):
                os.kill(told[name], signal.SIGKILL)


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def nothing_is_left(told: dict[str, Any]) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        left = [name for name in ("outer", "inner", "worker", "lost", "child") if runs(told[name])]
        if not left and not Path(told["folder"]).exists():
            return True
        time.sleep(0.1)
    pytest.fail(f"left: {left}, folder {Path(told['folder']).exists()}")


def test_a_stage_that_is_suspended_goes_on_when_it_is_continued(start: Callable[..., Any]) -> None:
    _, told = start()
    names = ("outer", "inner", "worker")
    for _ in range(2):
        for name in names:
            os.kill(told[name], signal.SIGSTOP)
        time.sleep(0.6)  # longer than a guard waits between two looks
        for name in names:
            os.kill(told[name], signal.SIGCONT)
        time.sleep(0.6)
    assert all(runs(told[name]) for name in names)


@pytest.mark.parametrize(
    ("victim", "number", "status"),
    [
        ("outer", signal.SIGKILL, -signal.SIGKILL),
        ("outer", signal.SIGTERM, 128 + signal.SIGTERM),  # an interrupt reaches the worker
        ("inner", signal.SIGKILL, None),
        ("worker", signal.SIGKILL, 128 + signal.SIGKILL),
        ("starter", signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_a_killed_process_of_a_stage_takes_all_others_along(
    start: Callable[..., Any], victim: str, number: int, status: int | None
) -> None:
    starter, told = start()
    os.kill(starter.pid if victim == "starter" else told[victim], number)
    assert nothing_is_left(told)
    ended = starter.wait(timeout=60)
    assert ended != 0
    assert status is None or ended in (status, status % 256)


ORPHAN = """
import os, sys, time
from pathlib import Path
from compass.process_tree import own_processes

Path("started").touch()
while not Path("go").exists():
    time.sleep(0.05)
try:
    own_processes()
finally:
    Path("ended.part").write_text(f"{sys.exc_info()[1]}")
    Path("ended.part").rename("ended")
"""


def test_a_stage_whose_dvc_died_before_it_could_look_does_nothing(tmp_path: Path) -> None:
    root = Path(process_tree.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root), "DVC_STAGE": "rl-1"}
    dvc = subprocess.Popen(
        [sys.executable, "-c", STARTER, ORPHAN], cwd=tmp_path, env=environment, start_new_session=True
    )
    for name, then in (("started", dvc.kill), ("ended", dvc.wait)):
        deadline = time.monotonic() + 60
        while not (tmp_path / name).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert (tmp_path / name).exists()
        then()
        dvc.wait()
        (tmp_path / "go").touch()
    assert (tmp_path / "ended").read_text() == "DVC, which started this stage, has ended"


def test_a_killed_process_group_takes_all_others_along(start: Callable[..., Any]) -> None:
    starter, told = start()
    assert os.getpgid(told["outer"]) == os.getpgid(starter.pid) != os.getpgid(told["worker"])
    for process in (starter.pid, told["outer"]):  # the test is of the same group
        os.kill(process, signal.SIGKILL)
    starter.wait()
    assert nothing_is_left(told)


@pytest.mark.parametrize("status", ["0", "3"])
def test_what_a_stage_leaves_ends_with_it_and_its_status_is_told(start: Callable[..., Any], status: str) -> None:
    starter, told = start(status)
    assert starter.wait(timeout=60) == int(status)
    assert nothing_is_left(told)


def test_a_second_process_of_a_stage_is_told_which_is_the_first(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, told = start()
    monkeypatch.setattr(process_tree, "LOCK_WAIT_S", 0.5)
    with pytest.raises(StageRunningError, match=rf"process {told['outer']}, .* is still at work on this stage"):
        lock_stage("rl-1")
    assert f"rl-1: waiting for `stage rl-1` (process {told['outer']}," in capsys.readouterr().err
    os.close(lock_stage("rl-2"))
    os.kill(told["worker"], signal.SIGKILL)
    assert nothing_is_left(told)
    os.close(lock_stage("rl-1"))
    holder = read_holder(Path("work/rl-1.lock"))
    assert holder is not None
    assert (holder.pid, holder.command) == (os.getpid(), "stage rl-1")


def test_folders_of_stages_that_are_gone_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "_base", lambda: tmp_path)
    for name in ("compass-gone", "compass-used", "other-gone", "compass-foreign"):
        (tmp_path / name).mkdir()
        if name != "compass-foreign":
            (tmp_path / name / process_tree.OWNER).touch()
    held = open_lock(tmp_path / "compass-used" / process_tree.OWNER)
    assert try_lock(held)
    assert remove_abandoned() == [tmp_path / "compass-gone"]
    os.close(held)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compass-foreign", "compass-used", "other-gone"]


def test_temporary_folders_leave_room_for_rays_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, used in (("/var/tmp", "/var/tmp"), ("/a/path/that/is/too/long", "/tmp")):
        monkeypatch.setattr(process_tree.tempfile, "tempdir", given)
        assert str(process_tree._base()) == used
