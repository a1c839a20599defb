"""Flows run DVC in a process group that ends whole, and leave it to DVC what runs."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from flows.repro import ReproError, dvc_command, parse_parameters, run_group


def test_command_waits_for_the_lock_and_names_the_target() -> None:
    assert dvc_command(None)[2:] == ["dvc", "--wait-for-lock", "repro"]
    assert dvc_command("dedup", single=True)[2:] == ["dvc", "--wait-for-lock", "repro", "--single-item", "dedup"]


def test_parameters_become_an_experiment() -> None:
    command = dvc_command("evaluate", parameters={"evaluate.samples": 4, "report.title": "a b"})
    assert command[3:6] == ["--wait-for-lock", "exp", "run"]
    assert "evaluate.samples=4" in command
    assert 'report.title="a b"' in command


@pytest.mark.parametrize("key", ["--force", "a b", "a=b", "", "a."])
def test_a_name_that_is_no_parameter_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="not the name of a parameter"):
        dvc_command(None, parameters={key: 1})


def test_parameter_words_are_read_as_yaml() -> None:
    assert parse_parameters(["evaluate.samples=4", "rl.rollout.dynamic_sampling=false"]) == {
        "evaluate.samples": 4,
        "rl.rollout.dynamic_sampling": False,
    }
    with pytest.raises(ValueError, match="NAME=VALUE"):
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


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises, even where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two DVC stages that write files in no time."""
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "params.yaml").write_text("collect: {rows: 2}\n")
    (folder / "dvc.yaml").write_text(
        "stages:\n"
        "  collect: {cmd: 'echo rows > rows.txt && echo $COMPASS_PIPELINE_RUN', params: [collect], outs: [rows.txt]}\n"
        "  dedup: {cmd: cp rows.txt kept.txt, deps: [rows.txt], outs: [kept.txt]}\n"
    )
    dvc = [sys.executable, "-m", "dvc", "init", "-q"]
    who = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    for command in (
        ["git", "init", "-q"],
        dvc,
        ["git", "add", "-A"],
        ["git", *who, "commit", "-qm", "toy"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    return folder


def test_the_pipeline_flow_runs_what_changed(toy: Path) -> None:
    from prefect.testing.utilities import prefect_test_harness

    from flows.pipeline import pipeline
    from flows.stage import stage

    with prefect_test_harness(server_startup_timeout=120):
        pipeline(folder=str(toy))
        assert (toy / "kept.txt").read_text() == "rows\n"
        written = (toy / "kept.txt").stat().st_mtime_ns
        stage("dedup", folder=str(toy))
        assert (toy / "kept.txt").stat().st_mtime_ns == written
        with pytest.raises(ReproError, match="status"):
            pipeline(target="rl-1", folder=str(toy))
