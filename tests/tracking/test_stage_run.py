"""Every stage leaves a run in MLflow: nested, with what went in and out, whatever way it ends."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.commands.runs import sync
from compass.files import write_json
from compass.processes import find_start
from compass.runs.dvc_files import Graph, dvc_md5
from compass.runs.run_name import LAST_RUN
from compass.runs.stage_times import timed
from compass.services.state import Service, write_services
from compass.settings import load_settings
from compass.tracking import TrackingError, current_run, run_page, stage_run
from compass.tracking.mlflow_client import connect
from compass.tracking.outbox import list_waiting

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = load_settings(ROOT / "profiles" / "tiny.yaml")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as its first use leaves it: migrations take seconds, so they run once."""
    folder = tmp_path_factory.mktemp("database")
    connect(folder)
    return folder / ".compass/mlflow.db"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: Path) -> SimpleNamespace:
    """Two stages' graph, a fresh database, and a pipeline run called `first`."""
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_RUN_ID", "COMPASS_TRACKING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", "first")
    (tmp_path / ".compass").mkdir()
    shutil.copy(database, tmp_path / ".compass")
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n"
        "  collect: {cmd: x, outs: [data/collect]}\n"
        "  base: {cmd: x, outs: [models/base]}\n"
        "  rl-1: {cmd: x, deps: [models/base], outs: [models/rl-1]}\n"
        "  rl-2: {cmd: x, deps: [models/rl-1], outs: [models/rl-2]}\n"
        "  evaluate: {cmd: x, deps: [data/collect, models/base, models/rl-1], metrics: [metrics/evaluate.json]}\n"
        "  dedup: {cmd: x, deps: [data/collect], outs: [data/dedup]}\n"
        "  denoise: {cmd: x, deps: [data/dedup], outs: [data/denoise]}\n"
        "  report: {cmd: x, deps: [data/dedup], outs: [reports], plots: [plots/scores.csv]}\n"
    )
    (tmp_path / "data/collect").mkdir(parents=True)
    pq.write_table(pa.table({"id": ["a", "b", "c"]}), tmp_path / "data/collect/kept.parquet")

    def client() -> Any:
        from mlflow import MlflowClient

        return MlflowClient(f"sqlite:///{tmp_path}/.compass/mlflow.db")

    def runs(kind: str) -> list[Any]:
        return client().search_runs(["1"], f"tags.`compass.kind` = '{kind}'", order_by=["attributes.start_time"])

    return SimpleNamespace(folder=tmp_path, runs=runs, client=client)


SUMMARY = {"stage": "dedup", "read": 3, "kept": 2, "dropped": {"near_duplicate": 1}, "metrics": {"p@1": 0.5}}


def run_dedup(folder: Path) -> str | None:
    """A stage that writes its output as a real one does."""
    with stage_run("dedup", SETTINGS, folder) as tracked, timed("dedup", folder):
        (folder / "data/dedup").mkdir(exist_ok=True)
        pq.write_table(pa.table({"id": ["a", "b"]}), folder / "data/dedup/kept.parquet")
        write_json(folder / "metrics/dedup.json", SUMMARY)
        return tracked.run_id


