"""The real services in a copy of the repository: up, a stage and a cancelled run from Prefect, down; the machine is as it was."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from compass.services.lifetime import end_processes, find_processes, is_free
from compass.services.servers import ask, is_answering
from compass.services.state import read_services
from tests.conftest import copy_of_the_repository
from tests.services.conftest import ENDED, free_ports, wait_for

pytestmark = pytest.mark.slow

LONGEST_S = 300.0


class Machine:
    """A copy of the repository with profile `debug`, and a home and a temporary folder of its own."""

    def __init__(self, folder: Path, temporary: Path) -> None:
        self.folder, self.home, self.temporary = folder / "copy", folder / "home", temporary
        self.home.mkdir()
        self.ports = free_ports()
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("COMPASS_", "MLFLOW_", "PREFECT_", "DVC_")) and not name.startswith("XDG_")
        }
        self.environ = {
            **kept,
            "HOME": str(self.home),
            "TMPDIR": str(temporary),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        copy_of_the_repository(self.folder)
        (self.folder / "dvc.lock").unlink(missing_ok=True)
        self._run(self.folder, *self._compass("profile", "use", "debug", "--force"))
        self._run(self.folder, "git", "init", "-q")
        self._run(self.folder, "git", "add", "-A")
        self._run(self.folder, "git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "debug")

    def compass(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of `compass` in the copy."""
        return subprocess.run(
            self._compass(*words), cwd=self.folder, env=self.environ, capture_output=True, text=True, timeout=LONGEST_S
        )

    def own_processes(self) -> set[str]:
        """Command lines of every process that works in the copy or was started with its folders."""
        found = set()
        for process in psutil.process_iter():
            try:
                variables, where = Path(f"/proc/{process.pid}/environ").read_bytes(), process.cwd()
                if str(self.home).encode() in variables or Path(where).is_relative_to(self.folder):
                    found.add(f"{process.pid} {' '.join(process.cmdline())}")
            except (OSError, psutil.Error):
                continue
        return found

    def files_outside(self) -> set[Path]:
        """What is in the home and the temporary folder."""
        return {path for folder in (self.home, self.temporary) for path in folder.rglob("*")}

    def _compass(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "compass.cli", *words]

    def _run(self, folder: Path, *words: str) -> str:
        done = subprocess.run(words, cwd=folder, env=self.environ, capture_output=True, text=True, timeout=LONGEST_S)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
        return done.stdout


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    temporary = Path(tempfile.mkdtemp(prefix="c", dir="/tmp"))  # short: a stage's sockets are below it
    made = Machine(tmp_path, temporary)
    yield made
    end_processes(made.folder)
    shutil.rmtree(temporary)


def flow_run(api: str, deployment: str) -> str:
    """Ask Prefect for a run of a deployment, as its page does; the run's id."""
    known = {one["name"]: one["id"] for one in ask(f"{api}/deployments/filter", {}, 20)}
    return ask(f"{api}/deployments/{known[deployment]}/create_flow_run", {"state": {"type": "SCHEDULED"}}, 20)["id"]


def state(api: str, run: str) -> str:
    return ask(f"{api}/flow_runs/{run}", timeout_s=20)["state"]["type"]


def test_up_a_stage_from_prefect_and_down_leave_the_machine_as_it_was(machine: Machine) -> None:
    outside = machine.files_outside()
    began = time.monotonic()
    up = machine.compass(
        "up", "--json", *(word for name, port in machine.ports.items() for word in (f"--{name}-port", str(port)))
    )
    assert up.returncode == 0, up.stderr
    print(f"up took {time.monotonic() - began:.0f} s")
    services = {one["name"]: one for one in json.loads(up.stdout)}
    assert set(services) == {"prefect", "mlflow", "live", "deployments"}
    assert is_answering(services["live"]["url"])
    api = f"{services['prefect']['url']}/api"
    memory = sum(process.memory_full_info().pss for process in find_processes(machine.folder))
    print(f"{memory >> 20} MiB in {len(find_processes(machine.folder))} processes")

    assert ask(f"{services['prefect']['url']}/ui-settings")["api_url"] == api
    stages = {one["name"] for one in ask(f"{api}/deployments/filter", {}, 20)}
    assert {"0-pipeline", "collect", "denoise", "evaluate"} <= stages

    stage = flow_run(api, "collect")
    wait_for(lambda: state(api, stage) in ENDED, LONGEST_S)
    assert state(api, stage) == "COMPLETED"
    assert "collect:" in (machine.folder / "dvc.lock").read_text()
    os.kill(services["mlflow"]["pid"], signal.SIGKILL)  # its worker lives on and keeps the port
    shown = machine.compass("up")
    assert shown.returncode == 0, shown.stderr
    assert f"http://127.0.0.1:{machine.ports['mlflow']}/#/experiments/1/runs" in shown.stdout
    after = read_services(machine.folder)
    assert after["mlflow"].pid != services["mlflow"]["pid"]
    assert {name: one.pid for name, one in after.items() if name != "mlflow"} == {
        name: one["pid"] for name, one in services.items() if name != "mlflow"
    }

    run = flow_run(api, "0-pipeline")
    wait_for(lambda: list(machine.folder.glob("work/progress/dedup.json")), LONGEST_S)
    refused = machine.compass("down")
    assert refused.returncode == 1
    assert "in progress, started from Prefect" in refused.stderr
    assert "compass down --force" in refused.stderr
    assert state(api, run) == "RUNNING"

    began = time.monotonic()
    down = machine.compass("down", "--force")
    assert down.returncode == 0, down.stderr
    print(f"down took {time.monotonic() - began:.1f} s")
    assert machine.own_processes() == set()
    assert all(map(is_free, machine.ports.values()))
    assert read_services(machine.folder) == {}
    assert machine.files_outside() == outside
    assert machine.compass("down").stdout == "nothing runs\n"
