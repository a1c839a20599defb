"""Every stage leaves a run in MLflow: nested, with what went in and out, whatever way it ends."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.settings import load_settings
from compass.tracking import TrackingError, run_page, stage_run
from compass.tracking.dvc_files import Graph, dvc_md5
from compass.tracking.mlflow_client import connect

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = load_settings(ROOT / "profiles" / "tiny.yaml")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as its first use leaves it: migrations take seconds, so they run once."""
    folder = tmp_path_factory.mktemp("database")
    connect(folder)
    return folder / "mlflow.db"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: Path) -> SimpleNamespace:
    """Two stages' graph, a fresh database, and a pipeline run called `first`."""
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_RUN_ID", "COMPASS_TRACKING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", "first")
    shutil.copy(database, tmp_path)
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n"
        "  dedup: {cmd: x, deps: [data/collect], outs: [data/dedup]}\n"
        "  denoise: {cmd: x, deps: [data/dedup], outs: [data/denoise]}\n"
    )
    (tmp_path / "data/collect").mkdir(parents=True)
    pq.write_table(pa.table({"id": ["a", "b", "c"]}), tmp_path / "data/collect/kept.parquet")

    def client() -> Any:
        from mlflow import MlflowClient

        return MlflowClient(f"sqlite:///{tmp_path}/mlflow.db")

    def runs(kind: str) -> list[Any]:
        return client().search_runs(["1"], f"tags.`compass.kind` = '{kind}'", order_by=["attributes.start_time"])

    return SimpleNamespace(folder=tmp_path, runs=runs, client=client)


def run_dedup(folder: Path) -> str | None:
    """A stage that writes its output as a real one does."""
    with stage_run("dedup", SETTINGS, folder) as tracked:
        (folder / "data/dedup").mkdir(exist_ok=True)
        pq.write_table(pa.table({"id": ["a", "b"]}), folder / "data/dedup/kept.parquet")
        tracked.summary(
            {"stage": "dedup", "read": 3, "kept": 2, "dropped": {"near_duplicate": 1}, "metrics": {"p@1": 0.5}}
        )
        return tracked.run_id


def test_a_stage_is_nested_and_carries_what_went_in_and_out(repository: SimpleNamespace) -> None:
    run_dedup(repository.folder)
    [parent], [stage] = repository.runs("pipeline"), repository.runs("stage")
    assert stage.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert stage.data.tags["compass.pipeline"] == parent.data.tags["compass.pipeline"] == "first"
    assert stage.info.run_name == "dedup"
    assert re.fullmatch(r"tiny \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", parent.info.run_name)
    assert stage.data.tags["compass.profile"] == parent.data.tags["compass.profile"] == "tiny"
    assert stage.data.params["dedup.threshold"] == "0.8"
    assert parent.data.params["rl.stages.rl-1.init_from"] == "base"
    assert stage.data.metrics == {"read": 3, "kept": 2, "dropped.near_duplicate": 1, "p_at_1": 0.5}
    [dataset] = [found.dataset for found in stage.inputs.dataset_inputs]
    assert dataset.name == "data/collect/kept.parquet"
    assert json.loads(dataset.profile) == {"num_rows": 3}
    assert stage.data.tags["dvc.dep.data/collect"] == dvc_md5(repository.folder / "data/collect")
    assert (stage.info.status, parent.info.status) == ("FINISHED", "FINISHED")


def test_verl_finds_the_run_in_the_environment(repository: SimpleNamespace) -> None:
    with stage_run("dedup", SETTINGS, repository.folder) as tracked:
        assert os.environ["MLFLOW_RUN_ID"] == tracked.run_id
        assert os.environ["MLFLOW_TRACKING_URI"] == f"sqlite:///{repository.folder}/mlflow.db"
        assert str(tracked.parent_id) in run_page()["MLflow run (after make ui)"]
    assert "MLFLOW_RUN_ID" not in os.environ
    assert "MLFLOW_TRACKING_URI" not in os.environ


