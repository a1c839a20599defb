"""A tracking server that refuses who asks, as MLflow's own does with `--app-name basic-auth`: real requests, made by MLflow's client."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from compass.tracking.mlflow_client import connect, describe_failure, experiment_id, failures

module = importlib.import_module("compass.tracking.stage_run")  # the package has a function of this name


class Refuses(BaseHTTPRequestHandler):
    """Answers 401 to whatever it is asked."""

    def do_GET(self) -> None:
        self.send_error(401)

    def log_message(self, *_: object) -> None:
        return None


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A tracking server that refuses whoever asks."""
    web = ThreadingHTTPServer(("127.0.0.1", 0), Refuses)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{web.server_port}")
    for name in ("USERNAME", "PASSWORD", "TOKEN"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)
    yield
    web.shutdown()


@pytest.mark.parametrize("given", [{"USERNAME": "ada", "PASSWORD": "wrong-one"}, {"TOKEN": "wrong-token"}])
def test_wrong_credentials_are_named_and_not_shown(
    refusing: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: dict[str, str]
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"MLFLOW_TRACKING_{name}", value)
    with pytest.raises(failures()) as caught:
        experiment_id(connect(tmp_path), "x", tmp_path)
    told = describe_failure(caught.value)
    assert told.startswith("it refuses the credentials, status 401: set MLFLOW_TRACKING_USERNAME")
    assert "wrong" not in told


def test_the_link_to_a_run_carries_no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://ada:right@mlflow.example/base")
    running = SimpleNamespace(run_id="r", parent_id="p", sent=SimpleNamespace(experiment="7"), folder=tmp_path)
    monkeypatch.setattr(module, "_running", running)
    assert module.run_page() == {"MLflow run": "https://mlflow.example/base/#/experiments/7/runs/p"}
