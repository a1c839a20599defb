"""Flows against a real Prefect server and a real DVC: states, task runs, artifacts, and what a failure says."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=180):
        yield


@pytest.fixture
def toy(short_toy: Path) -> Path:
    return short_toy


@pytest.fixture
def pipeline(server: None, toy: Path, monkeypatch: pytest.MonkeyPatch) -> Callable:
    from flows.stage import pipeline_flow

    monkeypatch.chdir(toy)
    pipeline_flow.cache_clear()
    pipeline = pipeline_flow()
    return lambda **given: pipeline(**given, return_state=True)


def grade_does(toy: Path, script: str) -> None:
    """Have the stage `grade` run a shell script before it writes its output."""
    (toy / "grade.sh").write_text(f"{script}\n")


def check_task_states(state, **expected: str) -> None:
    """Assert the state of every task run of a flow run that has ended."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    wanted = FlowRunFilter(id=FlowRunFilterId(any_=[state.state_details.flow_run_id]))
    found: dict[str, str] = {}
    deadline = time.monotonic() + 120
    with get_client(sync_client=True) as client:
        # The server takes task runs from a stream of events, each some time after it happened.
        while found != expected and time.monotonic() < deadline:
            time.sleep(0.2)
            runs = client.read_task_runs(flow_run_filter=wanted)
            found = {run.name: run.state.name for run in runs if run.state}
    assert found == expected


def test_every_stage_is_a_task_run_with_dvcs_verdict(pipeline: Callable, toy: Path, ran) -> None:
    first = pipeline()
    assert (first.type.value, first.message.partition(";")[0]) == ("COMPLETED", "ran collect, grade, evaluate")
    check_task_states(first, collect="Completed", grade="Completed", evaluate="Completed")
    again = pipeline(other_settings={"evaluate.samples": 3})
    check_task_states(again, collect="Cached", grade="Cached", evaluate="Completed")
    assert "samples: 3" in (toy / "params.yaml").read_text()
    assert ran(toy) == ["collect", "grade", "evaluate", "evaluate"]


def test_a_stages_runs_in_mlflow_have_the_flow_runs_key(pipeline: Callable, toy: Path) -> None:
    state = pipeline(up_to="collect")
    assert (toy / "ran.log").read_text() == f"collect prefect-{state.state_details.flow_run_id}\n"


def test_a_stage_that_fails_says_why_in_one_line(
    pipeline: Callable, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAILS", "grade")
    state = pipeline()
    assert state.is_failed()
    assert state.message == "stage grade failed: no model"
    check_task_states(state, collect="Completed", grade="Failed")


def test_a_stage_that_died_is_tried_again_and_one_that_refused_is_not(
    pipeline: Callable, toy: Path, monkeypatch: pytest.MonkeyPatch, ran
) -> None:
    grade_does(toy, "if test ! -e died; then touch died; exit 1; fi")
    state = pipeline(retries=1)
    assert state.is_completed(), state.message
    assert ran(toy).count("grade") == 2
    monkeypatch.setenv("TOY_FAILS", "grade")
    assert pipeline(retries=1, force=True).is_failed()
    assert ran(toy).count("grade") == 3


def test_a_value_that_no_setting_allows_starts_nothing(pipeline: Callable, toy: Path, ran) -> None:
    before = (toy / "params.yaml").read_text()
    state = pipeline(other_settings={"evaluate.samples": 0})
    assert state.is_failed()
    assert "evaluate.samples" in state.message
    assert (toy / "params.yaml").read_text() == before
    assert ran(toy) == []


def test_a_profile_is_put_in_force_unless_edits_would_be_lost(pipeline: Callable, toy: Path) -> None:
    (toy / "params.yaml").write_text((toy / "params.yaml").read_text().replace("seed: 0", "seed: 5"))
    refused = pipeline(profile="tiny", up_to="collect")
    assert refused.is_failed()
    assert "no profile has the same values" in refused.message
    (toy / "params.yaml").write_text((toy / "profiles" / "debug.yaml").read_text())
    pipeline(profile="tiny", up_to="collect")
    assert (toy / "params.yaml").read_text().startswith((toy / "profiles" / "tiny.yaml").read_text()[:200])


def test_a_stage_that_takes_too_long_is_ended(pipeline: Callable, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows import flow_run

    class Patient(flow_run.Guardian):
        """Counts from when the stage is at work, however long it took to get there."""

        def set_limit(self, seconds: float | None) -> None:
            deadline = time.monotonic() + 600
            while seconds and not (toy / "pid").exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            super().set_limit(seconds)

    pipeline(up_to="collect")
    grade_does(toy, "echo $$ > part; mv part pid; exec sleep 600")
    monkeypatch.setattr(flow_run, "Guardian", Patient)
    state = pipeline(limit_minutes=0.02)
    assert state.name == "TimedOut"
    check_task_states(state, grade="Cancelled")
    assert not Path(f"/proc/{(toy / 'pid').read_text().strip()}").exists()
