"""What is lost of a training run ends it, and what stands still is named. Processes are real, Ray is a stand-in."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from compass.rl import trainer_watch
from compass.rl.trainer_watch import ClusterWatch, EssentialProcesses, Watchdog, find_lost_on_cluster
from tests.conftest import has_ended

TRAINER = """
import setproctitle, subprocess, sys, time
title, *child = sys.argv[1:]
if child:
    setproctitle.setproctitle(title)
    print("ready", flush=True)
    time.sleep(60)
started = subprocess.Popen([sys.executable, "-c", sys.orig_argv[2], title, "child"])
print(started.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(("title", "told"), [("raylet", "Ray's raylet"), ("VLLM::EngineCore", "vLLM's engine")])
def test_what_ends_before_the_trainer_is_lost(monkeypatch: pytest.MonkeyPatch, title: str, told: str) -> None:
    trainer = subprocess.Popen([sys.executable, "-c", TRAINER, title], stdout=subprocess.PIPE, text=True)
    try:
        started, ready = int(trainer.stdout.readline()), trainer.stdout.readline()
        watched = EssentialProcesses(trainer.pid)
        assert (ready, watched.find_lost()) == ("ready\n", "")
        psutil.Process(started).kill()
        assert has_ended(started)
        monkeypatch.setattr(trainer_watch, "GRACE_S", 3600.0)
        assert watched.find_lost() == ""  # at the end of training Ray's processes go first
        monkeypatch.setattr(trainer_watch, "GRACE_S", 0.0)
        assert watched.find_lost() == told
    finally:
        trainer.kill()
        trainer.wait()
    assert EssentialProcesses(trainer.pid).find_lost() == ""


def test_the_last_lines_of_rays_process_are_kept(tmp_path: Path) -> None:
    program = tmp_path / "raylet"
    program.symlink_to(sys.executable)
    start = "import subprocess, sys, time; subprocess.Popen(sys.argv[1:]); time.sleep(60)"
    command = [program, "-c", "import time; time.sleep(60)", f"--log_dir={tmp_path}"]
    trainer = psutil.Popen([sys.executable, "-c", start, *command])
    try:
        watched = EssentialProcesses(trainer.pid)
        deadline = time.monotonic() + 60
        while not watched._seen and time.monotonic() < deadline:
            assert watched.find_lost() == ""
        ((_, raylet),) = watched._seen.values()
        (tmp_path / "raylet.out").write_text("started\n" * 9 + "no room for objects\n")
        (tmp_path / "raylet.err").write_text("\nterminate called\n")
        raylet.kill()
        assert has_ended(raylet.pid)
        watched.find_lost()
    finally:
        for process in (*trainer.children(), trainer):
            process.kill()
        trainer.wait()
    *_, out, err = watched.last_lines.splitlines()
    assert (out, err) == ("  raylet: no room for objects", "  raylet: terminate called")
    assert len(watched.last_lines.splitlines()) == 6


def test_a_process_is_taken_for_rays_where_it_has_its_command_line() -> None:
    raylet = SimpleNamespace(name=lambda: "raylet", cmdline=list)
    assert trainer_watch._kind(raylet) == "", "Linux gives a process its name first"
    raylet.cmdline = lambda: ["raylet", "--log_dir=/tmp"]
    assert trainer_watch._kind(raylet) == "Ray's raylet"


def test_the_first_that_ended_is_named_and_not_those_that_ended_because_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trainer_watch, "GRACE_S", 3600.0)
    server, rank = (psutil.Popen(["sleep", "60"]) for _ in range(2))
    watched = EssentialProcesses(os.getpid())
    watched._seen = {server.pid: ("Ray's gcs_server", server), rank.pid: ("a rank of the trainer", rank)}
    for process in (rank, server):
        process.kill()
        process.wait()
        assert watched.find_lost() == ""
    monkeypatch.setattr(trainer_watch, "GRACE_S", 0.0)
    assert watched.find_lost() == "a rank of the trainer"


def node(name: str, alive: bool = True) -> dict[str, Any]:
    return {"NodeID": f"id of {name}", "NodeName": name, "Alive": alive}


def actor(name: str, where: str, state: str = "ALIVE", job: str = "02", reason: int = 1) -> dict[str, Any]:
    return {
        "JobID": job,
        "State": state,
        "ActorClassName": name,
        "Pid": 77,
        "DeathCause": SimpleNamespace(actor_died_error_context=SimpleNamespace(reason=reason)),
        "Address": {"NodeID": f"id of {where}"},
    }


@pytest.mark.parametrize(
    ("nodes", "actors", "told"),
    [
        ([node("a"), node("b")], [actor("WorkerDict", "a"), actor("WorkerDict", "b")], ""),
        ([node("a")], [actor("WorkerDict", "a"), actor("Other", "a", "DEAD", job="01")], ""),
        ([node("a")], [actor("Helper", "a", "DEAD", reason=number) for number in (4, 5, 6)], ""),
        ([node("a"), node("old", alive=False)], [actor("WorkerDict", "a")], ""),
        ([node("a")], [actor("WorkerDict", "a", "DEAD")], "WorkerDict (pid 77) ended on the Ray cluster"),
        (
            [node("a"), node("b", alive=False)],
            [actor("Server", "a", "DEAD"), actor("WorkerDict", "b", "DEAD")],
            "node b left the Ray cluster, with WorkerDict on it",
        ),
    ],
)
def test_what_is_gone(nodes: list[dict], actors: list[dict], told: str) -> None:
    assert find_lost_on_cluster(nodes, actors, "02") == told


