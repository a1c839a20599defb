"""Where records go, and what MLflow's answers mean; test_stage_run.py has a real database, test_sender.py a real server."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from compass.tracking.mlflow_client import is_refusal, tracking_uri
from compass.tracking.mlflow_send import _create_once
from compass.tracking.record import experiment_name


def test_records_go_to_the_repositorys_database_unless_a_server_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    assert tracking_uri(tmp_path) == f"sqlite:///{tmp_path}/.compass/mlflow.db"
    assert experiment_name() == "compass-thinker"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://server")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "own")
    assert tracking_uri(tmp_path) == "http://server"
    assert experiment_name() == "own"


def test_of_several_runs_of_a_record_the_oldest_stays() -> None:
    runs = [SimpleNamespace(info=SimpleNamespace(run_id=name)) for name in ("late", "old")]  # the newest first
    deleted: list[str] = []
    client = SimpleNamespace(search_runs=lambda *_, **__: runs, delete_run=deleted.append)
    assert _create_once(client, "1", SimpleNamespace(began=0), "dedup", {}, {"own": "mine"}) == "old"
    assert deleted == ["late"]


def test_a_refusal_lasts_and_a_silence_does_not() -> None:
    from mlflow.exceptions import MlflowException
    from mlflow.protos.databricks_pb2 import INTERNAL_ERROR, RESOURCE_DOES_NOT_EXIST, TEMPORARILY_UNAVAILABLE

    assert is_refusal(MlflowException("no run", RESOURCE_DOES_NOT_EXIST))
    assert not is_refusal(MlflowException("connection", INTERNAL_ERROR))
    assert not is_refusal(MlflowException("locked", TEMPORARILY_UNAVAILABLE))
    assert not is_refusal(ConnectionError())
