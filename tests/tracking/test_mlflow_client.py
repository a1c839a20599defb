"""What tracking sends to MLflow, with a client that only notes it; test_stage_run.py has a real database."""

import importlib
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compass.settings import load_settings
from compass.tracking.mlflow_client import log_datasets, log_metrics, log_params, log_tags, tracking_uri
from compass.tracking.pipeline_run import cached_runs, git_tags, mark_killed, open_parent, owner
from compass.tracking.stage_run import StageRun, run_page, stage_run

stage_module = importlib.import_module("compass.tracking.stage_run")  # the package has a function of that name
ROOT = Path(__file__).resolve().parents[2]


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
            return SimpleNamespace(info=SimpleNamespace(run_id="new"))

        return note


def batches(client: Client, kind: str) -> list[list[Any]]:
    return [options[kind] for name, _, options in client.calls if name == "log_batch"]


def run_with(run_id: str = "r", **tags: str) -> Any:
    return SimpleNamespace(info=SimpleNamespace(run_id=run_id), data=SimpleNamespace(tags=tags))


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])])
def test_a_call_has_a_hundred_values_at_most(count: int, sizes: list[int]) -> None:
    client = Client()
    log_params(client, "r", {str(n): "x" for n in range(count)})
    assert [len(batch) for batch in batches(client, "params")] == sizes
    assert [param.key for batch in batches(client, "params") for param in batch] == [str(n) for n in range(count)]


def test_metrics_have_their_step_and_the_time_in_milliseconds() -> None:
    import time

    client = Client()
    log_metrics(client, "r", {"a": 0.5}, 7)
    [[metric]] = batches(client, "metrics")
    assert (metric.key, metric.value, metric.step) == ("a", 0.5, 7)
    assert abs(metric.timestamp - time.time() * 1000) < 60_000


def test_tags_are_cut_to_what_mlflow_takes() -> None:
    client = Client()
    log_tags(client, "r", {"a": "x" * 5000, "b": "x" * 5001})
    assert [len(tag.value) for tag in batches(client, "tags")[0]] == [5000, 5000]


def test_tables_that_were_read_are_inputs_with_their_rows() -> None:
    client = Client()
    log_datasets(client, "r", "dedup", [])
    assert client.calls == []
    log_datasets(client, "r", "dedup", [{"name": "a.parquet", "md5": "0", "rows": 3, "columns": ["id"]}])
    [(name, given, options)] = client.calls
    [entry] = options["datasets"]
    assert (name, given) == ("log_inputs", ("r",))
    assert (entry.dataset.name, entry.dataset.digest, json.loads(entry.dataset.profile)) == (
        "a.parquet",
        "0",
        {"num_rows": 3},
    )
    assert json.loads(entry.dataset.schema) == {"columns": ["id"]}
    assert [(tag.key, tag.value) for tag in entry.tags] == [("mlflow.data.context", "dedup")]


def test_records_go_to_the_repositorys_database_unless_a_server_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert tracking_uri(tmp_path) == f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://server")
    assert tracking_uri(tmp_path) == "http://server"


def test_runs_whose_process_is_gone_are_marked_and_others_are_not() -> None:
    gone = run_with("gone", **{"compass.process": "1:0.00"})
    here = run_with("here", **owner())
    client = Client(gone, here)
    mark_killed(client, "1")
    changes = [call for call in client.calls if call[0] != "search"]
    assert changes == 2 * [("set_terminated", ("gone", "KILLED"), {}), ("set_tag", ("gone", "compass.open", "no"), {})]
    assert "RUNNING" in client.calls[0][1]


def test_a_pipeline_run_is_opened_once_and_runs_again_for_each_stage() -> None:
    assert open_parent(Client(), "1", "key", "tiny") == ("new", True)
    client = Client(run_with("old"))
    assert open_parent(client, "1", "key", "tiny") == ("old", False)
    assert {call[1][:2] for call in client.calls if call[0] == "set_tag"} == {("old", name) for name in owner()}
    assert ("update_run", ("old",), {"status": "RUNNING"}) in client.calls


def test_a_cached_stage_is_one_that_did_not_run_and_has_outputs() -> None:
    graph = SimpleNamespace(
        ancestors=lambda stage: ["ran", "cached", "never"], locked_outs=lambda s: {"x": "1"} if s != "never" else {}
    )
    client = Client(run_with("made", **{"compass.stage": "ran"}))
    assert cached_runs(client, "1", "key", "dedup", graph) == {"compass.cached.cached": "made"}
    assert [call[2] for call in client.calls][1:] == [{"max_results": 1, "order_by": ["attributes.start_time DESC"]}]


