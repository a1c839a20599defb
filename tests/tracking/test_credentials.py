"""A tracking server that refuses who asks, as MLflow's own does with `--app-name basic-auth`: real requests, made by MLflow's client."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from compass.tracking.mlflow_client import connect, describe_failure, experiment_id, failures

module = importlib.import_module("compass.tracking.stage_run")  # the package has a function of this name


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """Answers 401 to whatever it is asked."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(401)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            return None

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    address = f"127.0.0.1:{web.server_port}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://{address}")
    for name in ("USERNAME", "PASSWORD", "TOKEN"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)
    yield SimpleNamespace(address=address, seen=seen)
    web.shutdown()


@pytest.mark.parametrize("given", [{"USERNAME": "ada", "PASSWORD": "wrong-one"}, {"TOKEN": "wrong-token"}])
def test_wrong_credentials_are_named_and_not_shown(
    server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: dict[str, str]
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"MLFLOW_TRACKING_{name}", value)
    with pytest.raises(failures()) as caught:
        experiment_id(connect(tmp_path), "x", tmp_path)
    told = describe_failure(caught.value)
    assert told.startswith("it refuses the credentials, status 401: set MLFLOW_TRACKING_USERNAME")
    assert "wrong" not in told


def test_wrong_credentials_are_told_once_however_often_they_are_refused(
    server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from compass.processes import process_key
    from compass.tracking.record import Record

    monkeypatch.setattr(module, "SEND_EVERY_S", 0.05)
    monkeypatch.setattr(module, "LONGEST_PAUSE_S", 0.05)
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    address = f"http://{server.address}"
    record = Record(id="r", stage="dedup", experiment="x", process=process_key(), began=0, server=address)
    run = module.StageRun(folder=tmp_path, record=record)
    run.start(10)
    for _ in range(1000):
        if len(server.seen) >= 4:
            break
        time.sleep(0.01)  # it tries again by itself
    run.finish("FINISHED")
    assert len(server.seen) >= 4
    told = capsys.readouterr().err.splitlines()
    assert len([line for line in told if "cannot take records" in line]) == 1
    assert "status 401" in told[0]


def test_the_link_to_a_run_carries_no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://ada:right@mlflow.example/base")
    running = SimpleNamespace(run_id="r", parent_id="p", sent=SimpleNamespace(experiment="7"), folder=tmp_path)
    monkeypatch.setattr(module, "_running", running)
    assert module.run_page() == {"MLflow run": "https://mlflow.example/base/#/experiments/7/runs/p"}