def test_a_skipped_stage_is_named_by_the_run_that_made_its_result(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = run_dedup(repository.folder)
    hashes = Graph(repository.folder).out_hashes("dedup")
    locked = "".join(f"    - {{path: {path}, md5: {md5}}}\n" for path, md5 in hashes.items())
    (repository.folder / "dvc.lock").write_text(f"stages:\n  dedup:\n    outs:\n{locked}")
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", "second")
    with stage_run("denoise", SETTINGS, repository.folder):
        pass
    first, second = repository.runs("pipeline")
    assert "compass.cached.dedup" not in first.data.tags
    assert second.data.tags["compass.cached.dedup"] == made


def test_a_failure_is_marked_with_its_message(repository: SimpleNamespace) -> None:
    with pytest.raises(ValueError, match="bad row"), stage_run("dedup", SETTINGS, repository.folder):
        raise ValueError("bad row 7")
    [parent], [stage] = repository.runs("pipeline"), repository.runs("stage")
    assert (stage.info.status, parent.info.status) == ("FAILED", "FAILED")
    assert stage.data.tags["compass.error"] == "ValueError: bad row 7"


def test_a_killed_stage_is_marked_by_the_next_one(repository: SimpleNamespace) -> None:
    script = (
        "import os, signal; from pathlib import Path; from compass.settings import load_settings\n"
        "from compass.tracking import stage_run\n"
        f"with stage_run('dedup', load_settings({str(ROOT / 'profiles/tiny.yaml')!r}), {str(repository.folder)!r}):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT).returncode == -9
    assert [run.info.status for run in repository.runs("stage")] == ["RUNNING"]
    run_dedup(repository.folder)
    assert [run.info.status for run in repository.runs("stage")] == ["KILLED", "FINISHED"]
    assert [run.info.status for run in repository.runs("pipeline")] == ["FINISHED"]


def test_a_stage_killed_after_its_training_ended_the_run_is_marked_too(repository: SimpleNamespace) -> None:
    script = (
        "import os, signal, mlflow; from pathlib import Path; from compass.settings import load_settings\n"
        "from compass.tracking import stage_run\n"
        f"with stage_run('dedup', load_settings({str(ROOT / 'profiles/tiny.yaml')!r}), {str(repository.folder)!r}):\n"
        "    with mlflow.start_run(): pass\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT).returncode == -9
    assert [run.info.status for run in repository.runs("stage")] == ["FINISHED"]
    run_dedup(repository.folder)
    assert [run.info.status for run in repository.runs("stage")] == ["KILLED", "FINISHED"]
    run_dedup(repository.folder)
    assert [run.info.status for run in repository.runs("stage")] == ["KILLED", "FINISHED", "FINISHED"]


def test_headline_scores_reach_the_parent(repository: SimpleNamespace) -> None:
    scores = {"base": {"average": {"accuracy": 0.25, "ci95": [0.2, 0.3]}, "level-1": {"accuracy": 0.5}}}
    with stage_run("evaluate", SETTINGS, repository.folder) as tracked:
        (repository.folder / "metrics").mkdir()
        (repository.folder / "metrics/evaluate.json").write_text(json.dumps({"models": scores}))
        tracked.summary({"models": scores})
    [parent], [stage] = repository.runs("pipeline"), repository.runs("stage")
    assert parent.data.metrics["base.average.accuracy"] == 0.25
    assert "base.level-1.accuracy" not in parent.data.metrics
    assert stage.data.metrics["base.level-1.accuracy"] == 0.5


def test_a_server_that_is_down_is_an_early_error_or_a_warning(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://someone:secret@127.0.0.1:9")
    with pytest.raises(TrackingError, match="COMPASS_TRACKING=optional") as caught, stage_run("dedup", SETTINGS):
        pytest.fail("the stage began")
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("COMPASS_TRACKING", "optional")
    with stage_run("dedup", SETTINGS, repository.folder) as tracked:
        tracked.summary({"read": 1})
    assert "continuing without a record" in capsys.readouterr().err


def test_a_database_that_fails_later_costs_only_the_record(
    repository: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    with stage_run("dedup", SETTINGS, repository.folder) as tracked:
        repository.client().delete_run(tracked.run_id)  # from now on MLflow refuses to write to it
        tracked.metrics({"read": 1})
    assert "not recorded" in capsys.readouterr().err


def test_tracking_can_be_off(repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPASS_TRACKING", "off")
    assert run_dedup(repository.folder) is None
    assert repository.runs("stage") == []
