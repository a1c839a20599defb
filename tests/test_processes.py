"""What every process of the pipeline gets: its environment, its cores, its parent, and the words it asks models with."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compass import environment
from compass.machine import cores, lacks_bfloat16
from tests.conftest import has_ended


def test_variables_that_are_set_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"WANDB_MODE": "online"})
    environment.apply()
    assert os.environ == environment.QUIET | {"WANDB_MODE": "online"}


def test_dvc_keeps_its_caches_in_the_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from dvc.dirs import site_cache_dir

    monkeypatch.setattr(os, "environ", {})
    environment.apply(tmp_path)
    assert site_cache_dir() == str(tmp_path / ".compass/dvc")


def test_only_the_cores_this_process_may_use_count() -> None:
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)
    assert cores() == len(allowed)


def test_a_machine_that_cannot_tell_has_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert cores() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


CHILD = """
import os, sys, time
from compass.machine import die_with_parent
die_with_parent(int(sys.argv[1]) or os.getppid())
print("ready", flush=True)
time.sleep(60)
"""
PARENT = """
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], "0"], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_dies_with_its_parent_however_that_ends() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, CHILD], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert parent.wait() == -signal.SIGKILL
    assert has_ended(child)


def test_a_process_whose_parent_has_ended_already_ends_at_once() -> None:
    child = subprocess.run([sys.executable, "-c", CHILD, "1"], timeout=300, capture_output=True)
    assert child.returncode == 1
    assert child.stdout == b""


@pytest.mark.parametrize(
    ("flags", "lacks"),
    [
        ("flags\t\t: fma avx f16c avx2", True),
        ("flags\t\t: avx2 avx512f avx512bw", False),
        ("Features\t: fp asimd", False),
    ],
    ids=["AVX2 alone", "AVX-512", "ARM"],
)
def test_a_processor_without_avx_512_lacks_bfloat16(flags: str, lacks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: f"processor\t: 0\n{flags}\n")
    assert lacks_bfloat16() is lacks