def test_the_commit_is_a_tag_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from compass.tracking import pipeline_run

    monkeypatch.setattr(pipeline_run, "git_state", dict)
    assert git_tags() == {}
    monkeypatch.setattr(pipeline_run, "git_state", lambda: {"commit": "c", "dirty": "true"})
    assert git_tags() == {"mlflow.source.git.commit": "c", "compass.git_dirty": "true"}


def test_a_run_that_is_not_tracked_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    run = StageRun()
    for call in (run.summary, run.metrics, run.tags):
        call({"a": 1})
    run.artifact("x")
    assert capsys.readouterr() == ("", "")


def test_a_summary_is_an_artifact_and_its_numbers_are_metrics() -> None:
    client = Client()
    run = StageRun(client, "r")
    run.summary({"read": 3, "name": "x"})
    run.metrics({"a": {"b": 1}}, step=4)
    run.metrics({"c": 1})
    assert [(m.key, m.step) for batch in batches(client, "metrics") for m in batch] == [
        ("read", 0),
        ("a.b", 4),
        ("c", 0),
    ]
    assert ("log_dict", ("r", {"read": 3, "name": "x"}, "summary.json"), {}) in client.calls
    run.artifact(Path("plots/x"))
    assert client.calls[-1] == ("log_artifact", ("r", "plots/x"), {})


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Client:
    """A stage's run on a noting client, under the pipeline run `mine`, whose DVC outputs are a page and a table."""
    client = Client()
    monkeypatch.setattr(stage_module, "connect", lambda folder: (client, "1"))
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", "mine")
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_RUN_ID", "COMPASS_TRACKING"):
        monkeypatch.delenv(name, raising=False)
    outs = "[data/report, reports/index.html, plots/x]"
    (tmp_path / "dvc.yaml").write_text(f"stages:\n  report: {{cmd: x, outs: {outs}}}\n")
    for name in ("data/report", "reports/index.html", "plots/x", "metrics/evaluate.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('{"models": {"base": {"average": {"accuracy": 0.5}}}}')
    return client


def calls(client: Client, name: str) -> list[tuple]:
    return [given for called, given, _ in client.calls if called == name]


def test_pages_and_plots_are_kept_and_headline_scores_go_to_the_parent(offline: Client, tmp_path: Path) -> None:
    settings = load_settings(ROOT / "profiles/tiny.yaml")
    with stage_run("report", settings, tmp_path):
        pass
    assert sorted(calls(offline, "log_artifact")) == [
        ("new", str(tmp_path / "plots/x")),
        ("new", str(tmp_path / "reports/index.html")),
    ]
    assert [metric.key for batch in batches_of(offline, "metrics") for metric in batch] == ["base.average.accuracy"]
    assert calls(offline, "set_terminated") == [("new", "FINISHED"), ("new", "FINISHED")]


def batches_of(client: Client, kind: str) -> list[list[Any]]:
    return [options[kind] for name, _, options in client.calls if name == "log_batch" and kind in options]


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt(), "KILLED"), (ValueError("x" * 600), "FAILED")])
def test_a_stage_that_ends_early_says_how_in_500_characters(
    offline: Client, tmp_path: Path, error: BaseException, status: str
) -> None:
    settings = load_settings(ROOT / "profiles/tiny.yaml")
    with pytest.raises(type(error)), stage_run("report", settings, tmp_path):
        raise error
    tags = {tag.key: tag.value for batch in batches_of(offline, "tags") for tag in batch}
    assert tags["compass.error"] == f"{type(error).__name__}: {error}"[:500]
    assert calls(offline, "set_terminated") == [("new", status), ("new", status)]
    assert calls(offline, "log_artifact") == []


def test_the_environment_is_what_it_was_when_a_stage_ends(
    offline: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://user:pw@server/")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "own")
    settings = load_settings(ROOT / "profiles/tiny.yaml")
    with stage_run("report", settings, tmp_path):
        assert os.environ["MLFLOW_EXPERIMENT_NAME"] == "own"
        assert os.environ["MLFLOW_RUN_ID"] == "new"
        assert run_page() == {"MLflow run": "https://***@server/#/experiments/1/runs/new"}
    assert os.environ["MLFLOW_TRACKING_URI"] == "https://user:pw@server/"
    assert "MLFLOW_RUN_ID" not in os.environ
    assert run_page() == {}


def test_a_mode_of_tracking_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMPASS_TRACKING", "maybe")
    with (
        pytest.raises(
            stage_module.TrackingError, match="COMPASS_TRACKING is 'maybe'; allowed: required, optional, off"
        ),
        stage_run("dedup", None, tmp_path),
    ):
        pytest.fail("the stage began")
