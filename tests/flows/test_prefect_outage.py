"""A Prefect server that is down in the middle of a flow costs neither the stage nor the end of the flow's record."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DOWN_S = 30


class Server:
    """A Prefect server of its own database and port, that can be stopped and started again."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/api"
        self.env = {**os.environ, "PREFECT_HOME": str(home), "PREFECT_API_URL": self.url, "PYTHONPATH": str(ROOT)}
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(
            command, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.url}/health", timeout=2).status_code == 200:
                    return
            except httpx.HTTPError:
                time.sleep(0.5)
        raise TimeoutError("the server does not answer")

    def stop(self) -> None:
        if self._process is None:
            return
        family = psutil.Process(self._process.pid).children(recursive=True)
        os.killpg(self._process.pid, signal.SIGKILL)
        for process in family:
            if process.is_running():
                process.kill()
        self._process.wait()
        self._process = None

    def ask(self, path: str, method: str = "POST", **body: Any) -> Any:
        """Ask until the server answers: on a busy machine its SQLite is locked for seconds at a time."""

        def answer() -> httpx.Response | None:
            try:
                answered = httpx.request(method, f"{self.url}/{path}", json=body or {}, timeout=20)
            except httpx.HTTPError:
                return None
            return answered if answered.is_success else None

        return wait_for(answer, 90).json()


@pytest.fixture
def toy(short_toy: Path) -> Path:
    return short_toy


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path / "home")
    started.start()
    yield started
    started.stop()


def wait_for(what: Any, seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.5)
    raise TimeoutError(f"nothing came within {seconds:g} s")


def test_a_flow_goes_on_and_ends_right_while_its_server_is_down(toy: Path, server: Server) -> None:
    (toy / "grade.sh").write_text("for n in $(seq 40); do echo line $n; sleep 1; done\n")
    with open(toy.parent / "serve.log", "w") as log:
        serving = subprocess.Popen(
            [sys.executable, "-m", "flows.deployments"], cwd=toy, env=server.env, stdout=log, stderr=log
        )
    try:
        wait_for(lambda: "serving" in (toy.parent / "serve.log").read_text(), 180)
        found = next(made for made in server.ask("deployments/filter") if made["name"] == "0-pipeline")
        run = server.ask(f"deployments/{found['id']}/create_flow_run", state={"type": "SCHEDULED"})["id"]
        wait_for(lambda: (toy / "data" / "collect").exists(), 240)
        time.sleep(5)
        server.stop()
        time.sleep(DOWN_S)
        assert serving.poll() is None
        server.start()
        ended = wait_for(lambda: _ended(server, run), 180)
        assert (ended["type"], ended["message"].partition(";")[0]) == ("COMPLETED", "ran collect, grade, evaluate")
        wanted = {"flow_runs": {"id": {"any_": [run]}}}
        tasks = wait_for(lambda: _final(server.ask("task_runs/filter", **wanted)), 60)
        assert tasks == {"collect": "COMPLETED", "grade": "COMPLETED", "evaluate": "COMPLETED"}
        logs = {"flow_run_id": {"any_": [run]}}
        said = wait_for(lambda: _lines(server, logs), 60)
        assert [f"line {n}" in said for n in range(1, 41)] == [True] * 40
    finally:
        serving.terminate()
        serving.wait(30)


def _ended(server: Server, run: str) -> dict[str, Any] | None:
    state = server.ask(f"flow_runs/{run}", "GET")["state"]
    return state if state["type"] in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED") else None


def _final(runs: list[dict[str, Any]]) -> dict[str, str] | None:
    states = {run["name"]: run["state_type"] for run in runs}
    return states if states and set(states.values()) <= {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"} else None


def _lines(server: Server, wanted: dict[str, Any]) -> set[str] | None:
    said = {entry["message"] for entry in server.ask("logs/filter", logs=wanted, limit=200)}
    return said if "line 40" in said else None
