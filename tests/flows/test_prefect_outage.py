"""A Prefect server that is down in the middle of a flow costs neither the stage nor the end of the flow's record."""

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from compass.services.lifetime import end_processes, start, stop
from compass.services.state import read_services
from tests.services.conftest import ENDED, free_ports, wait_for

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DOWN_S = 30


def quiet(line: str) -> None:
    pass


def ask(api: str, path: str, **body: Any) -> Any:
    """Ask until the server answers: on a busy machine its SQLite is locked for seconds at a time."""

    def answer() -> httpx.Response | None:
        try:
            answered = httpx.request("POST" if body else "GET", f"{api}/{path}", json=body or None, timeout=20)
        except httpx.HTTPError:
            return None
        return answered if answered.is_success else None

    return wait_for(answer, 90).json()


def test_a_flow_goes_on_and_ends_right_while_its_server_is_down(
    short_toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (short_toy / "grade.sh").write_text("for n in $(seq 40); do echo line $n; sleep 1; done\n")
    ports = {"prefect": free_ports()["prefect"]}
    try:
        services = start(short_toy, ["prefect", "deployments"], ports, tell=quiet)
        api = f"{services['prefect'].url}/api"
        found = next(made for made in ask(api, "deployments/filter", limit=50) if made["name"] == "0-pipeline")
        run = ask(api, f"deployments/{found['id']}/create_flow_run", state={"type": "SCHEDULED"})["id"]
        wait_for(lambda: (short_toy / "data" / "collect").exists(), 240)
        time.sleep(5)
        end_processes(short_toy, ["prefect"])
        time.sleep(DOWN_S)
        assert set(read_services(short_toy)) == {"deployments"}
        start(short_toy, ["prefect"], ports, tell=quiet)
        ended = wait_for(lambda: (state := ask(api, f"flow_runs/{run}")["state"])["type"] in ENDED and state, 180)
        assert (ended["type"], ended["message"].partition(";")[0]) == ("COMPLETED", "ran collect, grade, evaluate")
        wanted = {"flow_runs": {"id": {"any_": [run]}}}
        tasks = wait_for(lambda: _final(ask(api, "task_runs/filter", **wanted)), 60)
        assert tasks == {"collect": "COMPLETED", "grade": "COMPLETED", "evaluate": "COMPLETED"}
        logs = {"flow_run_id": {"any_": [run]}}
        said = wait_for(lambda: _lines(ask(api, "logs/filter", logs=logs, limit=200)), 60)
        assert [f"line {n}" in said for n in range(1, 41)] == [True] * 40
    finally:
        stop(short_toy, force=True, tell=quiet)


def _final(runs: list[dict[str, Any]]) -> dict[str, str] | None:
    states = {run["name"]: run["state_type"] for run in runs}
    return states if states and set(states.values()) <= set(ENDED) else None


def _lines(logs: list[dict[str, Any]]) -> set[str] | None:
    said = {entry["message"] for entry in logs}
    return said if "line 40" in said else None
