"""The whole pipeline, end to end: profile `debug` through the real graph in a copy of the repository.

The first run is killed without warning in the middle of rl-2 and started again, as a machine that went down would be.
"""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pyarrow.parquet as pq
import pytest

from compass.settings import load_settings
from tests.conftest import copy_of_the_repository

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = load_settings(ROOT / "profiles/debug.yaml")
LONGEST_RUN_S = 1500
CURATION = ("collect", "dedup", "denoise", "grade", "verify", "curriculum")


def dvc(folder: Path, *words: str) -> list[str]:
    """DVC's command line, waiting for its lock."""
    return [sys.executable, "-m", "dvc", "--wait-for-lock", *words]


def environment(folder: Path) -> dict[str, str]:
    """This environment, with the copy's modules before any other and nothing of a surrounding run."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "COMPASS_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**inherited, "PATH": path, "PYTHONPATH": str(folder)}


def run(folder: Path, *words: str) -> str:
    """Run a command to its end and return what it said."""
    done = subprocess.run(
        words, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=LONGEST_RUN_S
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


def commit_copy(folder: Path) -> None:
    """A copy of the repository, committed to a repository of its own, with profile `debug` in force."""
    copy_of_the_repository(folder)
    (folder / "dvc.lock").unlink(missing_ok=True)
    run(folder, sys.executable, "-m", "compass.cli", "profile", "use", "debug", "--force")
    run(folder, "git", "init", "-q")
    run(folder, "git", "add", "-A")
    run(folder, "git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "debug")


def kill_in_the_middle_of(stage: str, folder: Path) -> dict[str, Any]:
    """Start the pipeline, and kill it and all it started after the first checkpoint of a stage; its metrics till then."""
    log = folder / "first-run.log"
    with open(log, "w", encoding="utf-8") as out:
        first = subprocess.Popen(
            dvc(folder, "repro"), cwd=folder, env=environment(folder), stdout=out, stderr=out, start_new_session=True
        )
    deadline = time.monotonic() + LONGEST_RUN_S
    # metrics come after their iteration's checkpoint
    while not (found := sorted(folder.glob(f"work/{stage}/*/metrics.live.jsonl"))) or not found[0].read_text():
        assert first.poll() is None, f"the pipeline ended before {stage}:\n{log.read_text()[-6000:]}"
        assert time.monotonic() < deadline, f"no checkpoint of {stage} in time:\n{log.read_text()[-6000:]}"
        time.sleep(0.1)
    for process in [first, *psutil.Process(first.pid).children(recursive=True)]:
        try:
            process.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue
    first.wait()
    assert not (folder / "models" / stage).exists(), f"{stage} was done before it could be killed"
    first_iteration = json.loads(found[0].read_text().splitlines()[0])
    return {"step": first_iteration["step"], **first_iteration["data"]}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """A repository whose pipeline was killed in rl-2 and then run to its end."""
    folder = tmp_path_factory.mktemp("pipeline")
    commit_copy(folder)
    before = kill_in_the_middle_of("rl-2", folder)
    output = run(folder, *dvc(folder, "repro"))
    return SimpleNamespace(folder=folder, before=before, output=output)


def runs(folder: Path, kind: str) -> list[Any]:
    """MLflow's runs of a kind, oldest first."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder}/.compass/mlflow.db")
    experiment = client.get_experiment_by_name("compass-thinker")
    condition = f"tags.`compass.kind` = '{kind}'"
    return client.search_runs([experiment.experiment_id], condition, order_by=["attributes.start_time"])


def test_every_output_exists(finished: SimpleNamespace) -> None:
    for stage in CURATION:
        assert (finished.folder / "data" / stage / "kept.parquet").is_file()
        assert (finished.folder / "data" / stage / "dropped.parquet").is_file()
    for model in SETTINGS.models:
        assert (finished.folder / "models" / model / "config.json").is_file()
    page = (finished.folder / "reports/index.html").read_text()
    assert "<svg" in page
    assert "Data card" in page
    assert "<h1>Data card</h1>" in (finished.folder / "reports/data_card/card.html").read_text()


def test_no_row_is_lost(finished: SimpleNamespace) -> None:
    for stage in CURATION:
        summary = json.loads((finished.folder / "metrics" / f"{stage}.json").read_text())
        assert summary["read"] == summary["kept"] + sum(summary["dropped"].values()), stage
        kept = pq.read_metadata(finished.folder / "data" / stage / "kept.parquet").num_rows
        assert kept == summary["kept"]


