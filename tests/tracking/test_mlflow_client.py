"""What tracking sends to MLflow, with a client that only notes it; test_stage_run.py has a real database."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compass.tracking.mlflow_client import (
    is_refusal,
    log_metrics,
    log_params,
    log_tags,
    tracking_uri,
)
from compass.tracking.mlflow_send import _create_once
from compass.tracking.record import experiment_name


class Client:
    """Notes calls; a search finds `runs`."""

    def __init__(self, *runs: Any) -> None:
        self.calls: list[tuple] = []
        self.runs = list(runs)

    def search_runs(self, experiments: list[str], condition: str, **options: Any) -> list[Any]:
        self.calls.append(("search", condition, options))
        return self.runs

    def __getattr__(self, name: str) -> Any:
        def note(*given: Any, **options: Any) -> Any:
            self.calls.append((name, given, options))
            return run_with("new")

        return note


def batches(client: Client, kind: str) -> list[list[Any]]:
    return [options[kind] for name, _, options in client.calls if name == "log_batch"]


def run_with(run_id: str = "r", **tags: str) -> Any:
    return SimpleNamespace(info=SimpleNamespace(run_id=run_id), data=SimpleNamespace(tags=tags))


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])])
def test_a_call_has_a_hundred_parameters_at_most(count: int, sizes: list[int]) -> None:
    client = Client()
    log_params(client, "r", {str(n): "x" for n in range(count)})
    assert [len(batch) for batch in batches(client, "params")] == sizes
    assert [param.key for batch in batches(client, "params") for param in batch] == [str(n) for n in range(count)]


def test_metrics_keep_the_step_and_the_time_of_their_record_and_go_out_by_five_hundred() -> None:
    client = Client()
    log_metrics(client, "r", [("a", 0.5, 12, 7)], model="m")
    [[metric]] = batches(client, "metrics")
    assert (metric.key, metric.value, metric.timestamp, metric.step, metric.model_id) == ("a", 0.5, 12, 7, "m")
    log_metrics(client, "r", [("a", 0.5, 12, step) for step in range(501)])
    assert [len(batch) for batch in batches(client, "metrics")] == [1, 500, 1]


def test_tags_are_cut_to_what_mlflow_takes() -> None:
    client = Client()
    log_tags(client, "r", {"a": "x" * 5000, "b": "x" * 5001})
    assert [len(tag.value) for tag in batches(client, "tags")[0]] == [5000, 5000]


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
    client = Client(run_with("late"), run_with("old"))  # the newest first
    assert _create_once(client, "1", SimpleNamespace(began=0), "dedup", {}, {"own": "mine"}) == "old"
    assert [call[0] for call in client.calls if call[0] != "search"] == ["delete_run"]
    assert client.calls[-1][1] == ("late",)


def test_a_refusal_lasts_and_a_silence_does_not() -> None:
    from mlflow.exceptions import MlflowException
    from mlflow.protos.databricks_pb2 import INTERNAL_ERROR, RESOURCE_DOES_NOT_EXIST, TEMPORARILY_UNAVAILABLE

    assert is_refusal(MlflowException("no run", RESOURCE_DOES_NOT_EXIST))
    assert not is_refusal(MlflowException("connection", INTERNAL_ERROR))
    assert not is_refusal(MlflowException("locked", TEMPORARILY_UNAVAILABLE))
    assert not is_refusal(ConnectionError())