def test_a_stage_is_nested_and_carries_what_went_in_and_out(repository: SimpleNamespace) -> None:
    run_dedup(repository.folder)
    [parent], [stage] = repository.runs("pipeline"), repository.runs("stage")
    assert stage.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert stage.data.tags["compass.pipeline"] == parent.data.tags["compass.pipeline"] == "first"
    assert stage.info.run_name == "dedup"
    assert parent.info.run_name == "tiny"
    assert stage.data.tags["compass.profile"] == parent.data.tags["compass.profile"] == "tiny"
    assert stage.data.params["dedup.threshold"] == "0.8"
    assert parent.data.params == {"profile": "tiny", "seed": "0"}
    measured = {name: value for name, value in stage.data.metrics.items() if not name.startswith("system/")}
    assert measured == {"read": 3, "kept": 2, "dropped": 1, "dropped/near_duplicate": 1, "p_at_1": 0.5}
    assert "system/cpu_utilization_percentage" in stage.data.metrics
    assert (
        json.loads(Path(repository.client().download_artifacts(stage.info.run_id, "summary.json")).read_text())
        == SUMMARY
    )
    [dataset] = [found.dataset for found in stage.inputs.dataset_inputs]
    assert (dataset.name, dataset.digest) == ("collect/kept", dvc_md5(repository.folder / "data/collect/kept.parquet"))
    assert json.loads(dataset.profile) == {"num_rows": 3}
    assert stage.data.tags["dvc.dep.data/collect"] == dvc_md5(repository.folder / "data/collect")
    assert (stage.info.status, parent.info.status) == ("FINISHED", "FINISHED")


