"""A folder that was copied records into itself, and not into the one it was copied from."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from compass.tracking.local_store import relocate
from compass.tracking.mlflow_client import connect, experiment_id, local_uri


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


def run_with_artifact(client: Any, folder: Path, text: str) -> str:
    run = client.create_run(experiment_id(client, "compass-thinker", folder))
    client.log_text(run.info.run_id, text, "note.txt")
    return run.info.run_id


def files(folder: Path) -> list[str]:
    return sorted(path.read_text() for path in folder.rglob("note.txt"))


def test_a_copied_folder_writes_and_reads_its_own_artifacts(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    old = run_with_artifact(connect(first), first, "old")
    shutil.copytree(first, second)
    client = connect(second)
    run_with_artifact(client, second, "new")
    assert files(first) == ["old"]
    assert files(second) == ["new", "old"]
    address = client.get_run(old).info.artifact_uri
    assert address.startswith((second / ".compass/mlartifacts").as_uri() + "/")
    shutil.rmtree(first)
    assert [item.path for item in client.list_artifacts(old)] == ["note.txt"]


def test_a_store_at_the_root_moves_into_the_state_folder(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    run = run_with_artifact(connect(old), old, "text")
    new.mkdir()
    shutil.copy(old / ".compass/mlflow.db", new / "mlflow.db")
    shutil.copytree(old / ".compass/mlartifacts", new / "mlartifacts")
    client = connect(new)
    assert not (new / "mlflow.db").exists()
    assert [item.path for item in client.list_artifacts(run)] == ["note.txt"]
    assert files(new) == ["text"]


def test_addresses_of_other_places_stay(tmp_path: Path) -> None:
    client = connect(tmp_path)
    mine = client.create_experiment("bucket", artifact_location="s3://bucket/mlartifacts")
    relocate(tmp_path)
    assert client.get_experiment(mine).artifact_location == "s3://bucket/mlartifacts"
    assert local_uri(tmp_path) == f"sqlite:///{tmp_path}/.compass/mlflow.db"
