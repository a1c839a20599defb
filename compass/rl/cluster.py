"""The Ray cluster of a stage: one of its own or a running one that it joins, and whether it has what verl reserves."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import compass
from compass.errors import UserError
from compass.settings.recipe import Resources

if TYPE_CHECKING:
    from omegaconf import DictConfig

CPUS_PER_RANK = 3
"""verl's resource pool reserves one CPU for each of three workers that may share a GPU."""

OWN = "local"
"""Ray's address for a cluster of the caller's own, also where RAY_ADDRESS or a running Ray names another."""

REACH_S = 5.0
"""Seconds for which a cluster's port may not answer."""

PATIENCE_S = 20.0
"""Seconds for which a cluster's resources may be taken by something that is about to end."""


class ClusterError(UserError):
    """A Ray cluster that cannot be joined, or is too small for a stage."""


def ray_init(resources: Resources, *, gpus: int, cpus: int, memory: int | None) -> dict[str, Any]:
    """verl's keys that start Ray: a cluster of the stage's own, or joining a running one, whose nodes say what they have.

    Args:
        resources: the stage's.
        gpus: GPUs of a cluster of its own.
        cpus: its CPUs.
        memory: bytes of its object store; None leaves it to Ray.
    """
    ray = "ray_kwargs.ray_init"
    if resources.joins:
        address, gpus, cpus, dashboard, memory = resources.ray_address or "auto", None, None, None, None
    else:
        address, dashboard = OWN, False
    return {
        f"{ray}.address": address,
        f"{ray}.num_gpus": gpus,
        f"{ray}.num_cpus": cpus,
        f"{ray}.include_dashboard": dashboard,
        f"{ray}.object_store_memory": memory,
    }


def joins(config: DictConfig) -> bool:
    """Whether a complete configuration joins a running cluster."""
    return config.ray_kwargs.ray_init.get("address") not in (None, OWN)


def check_reachable(config: DictConfig) -> None:
    """Check that something answers at the address of the cluster to join; Ray would try for a minute.

    Raises:
        ClusterError: nothing does.
    """
    address = config.ray_kwargs.ray_init.address
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS", "auto")
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        return  # Ray looks for the cluster that this machine belongs to
    try:
        socket.create_connection((host, int(port)), timeout=REACH_S).close()
    except OSError as error:
        raise ClusterError(
            f"no Ray cluster answers at {address} ({error}): set `rl.resources.ray_address` (or the variable RAY_ADDRESS) to the "
            "address that `ray start --head` printed, and look with `ray status` whether it runs"
        ) from None


def draw_job() -> str:
    """Eight hexadecimal digits by which Ray is to know the job of a stage in a cluster of its own.

    verl names the socket through which an engine gets its weights by Ray's job, and Ray calls the first of every cluster 1: of two stages on
    one machine, an engine could get the other's weights.
    """
    return secrets.token_hex(3) + "00"  # all f stands for no job


def start(options: Mapping[str, Any], job: str) -> None:
    """Start a cluster of the stage's own.

    Args:
        options: of `ray.init`.
        job: as of `draw_job`.
    """
    import ray
    import ray._private.state

    ray._private.state.next_job_id = lambda: ray.JobID(bytes.fromhex(job))
    ray.init(**options)


def join(options: Mapping[str, Any]) -> None:
    """Join a running cluster.

    Args:
        options: of `ray.init`.

    Raises:
        ClusterError: it cannot be joined: no cluster, another token, or another version of Ray or Python.
    """
    import ray

    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise ClusterError(
            f"the Ray cluster cannot be joined: {type(error).__name__}: {error}. Its head was started by `ray start --head`; give the "
            "stage the same RAY_AUTH_MODE and RAY_AUTH_TOKEN as the cluster has, and the same Ray and Python"
        ) from error


def worker_environment(given: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """Variables that the stage's workers on a running cluster need: they inherit those of their node, not the stage's.

    Args:
        given: the stage's own variables.
        names: those to hand on, where they are set.
    """
    code = str(Path(compass.__file__).resolve().parents[1])
    path = os.pathsep.join(part for part in (code, given.get("PYTHONPATH", "")) if part)
    return {"PYTHONPATH": path, **{name: given[name] for name in names if name in given}}


def cpus_reserved(ranks: int, storage_units: int) -> int:
    """CPUs that verl's processes reserve: three per rank, one per storage unit of the transfer queue and for its
    controller, and one that must be free whenever another process is placed."""
    return CPUS_PER_RANK * ranks + storage_units + 2


def reserved(config: DictConfig) -> dict[str, int]:
    """CPUs and GPUs that verl's processes reserve under a complete configuration."""
    ranks = config.trainer.nnodes * config.trainer.n_gpus_per_node
    units = config.transfer_queue.backend.SimpleStorage.num_data_storage_units
    return {"CPU": cpus_reserved(ranks, units), "GPU": ranks}


def check_cluster(config: DictConfig, nodes: Mapping[str, Mapping[str, float]]) -> None:
    """Check that a cluster has free what verl will reserve: verl waits forever for what is missing.

    Args:
        config: the complete configuration.
        nodes: what each node has free, as Ray's `available_resources_per_node` gives it.

    Raises:
        ClusterError: it lacks some; the message says what and how much.
    """
    ours = (
        "`rl.resources.gpus` (on a CPU `ranks`, started with `ray start --num-gpus`) per node and `rl.resources.nodes`"
    )
    for name, needed in reserved(config).items():
        found = int(sum(node.get(name, 0) for node in nodes.values()))
        if found < needed:
            remedy = {
                "CPU": "join nodes with more cores, start them with `ray start --num-cpus`, or use fewer GPUs",
                "GPU": f"set {ours} to what is there",
            }[name]
            raise ClusterError(f"the Ray cluster has {found} {name}s free and the stage needs {needed}: {remedy}")
    ranks = config.trainer.n_gpus_per_node
    fit = [node for node in nodes.values() if _holds(node, ranks)]
    if len(fit) < config.trainer.nnodes:
        raise ClusterError(
            f"{len(fit)} nodes of the Ray cluster have {ranks} GPUs and {CPUS_PER_RANK * ranks} CPUs free, and the stage needs "
            f"{config.trainer.nnodes} of them: set {ours} to what is there"
        )


def _holds(node: Mapping[str, float], ranks: int) -> bool:
    return node.get("GPU", 0) >= ranks and node.get("CPU", 0) >= CPUS_PER_RANK * ranks


def await_cluster(config: DictConfig, patience: float = PATIENCE_S) -> None:
    """Wait until the cluster has free what verl will reserve; what an earlier stage held is free some seconds after its end.

    Args:
        config: the complete configuration.
        patience: seconds to wait.

    Raises:
        ClusterError: it lacks some all that time.
    """
    from ray._private.state import (
        available_resources_per_node,
    )  # ray's public functions give totals alone; verl asks this way

    joined = joins(config)
    deadline = time.monotonic() + patience
    while True:
        try:
            if joined:
                check_alone()
            return check_cluster(config, available_resources_per_node())
        except ClusterError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def check_alone() -> None:
    """Check that no other training run of verl uses the cluster: they would take each other's responses.

    Raises:
        ClusterError: one does.
    """
    import ray

    try:
        ray.get_actor("TransferQueueController", namespace="transfer_queue")  # verl's, of which a cluster holds one
    except ValueError:
        return
    raise ClusterError("another training run of verl uses the Ray cluster: wait for its end, or use another cluster")
