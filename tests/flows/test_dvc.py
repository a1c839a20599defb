"""`compass run` and plain `dvc` side by side: turns are waited for, and what is cancelled leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from compass.processes import is_alive
from flows.run import list_experiments

ROOT = Path(__file__).resolve().parents[2]

COMPASS = [sys.executable, "-c", "from compass.cli import entry; entry()"]
DVC = [sys.executable, "-m", "dvc"]


def start(*command: str, cwd: Path, **variables: str) -> subprocess.Popen:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **variables}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def test_runs_that_start_at_once_wait_for_each_other_and_end_right(toy: Path, ran) -> None:
    runs = [
        start(*COMPASS, "run", "-S", "rl.stages.rl-3.steps=3", cwd=toy, TOY_SECONDS="0.3"),
        start(*COMPASS, "run", "-S", "evaluate.samples=3", cwd=toy),
        start(*COMPASS, "run", "-S", "grade.rollouts=3", cwd=toy),
    ]
    ends = [process.communicate(timeout=900) for process in runs]
    assert [process.returncode for process in runs] == [0, 0, 0], ends
    values = (toy / "params.yaml").read_text()
    assert "  samples: 3\n" in values
    assert "  rollouts: 3\n" in values
    assert "# base and every RL stage" in values
    assert {"collect", "grade", "evaluate"} <= set(ran(toy))
    status = subprocess.run([*DVC, "status"], cwd=toy, capture_output=True, text=True)
    assert "up to date" in status.stdout
    assert len(list_experiments(toy)) == 3


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("program", [[*COMPASS, "run"], [*DVC, "repro"]], ids=["compass run", "dvc repro"])
def test_ctrl_c_ends_the_tree(toy: Path, ran, program: list[str]) -> None:
    process = start(*program, cwd=toy, TOY_SECONDS="600")
    while not ran(toy):
        assert process.poll() is None
        time.sleep(0.05)
    tree = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=300)
    assert process.returncode != 0
    if program[-1] == "run":
        assert process.returncode == 130
        assert "Traceback" not in error
        assert error.splitlines()[-1].endswith("Run it again: it begins collect again; the stages before it are done")
    assert not any(map(is_alive, tree))
    assert start(*DVC, "repro", "-s", "collect", cwd=toy).wait() == 0


def test_a_run_waits_for_a_plain_dvc_that_is_at_work(toy: Path, ran) -> None:
    (toy / "collect.sh").write_text("for second in $(seq 600); do [ -e seen ] && exit; sleep 1; done; exit 1")
    plain = start(*DVC, "repro", "collect", cwd=toy)
    while not ran(toy):
        assert plain.poll() is None
        time.sleep(0.05)
    ours = start(*COMPASS, "run", "grade", cwd=toy)
    assert ours.stderr is not None
    assert any("waiting for `" in line for line in ours.stderr)
    (toy / "seen").touch()
    _, error = ours.communicate(timeout=600)
    assert plain.wait() == 0
    assert ours.returncode == 0, error
    assert ran(toy) == ["collect", "grade"]