def test_evaluation_keeps_its_contract(finished: SimpleNamespace) -> None:
    models = json.loads((finished.folder / "metrics/evaluate.json").read_text())["models"]
    assert list(models) == list(SETTINGS.models)
    for scored in models.values():
        assert list(scored) == ["level-1", "level-2", "level-3", "level-4", "level-5", "average"]
        for score in scored.values():
            low, high = score["ci95"]
            assert 0 <= low <= score["accuracy"] <= high <= 1
            assert score["problems"] > 0
            assert score["samples"] > 0


def test_a_killed_stage_goes_on_from_its_checkpoint(finished: SimpleNamespace) -> None:
    with open(finished.folder / "data/rl-2/steps.csv", newline="") as file:
        steps = list(csv.DictReader(file))
    assert [int(float(row["step"])) for row in steps] == list(range(1, len(steps) + 1))
    # Sampling anew would not give the same rewards to the last digit: step 1 is the one of before the kill.
    assert float(steps[0]["critic/score/mean"]) == pytest.approx(finished.before["critic/score/mean"], abs=1e-6)
    # Each iteration's record, before the kill and after it, is of the very responses that the update was made with.
    rewards = pq.read_table(finished.folder / "data/rl-2/rewards.parquet", filters=[("used", "=", True)])
    means = rewards.group_by("step").aggregate([("reward", "mean")]).sort_by("step").to_pylist()
    assert [(row["step"], row["reward_mean"]) for row in means] == [
        (int(float(row["step"])), pytest.approx(float(row["critic/score/mean"]), abs=1e-6)) for row in steps
    ]


def test_mlflow_has_every_stage_nested_in_its_run(finished: SimpleNamespace) -> None:
    killed, done = runs(finished.folder, "pipeline")
    assert (killed.info.status, done.info.status) == ("KILLED", "FINISHED")
    stages = runs(finished.folder, "stage")
    status = {(run.data.tags["mlflow.parentRunId"], run.info.run_name): run.info.status for run in stages}
    assert status[killed.info.run_id, "rl-2"] == "KILLED"
    assert [name for parent, name in status if parent == done.info.run_id] == ["rl-2", "rl-3", "evaluate", "report"]
    cached = {name.removeprefix("compass.cached.") for name in done.data.tags if name.startswith("compass.cached.")}
    assert cached == set(SETTINGS.stages[: SETTINGS.stages.index("rl-2")])
    assert {"average/rl-3", "average/rl-3.low", "gain/rl-3", "dropped/dedup", "hours/total"} <= set(done.data.metrics)
    for run in stages:
        assert run.data.params
        assert "dvc.code" in run.data.tags
        if run.info.status == "FINISHED":
            assert run.data.metrics
    dedup = next(run for run in stages if run.info.run_name == "dedup")
    assert [found.dataset.name for found in dedup.inputs.dataset_inputs] == ["collect/kept"]


def test_mlflow_has_the_page_and_the_data_card(finished: SimpleNamespace) -> None:
    from mlflow.artifacts import list_artifacts

    [report] = [run for run in runs(finished.folder, "stage") if run.info.run_name == "report"]
    logged = {
        item.path
        for item in list_artifacts(
            run_id=report.info.run_id,
            artifact_path="reports",
            tracking_uri=f"sqlite:///{finished.folder}/.compass/mlflow.db",
        )
    }
    assert logged == {
        f"reports/{name}" for name in ("index.html", "ledger.html", "report.md", "figures", "model_cards", "data_card")
    }


def test_rl_runs_carry_the_trainers_curves(finished: SimpleNamespace) -> None:
    [run] = [run for run in runs(finished.folder, "stage") if run.info.run_name == "rl-3"]
    assert {"train/reward", "train/entropy", "update/grad_norm"} <= set(run.data.metrics)
    assert len(run.data.params) < 150


def test_running_again_runs_nothing(finished: SimpleNamespace) -> None:
    again = run(finished.folder, *dvc(finished.folder, "repro"))
    assert "Running stage" not in again
    assert "up to date" in again


def test_one_evaluation_setting_reruns_evaluate_and_report_alone(finished: SimpleNamespace) -> None:
    before = {run.info.run_id for run in runs(finished.folder, "stage")}
    run(finished.folder, *dvc(finished.folder, "exp", "run", "-S", "evaluate.max_problems=3"))
    new = [run.info.run_name for run in runs(finished.folder, "stage") if run.info.run_id not in before]
    assert new == ["evaluate", "report"]
