"""A trainer on a cluster that it joined ends when something of it is lost there, and says what."""

import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compass.rl import cluster_watch
from compass.rl.cluster_watch import ClusterWatch, gone


def node(name: str, alive: bool = True) -> dict[str, Any]:
    return {"NodeID": f"id of {name}", "NodeName": name, "Alive": alive}


def actor(name: str, where: str, state: str = "ALIVE", job: str = "02", reason: int = 1) -> dict[str, Any]:
    return {
        "JobID": job,
        "State": state,
        "ActorClassName": name,
        "Pid": 77,
        "DeathCause": SimpleNamespace(actor_died_error_context=SimpleNamespace(reason=reason)),
        "Address": {"NodeID": f"id of {where}"},
    }


@pytest.mark.parametrize(
    ("nodes", "actors", "told"),
    [
        ([node("a"), node("b")], [actor("WorkerDict", "a"), actor("WorkerDict", "b")], ""),
        ([node("a")], [actor("WorkerDict", "a"), actor("Other", "a", "DEAD", job="01")], ""),
        ([node("a")], [actor("Helper", "a", "DEAD", reason=number) for number in (4, 5, 6)], ""),
        ([node("a"), node("old", alive=False)], [actor("WorkerDict", "a")], ""),
        ([node("a")], [actor("WorkerDict", "a", "DEAD")], "WorkerDict (pid 77) ended on the Ray cluster"),
        (
            [node("a"), node("b", alive=False)],
            [actor("Server", "a", "DEAD"), actor("WorkerDict", "b", "DEAD")],
            "node b left the Ray cluster, with WorkerDict on it",
        ),
    ],
)
def test_what_is_gone(nodes: list[dict], actors: list[dict], told: str) -> None:
    assert gone(nodes, actors, "02") == told


@pytest.fixture
def cluster(library: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    state = {"1": actor("WorkerDict", "a")}
    library("ray._private.state", actors=lambda: state)
    context = SimpleNamespace(get_job_id=lambda: "02")
    library("ray", nodes=lambda: [node("a")], get_runtime_context=lambda: context)
    monkeypatch.setattr(cluster_watch, "POLL_S", 0.02)
    monkeypatch.setattr(cluster_watch, "GRACE_S", 0.2)
    return state


def test_a_trainer_that_lost_a_process_ends_after_a_while(cluster: dict[str, Any], tmp_path: Path) -> None:
    ended = threading.Event()
    statuses: list[int] = []
    with ClusterWatch(tmp_path / "lost.txt", end=lambda status: (statuses.append(status), ended.set())):
        assert not ended.wait(0.4)
        cluster["1"] = actor("WorkerDict", "a", "DEAD")
        began = time.monotonic()
        assert ended.wait(5)
    assert time.monotonic() - began >= 0.2  # at the end of training such processes go first
    assert statuses == [1]
    assert (tmp_path / "lost.txt").read_text() == "WorkerDict (pid 77) ended on the Ray cluster"


def test_a_trainer_whose_clusters_head_is_gone_ends(
    cluster: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> list[dict[str, Any]]:
        raise ConnectionError("refused")

    monkeypatch.setattr("ray.nodes", refused)
    ended = threading.Event()
    with ClusterWatch(tmp_path / "lost.txt", end=lambda status: ended.set()):
        assert ended.wait(5)
    told = (tmp_path / "lost.txt").read_text()
    assert told == "the head of the Ray cluster does not answer (ConnectionError: refused)"


def test_a_trainer_that_is_done_in_time_is_not_ended(cluster: dict[str, Any], tmp_path: Path) -> None:
    with ClusterWatch(tmp_path / "lost.txt", end=lambda status: pytest.fail("ended")):
        cluster["1"] = actor("WorkerDict", "a", "DEAD")
        time.sleep(0.1)
    assert not (tmp_path / "lost.txt").exists()


def test_rays_numbers_are_those_that_the_installed_ray_has() -> None:
    from ray.core.generated.common_pb2 import ActorDiedErrorContext

    names = [ActorDiedErrorContext.Reason.Name(number) for number in cluster_watch.ENDED_BY_THE_JOB]
    assert names == ["RAY_KILL", "OUT_OF_SCOPE", "REF_DELETED"]
