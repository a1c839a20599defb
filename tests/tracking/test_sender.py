"""A tracking server that goes away, stops or is slow costs no stage and no record: with real servers, stopped and killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compass.commands.runs import sync
from compass.files import write_json
from compass.services.lifetime import start, stop
from compass.services.state import read_services
from compass.settings import load_settings
from compass.tracking import stage_run
from compass.tracking.mlflow_client import connect
from compass.tracking.outbox import list_waiting
from tests.services.conftest import free_ports

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = load_settings(ROOT / "profiles/tiny.yaml")
CURVE = "train/reward"


class Server:
    """The MLflow server of `compass up`, over a database that outlives it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_ports()["mlflow"]
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        service = read_services(self.folder).get("mlflow")
        return service.pid if service else None

    def start(self) -> None:
        start(self.folder, ["mlflow"], {"mlflow": self.port}, tell=lambda line: None)

    def signal(self, number: int) -> None:
        assert self.pid is not None
        os.killpg(self.pid, number)

    def kill(self) -> None:
        if self.pid is not None:
            self.signal(signal.SIGKILL)
            while self.pid is not None:
                time.sleep(0.01)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    stop(server.folder, tell=lambda line: None)


@pytest.fixture
def server(shared: Server, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Server:
    """A server that runs, and an experiment of the test's own on it."""
    if shared.pid is None:
        shared.start()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", shared.url)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", request.node.name)
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", request.node.name)
    monkeypatch.delenv("MLFLOW_HTTP_REQUEST_TIMEOUT", raising=False)
    monkeypatch.delenv("COMPASS_TRACKING", raising=False)
    return shared


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n  rl-1: {cmd: x, outs: [data/rl-1]}\n  rl-2: {cmd: x, outs: [data/rl-2]}\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def train(steps: int, *, after: int = 0, then: Any = None, seconds: float = 0.2, stage: str = "rl-1") -> float:
    """An RL stage that records an iteration at a time; the longest time in seconds that recording took."""
    longest = 0.0
    with stage_run(stage, SETTINGS) as run:
        for step in range(1, steps + 1):
            began = time.monotonic()
            run.curves([{"step": step, "sampled/reward": step / 100}])
            longest = max(longest, time.monotonic() - began)
            if step == after:
                then()
            time.sleep(seconds)
        write_json(f"metrics/{stage}.json", {"stage": stage, "metrics": {"steps": steps}})
    return longest


def runs(server: Server, name: str, kind: str = "stage") -> list[Any]:
    client = connect()
    experiment = client.get_experiment_by_name(name)
    return client.search_runs([experiment.experiment_id], f"tags.`compass.kind` = '{kind}'")


def curve(run: Any) -> list[int]:
    return [point.step for point in connect().get_metric_history(run.info.run_id, CURVE)]


def check_whole(server: Server, name: str, steps: int) -> None:
    """One finished run of the stage and one of the pipeline, with every iteration once."""
    [stage], [parent] = runs(server, name), runs(server, name, "pipeline")
    assert (stage.info.status, parent.info.status) == ("FINISHED", "FINISHED")
    assert curve(stage) == curve(parent) == list(range(1, steps + 1))
    assert stage.data.metrics["steps"] == steps


@pytest.mark.slow
def test_a_server_stopped_in_the_middle_loses_no_step_and_holds_nothing_up(
    server: Server,
    repository: Path,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "8")  # a busy machine's server takes seconds

    def pause() -> None:
        server.signal(signal.SIGSTOP)
        subprocess.Popen([sys.executable, "-c", f"import time, os; time.sleep(20); os.killpg({server.pid}, 18)"])

    longest = train(140, after=5, then=pause)
    assert longest < 10.0  # the server answers nothing for 20 s
    check_whole(server, request.node.name, 140)
    told = capsys.readouterr().err
    assert told.count("they are kept in .compass/outbox") == 1
    assert told.count("answers again") == 1
    assert list_waiting() == []


@pytest.mark.slow
def test_a_server_killed_for_good_keeps_the_record_which_is_sent_later_and_once(
    server: Server, repository: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    train(10, after=5, then=server.kill)
    told = capsys.readouterr().err
    assert "waits in .compass/outbox" in told
    assert len(list_waiting()) == 1
    server.start()
    assert [run.info.status for run in runs(server, request.node.name)] == ["RUNNING"]
    assert sync() == 0
    assert "1 record sent" in capsys.readouterr().out
    check_whole(server, request.node.name, 10)
    assert sync() == 0
    check_whole(server, request.node.name, 10)
    assert list_waiting() == []


@pytest.mark.slow
def test_a_stage_begun_without_a_server_is_sent_before_the_next_one(
    server: Server, repository: Path, request: pytest.FixtureRequest
) -> None:
    server.kill()
    train(3)
    server.start()
    train(4, stage="rl-2")
    statuses = [(run.info.status, curve(run)) for run in runs(server, request.node.name)]
    assert sorted(statuses, key=lambda found: len(found[1])) == [("FINISHED", [1, 2, 3]), ("FINISHED", [1, 2, 3, 4])]
    assert [run.info.status for run in runs(server, request.node.name, "pipeline")] == ["FINISHED"]


def test_an_answer_that_is_lost_makes_nothing_twice(
    server: Server, repository: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first call of each kind is carried out, and its answer lost."""
    from mlflow.exceptions import MlflowException

    module, seen = sys.modules["compass.tracking.stage_run"], set[str]()

    class Losing:
        def __init__(self, client: Any) -> None:
            self.client = client

        def __getattr__(self, name: str) -> Any:
            given = getattr(self.client, name)

            def call(*words: Any, **options: Any) -> Any:
                answer = given(*words, **options)
                if name not in seen:
                    seen.add(name)
                    raise MlflowException("the connection ended")
                return answer

            return call if callable(given) else given

    monkeypatch.setattr(module, "connect", lambda folder: Losing(connect(folder)))
    monkeypatch.setattr(module, "SEND_EVERY_S", 0.1)

    def wait_for_calls() -> None:
        deadline = time.monotonic() + 120
        while not {"create_run", "log_batch"} <= seen and time.monotonic() < deadline:
            time.sleep(0.05)

    train(5, after=1, then=wait_for_calls)
    assert {"create_run", "log_batch"} <= seen
    sync()  # what was given up at the end
    check_whole(server, request.node.name, 5)