def test_a_pipelines_run_goes_on_between_two_stages_and_ends_with_the_last(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_LAST_STAGE", "denoise")
    run_dedup(repository.folder)
    assert [run.info.status for run in repository.runs("pipeline")] == ["RUNNING"]
    with stage_run("denoise", SETTINGS, repository.folder):
        assert [run.info.status for run in repository.runs("pipeline")] == ["RUNNING"]
    assert [run.info.status for run in repository.runs("pipeline")] == ["FINISHED"]


@pytest.mark.parametrize("by", ["sync", "the next run"])
def test_a_pipelines_run_whose_last_stage_did_not_run_ends_as_it_wrote(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.chdir(repository.folder)
    monkeypatch.setenv("COMPASS_LAST_STAGE", "report")
    gone = subprocess.Popen(["true"])
    gone.wait()
    key = f"run-{socket.gethostname()}-{gone.pid}-1.00-1"
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", key)
    run_dedup(repository.folder)
    write_json(LAST_RUN, {"run": key, "state": "finished", "began": 1e9, "seconds": 5.5})
    if by == "sync":
        assert sync() == 0
    else:
        monkeypatch.setenv("COMPASS_PIPELINE_RUN", "next")
        with stage_run("denoise", SETTINGS, repository.folder):
            pass
    ended = repository.runs("pipeline")[0].info
    assert (ended.status, ended.end_time) == ("FINISHED", 1_000_000_005_500)


def test_every_setting_that_ever_differed_has_its_value_in_every_run_of_the_profile(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.folder)
    changed = SETTINGS.model_copy(update={"evaluate": SETTINGS.evaluate.model_copy(update={"samples": 12})})
    for key, settings in (("one", SETTINGS), ("two", changed), ("three", SETTINGS)):
        monkeypatch.setenv("COMPASS_PIPELINE_RUN", key)
        with stage_run("dedup", settings, repository.folder):
            pass
    assert [run.data.params["evaluate.samples"] for run in repository.runs("pipeline")] == ["8", "12", "8"]
    assert {"profile", "seed", "evaluate.samples"} == set(repository.runs("pipeline")[0].data.params)


def test_the_page_of_a_run_is_known_while_it_runs(repository: SimpleNamespace) -> None:
    with stage_run("dedup", SETTINGS, repository.folder) as tracked:
        assert str(tracked.parent_id) in run_page()["MLflow run (after make up)"]
        own = Service("mlflow", os.getpid(), find_start(os.getpid()), "http://127.0.0.1:5001", "log")
        write_services([own], repository.folder)
        assert run_page()["MLflow run"].startswith("http://127.0.0.1:5001/#/experiments/")
        assert current_run() is tracked
    assert current_run() is not tracked
    assert run_page() == {}


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


def test_plots_and_the_report_are_copied_into_the_run(repository: SimpleNamespace) -> None:
    folder = repository.folder
    with stage_run("report", SETTINGS, folder):
        for path in ("reports/index.html", "reports/figures/a.svg", "plots/scores.csv"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("x")
    [stage] = repository.runs("stage")
    client = repository.client()
    assert {item.path for item in client.list_artifacts(stage.info.run_id)} >= {"reports", "scores.csv"}
    inside = {item.path for item in client.list_artifacts(stage.info.run_id, "reports")}
    assert inside == {"reports/index.html", "reports/figures"}


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


def test_headline_scores_with_intervals_reach_the_parent_with_what_else_people_compare(
    repository: SimpleNamespace,
) -> None:
    folder = repository.folder
    average = {"accuracy": 0.5, "ci95": [0.4, 0.6], "over_base": 0.25, "over_base_ci95": [0.1, 0.4]}
    scores = {
        "base": {"average": {"accuracy": 0.25, "ci95": [0.2, 0.3]}, "level-1": {"accuracy": 0.5}},
        "rl-1": {"average": average, "level-1": {"accuracy": 0.75}},
    }
    write_json(folder / "metrics/collect.json", {"read": 9, "kept": 8, "dropped": {"empty": 1}})
    write_json(folder / "work/times/evaluate.json", {"seconds": 36})
    for model in scores:
        (folder / "models" / model).mkdir(parents=True)
        (folder / "models" / model / "weights").write_text(model)
    with stage_run("evaluate", SETTINGS, folder):
        write_json(folder / "metrics/evaluate.json", {"models": scores})
    [parent], [stage] = repository.runs("pipeline"), repository.runs("stage")
    told = {name: value for name, value in parent.data.metrics.items() if not name.startswith("hours/")}
    assert told == {
        "average/base": 0.25,
        "average/base.low": 0.2,
        "average/base.high": 0.3,
        "average/rl-1": 0.5,
        "average/rl-1.low": 0.4,
        "average/rl-1.high": 0.6,
        "gain/rl-1": 0.25,
        "gain/rl-1.low": 0.1,
        "gain/rl-1.high": 0.4,
        "kept/collect": 8,
        "dropped/collect": 1,
    }
    assert parent.data.metrics["hours/total"] == parent.data.metrics["hours/evaluate"] == 0.01
    assert stage.data.metrics["accuracy/level-1/rl-1"] == 0.75
    assert "rl-1 over base: **+25.0 points** (+10.0 to +40.0)" in parent.data.tags["mlflow.note.content"]
    client = repository.client()
    champion = client.get_model_version_by_alias("compass-tiny", "champion")
    assert champion.tags["dvc.md5"] == dvc_md5(folder / "models/rl-1")
    assert client.get_model_version_by_alias("compass-tiny", "base").tags["compass.model"] == "base"
    model = client.get_logged_model(champion.tags["compass.model_id"])
    assert {one.key: one.value for one in model.metrics}["average.low"] == 0.4
    assert len(client.get_run(stage.info.run_id).inputs.model_inputs) == 2


def test_a_model_is_logged_once_by_its_hash_as_an_output_of_the_stage_that_made_it(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("first", "second"):
        monkeypatch.setenv("COMPASS_PIPELINE_RUN", key)
        with stage_run("base", SETTINGS, repository.folder):
            (repository.folder / "models/base").mkdir(parents=True, exist_ok=True)
            (repository.folder / "models/base/weights").write_text("same")
    [model] = repository.client().search_logged_models(["1"])
    first, second = repository.runs("stage")
    assert (model.name, model.source_run_id) == ("base", first.info.run_id)
    assert model.tags["dvc.md5"] == dvc_md5(repository.folder / "models/base")
    outputs = [[one.model_id for one in run.outputs.model_outputs] for run in (first, second)]
    assert outputs == [[model.model_id], [model.model_id]]


def test_the_parent_has_what_was_trained_and_evaluated_on(repository: SimpleNamespace) -> None:
    folder = repository.folder
    pq.write_table(pa.table({"id": ["x"]}), folder / "data/collect/benchmarks.parquet")
    run_dedup(folder)
    with stage_run("evaluate", SETTINGS, folder):
        pass
    [parent] = repository.runs("pipeline")
    [table] = parent.inputs.dataset_inputs
    assert (table.dataset.name, table.dataset.digest) == (
        "collect/benchmarks",
        dvc_md5(folder / "data/collect/benchmarks.parquet"),
    )
    assert "evaluation" in [tag.value for tag in table.tags]


def test_the_champion_has_the_highest_lower_end_among_those_scored_on_the_same_benchmarks(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, client = repository.folder, repository.client()
    (folder / "metrics").mkdir()
    (folder / "models/base").mkdir(parents=True)
    (folder / "models/rl-1").mkdir()

    def champion(weights: str, low: float, benchmarks: str) -> str:
        """Evaluate a model with these weights, and say whose weights are the champion's."""
        monkeypatch.setenv("COMPASS_PIPELINE_RUN", weights)
        pq.write_table(pa.table({"id": [benchmarks]}), folder / "data/collect/benchmarks.parquet")
        (folder / "models/rl-1/weights").write_text(weights)
        hashes[dvc_md5(folder / "models/rl-1")] = weights
        scores = {"rl-1": {"average": {"accuracy": 0.5, "ci95": [low, 0.9]}}}
        with stage_run("evaluate", SETTINGS, folder):
            (folder / "metrics/evaluate.json").write_text(json.dumps({"models": scores}))
        return hashes[client.get_model_version_by_alias("compass-tiny", "champion").tags["dvc.md5"]]

    hashes: dict[str, str] = {}
    assert champion("first", 0.4, "gsm8k") == "first"
    assert champion("worse", 0.3, "gsm8k") == "first"
    assert champion("better", 0.45, "gsm8k") == "better"
    assert champion("elsewhere", 0.1, "math500") == "elsewhere"
    assert champion("first", 0.4, "gsm8k") == "better"


def test_curves_count_on_over_all_rl_stages_on_the_parent(repository: SimpleNamespace) -> None:
    with stage_run("rl-2", SETTINGS, repository.folder) as tracked:
        tracked.curves([{"step": step, "sampled/reward": step / 10, "perf/mfu/actor": 1.0} for step in (1, 2)])
    [parent], [stage] = repository.runs("pipeline"), repository.runs("stage")
    client = repository.client()

    def curve(run: Any) -> list[tuple[int, float]]:
        return [(one.step, one.value) for one in client.get_metric_history(run.info.run_id, "train/reward")]

    assert curve(stage) == [(1, 0.1), (2, 0.2)]
    assert curve(parent) == [(21, 0.1), (22, 0.2)]
    assert not any("mfu" in name for name in stage.data.metrics)


def test_the_curves_of_a_skipped_rl_stage_are_on_the_parent_once(repository: SimpleNamespace) -> None:
    folder = repository.folder
    (folder / "dvc.lock").write_text("stages:\n  rl-1:\n    outs:\n    - {path: models/rl-1, md5: 0.dir}\n")
    (folder / "data/rl-1").mkdir()
    (folder / "data/rl-1/steps.csv").write_text("step,sampled/reward,actor/entropy\n1,0.5,\n2,0.75,0.1\n")
    for _ in range(2):
        with stage_run("rl-2", SETTINGS, folder) as tracked:
            tracked.curves([{"step": 1, "sampled/reward": 1.0}])
    [parent] = repository.runs("pipeline")
    history = repository.client().get_metric_history(parent.info.run_id, "train/reward")
    points = [(point.step, point.value) for point in history]
    assert points.count((1, 0.5)) == points.count((2, 0.75)) == 1
    assert (21, 1.0) in points


def test_a_server_that_is_required_and_away_is_an_early_error(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://someone:secret@127.0.0.1:9")
    monkeypatch.setenv("COMPASS_TRACKING", "required")
    with (
        pytest.raises(TrackingError, match="COMPASS_TRACKING=optional") as caught,
        stage_run("dedup", SETTINGS, repository.folder),
    ):
        pytest.fail("the stage began")
    assert "secret" not in str(caught.value)
    assert list_waiting(repository.folder) == []


def test_a_server_that_is_away_costs_no_record_and_one_line(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://someone:secret@127.0.0.1:9")
    assert run_dedup(repository.folder) is None
    told = capsys.readouterr().err
    assert "http://***@127.0.0.1:9 cannot take records (no connection); they are kept in .compass/outbox" in told
    assert "secret" not in (list_waiting(repository.folder)[0][0] / "record.json").read_text()
    assert repository.runs("stage") == []


def test_a_server_that_keeps_the_sender_waiting_costs_no_stage_its_end(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["compass.tracking.stage_run"]
    monkeypatch.setattr(module, "send_record", lambda *_: threading.Event().wait())
    monkeypatch.setattr(module, "OPEN_S", 0.1)
    monkeypatch.setattr(module, "END_S", dict.fromkeys(module.END_S, 0.1))
    run_dedup(repository.folder)
    assert [record.status for _, record in list_waiting(repository.folder)] == ["FINISHED"]


@pytest.mark.parametrize(("variable", "value"), [("MLFLOW_TRACKING_URI", "htp://x"), ("COMPASS_TRACKING", "maybe")])
def test_settings_of_tracking_that_mean_nothing_are_refused(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(TrackingError, match=f"{variable} is '{value}'"), stage_run("dedup", None, repository.folder):
        pytest.fail("the stage began")


def test_what_mlflow_refuses_costs_only_that(repository: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    with stage_run("dedup", SETTINGS, repository.folder) as tracked:
        tracked._record.points.append(["no name for a metric?*", 1.0, 0, 0])
    assert "metrics of dedup not recorded" in capsys.readouterr().err
    [stage] = repository.runs("stage")
    assert (stage.info.status, stage.data.params["dedup.threshold"]) == ("FINISHED", "0.8")


def test_tracking_can_be_off(repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPASS_TRACKING", "off")
    assert run_dedup(repository.folder) is None
    assert repository.runs("stage") == []


def test_a_pipelines_run_that_was_killed_between_two_stages_is_ended_by_the_next(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_LAST_STAGE", "report")
    gone = subprocess.Popen(["true"])
    gone.wait()
    keys = (f"run-{socket.gethostname()}-{gone.pid}-1.00-1", f"run-elsewhere-{gone.pid}-1.00-1", "next")
    for key, stage in zip(keys, ("collect", "dedup", "denoise"), strict=True):
        monkeypatch.setenv("COMPASS_PIPELINE_RUN", key)
        with stage_run(stage, SETTINGS, repository.folder):
            pass
    assert [run.info.status for run in repository.runs("pipeline")] == ["KILLED", "RUNNING", "RUNNING"]


def test_a_stage_killed_between_its_end_and_dvcs_lock_file_is_not_finished_twice(
    repository: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_dedup(repository.folder)  # its `dvc` was killed: no lock file names what it wrote
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", "second")
    run_dedup(repository.folder)
    assert [run.info.status for run in repository.runs("stage")] == ["KILLED", "FINISHED"]
    assert [run.info.status for run in repository.runs("pipeline")] == ["KILLED", "FINISHED"]


@pytest.mark.parametrize("kept", ["its outputs", "those of another branch, later"])
def test_a_stage_whose_outputs_dvc_had_stays_finished_when_it_runs_again(
    repository: SimpleNamespace, kept: str
) -> None:
    run_dedup(repository.folder)
    hashes = Graph(repository.folder).out_hashes("dedup") if kept == "its outputs" else {"data/dedup": "0.dir"}
    locked = "".join(f"    - {{path: {path}, md5: {md5}}}\n" for path, md5 in hashes.items())
    (repository.folder / "dvc.lock").write_text(f"stages:\n  dedup:\n    outs:\n{locked}")
    if kept == "its outputs":
        os.utime(repository.folder / "dvc.lock", (0, 0))
    run_dedup(repository.folder)
    assert [run.info.status for run in repository.runs("stage")] == ["FINISHED", "FINISHED"]
