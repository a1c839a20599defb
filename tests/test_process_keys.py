"""Which pipeline run a stage belongs to, and whether a process still runs."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from compass.processes import (
    find_start,
    new_pipeline_key,
    pipeline_has_ended,
    pipeline_key,
    process_key,
    process_runs,
)
from compass.runs.repository import git_state, repository_root

ROOT = Path(__file__).resolve().parents[1]


def test_a_pipeline_run_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", "mine")
    assert pipeline_key() == "mine"


def test_stages_of_one_dvc_process_share_a_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COMPASS_PIPELINE_RUN", raising=False)
    stage = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from compass.processes import pipeline_key; print(pipeline_key())"
    (tmp_path / "dvc").write_text(
        "import os, subprocess, sys\n"
        f"for _ in range(2): subprocess.run([sys.executable, '-c', {stage!r}], check=True)\n"
        "print(os.getpid())\n"
    )
    done = subprocess.run([sys.executable, tmp_path / "dvc"], capture_output=True, text=True, check=True)
    first, second, pid = done.stdout.split()
    assert first == second
    assert first.split("-")[0] == "dvc"
    assert first.split("-")[-2] == pid
    assert pipeline_has_ended(first)


def test_a_process_is_known_by_its_number_and_its_start() -> None:
    key = process_key()
    pid, created = key.split(":")
    assert int(pid) == os.getpid()
    assert process_runs(key)
    assert not process_runs(f"{pid}:{float(created) + 0.2:.2f}")
    assert not process_runs(f"{pid}:{float(created) - 60:.2f}")


@pytest.mark.parametrize("step", [-3600, 40])
def test_a_process_is_known_after_the_clock_was_set(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    key, run, day = process_key(), new_pipeline_key(), psutil.Process().create_time()
    started = psutil.boot_time()
    monkeypatch.setattr(psutil._pslinux, "boot_time", lambda: started + step)
    assert psutil.Process().create_time() == day + step, "what the clock does to psutil"
    assert process_key() == key
    assert process_runs(key)
    assert not pipeline_has_ended(run)


def test_a_pipelines_run_has_ended_when_its_process_has() -> None:
    started = "import sys; sys.path.insert(0, sys.argv[1]); from compass.processes import new_pipeline_key; print(new_pipeline_key())"
    done = subprocess.run([sys.executable, "-c", started, str(ROOT)], capture_output=True, text=True, check=True)
    assert pipeline_has_ended(done.stdout.strip())
    assert not pipeline_has_ended(new_pipeline_key())
    assert not pipeline_has_ended("of another form")
    assert pipeline_has_ended(f"run-{socket.gethostname()}-{os.getpid()}-{time.time_ns()}"), "of an earlier version"


def test_a_process_that_ended_does_not_run_even_if_nobody_asked_for_its_status() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    key = f"{child.pid}:{find_start(child.pid):.2f}"
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not process_runs(key)  # a zombie
    child.wait()
    assert not process_runs(key)


def test_the_database_of_an_experiments_copy_is_the_repositorys_own(tmp_path: Path) -> None:
    assert repository_root(tmp_path) == tmp_path
    copy = tmp_path / ".dvc/tmp/exps/standalone/x/deeper"
    copy.mkdir(parents=True)
    assert repository_root(copy) == repository_root(copy.parents[2]) == tmp_path
    assert repository_root(tmp_path / ".dvc/tmp/exp") == tmp_path / ".dvc/tmp/exp"


def test_the_commit_and_whether_files_differ_from_it(tmp_path: Path) -> None:
    assert git_state(tmp_path) == {}

    def git(*words: str) -> str:
        who = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
        return subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    (tmp_path / "a").write_text("1")
    (tmp_path / "dvc.lock").write_text("1")
    git("add", "a", "dvc.lock")
    git("commit", "-qm", "a")
    (tmp_path / "untracked").write_text("1")
    assert git_state(tmp_path) == {"commit": git("rev-parse", "HEAD").strip(), "dirty": "false"}
    (tmp_path / "dvc.lock").write_text("2")
    assert git_state(tmp_path)["dirty"] == "false", "every run changes it"
    (tmp_path / "a").write_text("2")
    assert git_state(tmp_path)["dirty"] == "true"
    assert git_state(tmp_path, without=["a"])["dirty"] == "false"