@pytest.fixture
def cluster(library: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    state = {"1": actor("WorkerDict", "a")}
    library("ray._private.state", actors=lambda: state)
    context = SimpleNamespace(get_job_id=lambda: "02")
    library("ray", nodes=lambda: [node("a")], get_runtime_context=lambda: context)
    monkeypatch.setattr(trainer_watch, "POLL_S", 0.02)
    monkeypatch.setattr(trainer_watch, "GRACE_S", 0.2)
    return state


def test_a_trainer_that_lost_a_process_ends_after_a_while(cluster: dict[str, Any], tmp_path: Path) -> None:
    ended = threading.Event()
    statuses: list[int] = []
    with ClusterWatch(tmp_path / "lost.txt", end=lambda status: (statuses.append(status), ended.set())):
        assert not ended.wait(0.4)
        began = time.monotonic()
        cluster["1"] = actor("WorkerDict", "a", "DEAD")
        assert ended.wait(60)
    assert time.monotonic() - began >= 0.2  # at the end of training such processes go first
    assert statuses == [1]
    assert (tmp_path / "lost.txt").read_text() == "WorkerDict (pid 77) ended on the Ray cluster"


def test_a_trainer_whose_clusters_head_is_gone_ends(
    cluster: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> list[dict[str, Any]]:
        raise ConnectionError("refused")

    monkeypatch.setattr("ray.nodes", refused)
    ended = threading.Event()
    with ClusterWatch(tmp_path / "lost.txt", end=lambda status: ended.set()):
        assert ended.wait(60)
    told = (tmp_path / "lost.txt").read_text()
    assert told == "the head of the Ray cluster does not answer (ConnectionError: refused)"


def test_a_trainer_that_is_done_in_time_is_not_ended(
    cluster: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses: list[int] = []
    seen = threading.Semaphore(0)

    def look(*given: Any) -> str:
        seen.release()
        return find_lost_on_cluster(*given)

    monkeypatch.setattr(trainer_watch, "GRACE_S", 3600.0)
    monkeypatch.setattr(trainer_watch, "find_lost_on_cluster", look)
    cluster["1"] = actor("WorkerDict", "a", "DEAD")
    with ClusterWatch(tmp_path / "lost.txt", end=statuses.append):
        assert all(seen.acquire(timeout=60) for _ in range(2))
    assert statuses == []
    assert not (tmp_path / "lost.txt").exists()


def test_rays_numbers_are_those_that_the_installed_ray_has() -> None:
    from ray.core.generated.common_pb2 import ActorDiedErrorContext

    names = [ActorDiedErrorContext.Reason.Name(number) for number in trainer_watch.ENDED_BY_THE_JOB]
    assert names == ["RAY_KILL", "OUT_OF_SCOPE", "REF_DELETED"]


QUICK = {"limit": 10.0, "least_seconds": 30, "start_seconds": 90}


NOW = 1_000.0


@pytest.fixture
def watchdog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watchdog:
    """A watchdog over this process, with clocks that stand still at `NOW`."""
    clocks = SimpleNamespace(monotonic=lambda: NOW, time=lambda: NOW, sleep=lambda seconds: None)
    monkeypatch.setattr(trainer_watch, "time", clocks)
    return Watchdog(QUICK, tmp_path / "progress.json", os.getpid())


def later(watchdog: Watchdog, seconds: float) -> None:
    watchdog.last = NOW - seconds


def test_start_up_has_a_limit_of_its_own(watchdog: Watchdog) -> None:
    later(watchdog, 89)
    assert watchdog.find_standstill() is None
    later(watchdog, 91)
    told = watchdog.find_standstill() or ""
    assert (
        "no iteration ended for 91 s (it is the first of this run, allowed are 90 s). The trainer is still starting"
        in told
    )


@pytest.mark.parametrize(("seconds", "allowed"), [([1, 2, 3], 30), ([4, 6, 80], 60)])
def test_an_iteration_may_take_ten_times_the_median_and_never_less_than_the_least(
    watchdog: Watchdog, seconds: list[float], allowed: float
) -> None:
    for value in seconds:
        watchdog.note_iteration({"timing_s/step": value})
    assert watchdog.allowed == allowed
    later(watchdog, allowed - 1)
    assert watchdog.find_standstill() is None
    later(watchdog, allowed + 1)
    assert f"allowed are {allowed} s" in (watchdog.find_standstill() or "")


def test_it_tells_once_per_iteration(watchdog: Watchdog) -> None:
    watchdog.note_iteration({"timing_s/step": 1.0})
    later(watchdog, 31)
    assert watchdog.find_standstill()
    assert watchdog.find_standstill() is None
    watchdog.note_iteration({"timing_s/step": 1.0})
    later(watchdog, 31)
    assert watchdog.find_standstill()


def test_it_names_phase_progress_and_the_process_that_ended(watchdog: Watchdog) -> None:
    told = {"step": 4, "phase": "update", "detail": "", "at": NOW - 40}
    watchdog.progress.write_text(json.dumps(told))
    lost = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    stays = psutil.Popen(["sleep", "61"])
    try:
        while stays.status() != psutil.STATUS_SLEEPING:  # it is not loaded yet
            time.sleep(0.01)
        watchdog.note_iteration({"timing_s/step": 1.0})
        lost.kill()
        lost.wait()
        later(watchdog, 31)
        message = watchdog.find_standstill() or ""
    finally:
        for process in (lost, stays):
            process.kill()
            process.wait()
    assert "The trainer is in iteration 4, phase `update`, and said so 40 s ago." in message
    assert f"sleep (pid {stays.pid}) sleeping, 0% of a core" in message
    assert f"(pid {lost.pid})" in message.split("Ended since the first iteration: ")[1]
