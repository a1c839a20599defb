"""Two folders and one Prefect server: the second is refused, and the first one's run goes on."""

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from compass.services.lifetime import ServiceError, end_processes, start, stop
from tests.services.conftest import ENDED, free_ports, wait_for

pytestmark = pytest.mark.slow


def test_a_second_folder_does_not_serve_to_a_server_that_the_first_one_serves_to(
    short_toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    other = tmp_path / "other"
    shutil.copytree(short_toy, other)
    (short_toy / "grade.sh").write_text("sleep 30\n")
    try:
        services = start(short_toy, ["prefect", "deployments"], {"prefect": free_ports()["prefect"]}, tell=len)
        api = f"{services['prefect'].url}/api"

        def ask(path: str, **body: Any) -> Any:
            return httpx.post(f"{api}/{path}", json=body, timeout=60).raise_for_status().json()

        def read_state() -> str:
            return httpx.get(f"{api}/flow_runs/{run}", timeout=60).json()["state"]["type"]

        found = next(made for made in ask("deployments/filter") if made["name"] == "0-pipeline")
        run = ask(f"deployments/{found['id']}/create_flow_run", state={"type": "SCHEDULED"})["id"]
        wait_for(lambda: read_state() == "RUNNING", 120)
        monkeypatch.setenv("PREFECT_API_URL", api)
        with pytest.raises(ServiceError, match="another folder serves its stages there"):
            start(other, ["deployments"], {}, tell=len)
        assert wait_for(lambda: (state := read_state()) in ENDED and state, 180) == "COMPLETED"
        end_processes(short_toy, ["deployments"])
        assert set(start(other, ["deployments"], {}, tell=len)) == {"deployments"}
    finally:
        stop(other)
        stop(short_toy)
