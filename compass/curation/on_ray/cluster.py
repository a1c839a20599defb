"""A Ray cluster for a run: one of its own on this machine, which ends with the run, or a running one that it joins."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from compass.errors import UserError
from compass.machine import cores
from compass.settings import Curation

STARTS = 3
"""How often a local cluster is started before its failure counts."""

_ENVIRONMENT = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # despite its name: every service of Ray listens on 127.0.0.1 alone
    "RAY_AUTH_MODE": "token",
    "RAY_worker_niceness": "0",  # Ray's default of 15 starves its workers beside any other work
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
}


class RayClusterError(UserError):
    """No Ray cluster can be had; the message names the address."""


@contextmanager
def ray_cluster(settings: Curation) -> Iterator[None]:
    """Have Ray ready in the block, where the settings ask for it; inside another such block the same cluster.

    A local cluster ends with the block, its processes and files with it, also after an error. A kill of this process
    leaves them to `compass.process_tree`.

    Raises:
        RayClusterError: there is no cluster at the address.
    """
    if settings.engine == "process":
        yield
        return
    given = {name: os.environ.get(name) for name in (*_ENVIRONMENT, "RAY_AUTH_TOKEN", "RAY_ADDRESS")}
    if settings.address == "local":
        os.environ.pop("RAY_ADDRESS", None)
        os.environ.update(_ENVIRONMENT, RAY_AUTH_TOKEN=secrets.token_hex(32))
    import ray  # reads the environment

    if ray.is_initialized():
        yield
        return
    folder = tempfile.mkdtemp(prefix="ray-") if settings.address == "local" else ""
    try:
        _start(settings, folder)
        yield
    finally:
        ray.shutdown()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
            for name, value in given.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def worker_bytes(settings: Curation) -> int:
    """Heap of a task at work, which it declares to Ray: a worker's share of `memory_mb`."""
    return (settings.memory_mb << 20) // concurrency()


def concurrency() -> int:
    """Tasks that run at a time on the cluster."""
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _start(settings: Curation, folder: str) -> None:
    import ray

    if folder:
        _start_local(settings, folder)
        return
    try:
        host, _, port = settings.address.rpartition("/")[2].rpartition(":")
        if port.isdigit():  # Ray itself tries for minutes
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(address=settings.address, log_to_driver=False, logging_level="error")
    except (OSError, ValueError, RuntimeError) as error:
        raise RayClusterError(
            f"{settings.address}: no Ray cluster answers there ({error}); start one with `ray start --head`, "
            "or give `local` for one on this machine"
        ) from None


def _start_local(settings: Curation, folder: str) -> None:
    """Start a cluster here. Ray gives its node 30 s, which a busy machine exceeds now and then: then it starts again."""
    import ray

    before = set(psutil.Process().children())
    for _ in range(STARTS):
        try:
            ray.init(
                address="local",
                num_cpus=settings.workers or cores(),
                num_gpus=0,
                object_store_memory=settings.memory_mb << 20,
                _memory=settings.memory_mb << 20,  # for the heaps of tasks, as much again
                include_dashboard=False,
                log_to_driver=False,
                logging_level="error",
                _temp_dir=folder,
            )
            return
        except Exception as error:  # Ray has no type of its own for this one
            if "timed out during startup" not in str(error):
                raise
            ray.shutdown()
            late = set(psutil.Process().children()) - before
            for process in late:
                process.kill()
            psutil.wait_procs(late, timeout=30)
    raise RayClusterError(
        f"local: Ray's services did not answer within 30 s, {STARTS} times in a row; this machine is too busy "
        f"(load {os.getloadavg()[0]:.0f} on {cores()} cores): try again later, or set `curation.engine: process`"
    )
