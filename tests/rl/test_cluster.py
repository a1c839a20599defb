"""The Ray cluster of a stage: its own or a running one, and what is said of one that cannot be used."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

import compass
from compass.rl.cluster import (
    ClusterError,
    await_cluster,
    check_cluster,
    check_reachable,
    join,
    joins,
    ray_init,
    reserved,
    worker_environment,
)
from compass.settings.recipe import Resources


def config(ranks: int = 1, nodes: int = 1, units: int = 1, address: str | None = "local"):
    return OmegaConf.create(
        {
            "trainer": {"nnodes": nodes, "n_gpus_per_node": ranks},
            "transfer_queue": {"backend": {"SimpleStorage": {"num_data_storage_units": units}}},
            "ray_kwargs": {"ray_init": {"address": address}},
        }
    )


@pytest.mark.parametrize(
    ("ranks", "nodes", "units", "cpus"),
    [(1, 1, 1, 6), (1, 1, 2, 7), (2, 1, 1, 9), (8, 1, 2, 28), (8, 2, 4, 54)],
)
def test_what_is_reserved(ranks: int, nodes: int, units: int, cpus: int) -> None:
    assert reserved(config(ranks, nodes, units)) == {"CPU": cpus, "GPU": ranks * nodes}
    each = {"CPU": cpus / nodes, "GPU": float(ranks), "memory": 1.0}
    check_cluster(config(ranks, nodes, units), {str(number): each for number in range(nodes)})


@pytest.mark.parametrize(
    ("nodes", "free", "told"),
    [
        (1, [(27, 8)], "has 27 CPUs free and the stage needs 28: join nodes with more cores"),
        (1, [(64, 4)], "has 4 GPUs free and the stage needs 8: set `rl.resources.gpus` (on a CPU `ranks`"),
        (1, [(64, None)], "has 0 GPUs free and the stage needs 8"),
        (1, [], "has 0 CPUs free"),
        # enough together, and no node with all that its ranks need
        (2, [(64, 15), (64, 1)], "1 nodes of the Ray cluster have 8 GPUs and 24 CPUs free"),
        (2, [(64, 8), (23, 8)], "and the stage needs 2 of them: set `rl.resources.gpus`"),
    ],
)
def test_a_cluster_that_is_too_small_is_told(nodes: int, free: list[tuple[int, int | None]], told: str) -> None:
    named = ({"CPU": float(cpus)} | ({} if gpus is None else {"GPU": float(gpus)}) for cpus, gpus in free)
    with pytest.raises(ClusterError) as error:
        check_cluster(config(8, nodes, 2), {str(number): node for number, node in enumerate(named)})
    assert told in str(error.value)


def test_what_something_that_is_about_to_end_holds_is_waited_for(library: Any) -> None:
    answers = iter([{}, {"a": {"CPU": 2.0, "GPU": 1.0}}, {"a": {"CPU": 6.0, "GPU": 1.0}}])
    library("ray._private.state", available_resources_per_node=lambda: next(answers))
    await_cluster(config())
    assert next(answers, "none is left") == "none is left"
    library("ray._private.state", available_resources_per_node=lambda: {"a": {"CPU": 5.0, "GPU": 1.0}})
    with pytest.raises(ClusterError, match="has 5 CPUs free"):
        await_cluster(config(), patience=0.1)


def test_a_cluster_that_another_run_uses_is_not_shared(library: Any) -> None:
    library("ray._private.state", available_resources_per_node=lambda: {"a": {"CPU": 6.0, "GPU": 1.0}})
    asked: list[tuple[str, str]] = []
    library("ray", get_actor=lambda name, namespace: asked.append((name, namespace)))
    await_cluster(config())  # a cluster of its own is used by nobody else
    assert asked == []
    with pytest.raises(ClusterError, match="another training run of verl uses the Ray cluster"):
        await_cluster(config(address="head:6379"), patience=0.1)
    assert asked[0] == ("TransferQueueController", "transfer_queue")


RAY = "ray_kwargs.ray_init"


@pytest.mark.parametrize(
    ("resources", "address", "own"),
    [
        (Resources(nodes=2), "auto", False),
        (Resources(gpus=8, nodes=2, ray_address="head:6379"), "head:6379", False),
        (Resources(ray_address="head:6379"), "head:6379", False),
        (Resources(), "local", True),
    ],
)
def test_only_a_cluster_of_its_own_is_given_what_it_has(resources: Resources, address: str, own: bool) -> None:
    given = {"num_gpus": 1, "num_cpus": 16, "include_dashboard": False, "object_store_memory": 9}
    expected = {f"{RAY}.{name}": value if own else None for name, value in given.items()}
    found = ray_init(resources, gpus=1, cpus=16, memory=9)
    assert found == {f"{RAY}.address": address, **expected}
    assert joins(config(address=address)) is not own


def test_an_address_at_which_nothing_answers_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and not listening
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for configured in (address, "auto"):
            monkeypatch.setenv("RAY_ADDRESS", address)
            with pytest.raises(
                ClusterError, match=rf"no Ray cluster answers at {address} .*`rl\.resources\.ray_address`"
            ):
                check_reachable(config(address=configured))
        taken.listen()
        check_reachable(config(address=address))
    monkeypatch.delenv("RAY_ADDRESS")
    check_reachable(config(address="auto"))  # Ray looks for it


STARTED = """
import ray
from compass.rl.cluster import draw_job, start
for _ in range(2):
    start({"address": "local", "num_cpus": 1, "include_dashboard": False, "log_to_driver": False}, draw_job())
    print(ray.get(ray.remote(lambda: ray.get_runtime_context().get_job_id()).remote()))
    ray.shutdown()
"""


@pytest.mark.slow
def test_no_two_clusters_of_a_machine_have_a_job_of_the_same_name() -> None:
    ended = subprocess.run([sys.executable, "-c", STARTED], capture_output=True, text=True, check=True)
    first, second = ended.stdout.split()
    assert first != second
    assert "01000000" not in (first, second), "Ray's own first number"


def test_why_a_cluster_could_not_be_joined_is_told_with_what_to_do(library: Any) -> None:
    class RayError(Exception): ...

    def init(**options: Any) -> None:
        assert options == {"address": "head:6379"}
        raise RayError("InvalidAuthToken")

    library("ray.exceptions", RayError=RayError)
    library("ray", init=init, exceptions=sys.modules["ray.exceptions"])
    with pytest.raises(
        ClusterError, match=r"cannot be joined: RayError: InvalidAuthToken\. .*the same RAY_AUTH_MODE and RAY"
    ):
        join({"address": "head:6379"})


def test_workers_elsewhere_get_the_code_and_the_named_variables() -> None:
    given = {"PYTHONPATH": "/more", "VERL_PLATFORM": "cpu", "SECRET": "of the stage"}
    told = worker_environment(given, ("VERL_PLATFORM", "OMP_NUM_THREADS"))
    code = str(Path(compass.__file__).parents[1])
    assert told == {"PYTHONPATH": f"{code}{os.pathsep}/more", "VERL_PLATFORM": "cpu"}
    assert worker_environment({}, ()) == {"PYTHONPATH": code}
