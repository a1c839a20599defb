"""Ray for the engines of a stage: a cluster of its own on this machine, which ends with the stage, or a running one that it joins."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import compass
from compass.machine import cores
from compass.sampling.model_source import SamplingError

STARTS = 3
"""How often a cluster on this machine is started before its failure counts: Ray gives its node 30 s, which a busy machine may exceed."""

OBJECTS_MB = 256
"""Object store of a cluster of its own: results of a second, of which Ray returns small ones without it."""

REACH_S = 10.0
"""Seconds for which a cluster's port may not answer; Ray itself would try for minutes."""

_OWN = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # despite its name: every service of Ray listens on 127.0.0.1 alone
    "RAY_AUTH_MODE": "token",
    "RAY_worker_niceness": "0",  # Ray's default of 15 starves its workers beside any other work
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
}


@contextmanager
def ray_cluster(address: str = "") -> Iterator[None]:
    """Have Ray ready in the block.

    A cluster of its own ends with the block, its processes and files with it. A kill of this process ends it as well.

    Args:
        address: `HOST:PORT` of a running cluster; empty starts one here, with a token of its own.

    Raises:
        SamplingError: there is no cluster at the address, or none can be started here.
    """
    before = {name: os.environ.get(name) for name in (*_OWN, "RAY_AUTH_TOKEN", "RAY_ADDRESS")}
    folder = ""
    if not address:
        folder = tempfile.mkdtemp(prefix="ray-")
        os.environ.pop("RAY_ADDRESS", None)
        os.environ.update(_OWN, RAY_AUTH_TOKEN=secrets.token_hex(32))
    import ray

    _read_environment()
    try:
        _start(folder) if folder else _join(address)
        yield
    finally:
        ray.shutdown()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})
            _read_environment()


def code_path() -> str:
    """The folder that workers on another node import this library from."""
    return str(Path(compass.__file__).resolve().parents[1])


def _read_environment() -> None:
    """Have Ray read its settings and its token anew: it does so at its import, which may be long ago (vLLM imports it)."""
    from ray._raylet import AuthenticationTokenLoader, Config

    Config.initialize("")
    AuthenticationTokenLoader.instance().reset_cache()


def _join(address: str) -> None:
    import ray

    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=REACH_S).close()
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise SamplingError(
            f"engines.address: no Ray cluster can be joined at {address} ({error}); its head is started by `ray start --head`, and this "
            "process needs its RAY_AUTH_MODE, RAY_AUTH_TOKEN, Python and Ray"
        ) from None


def _start(folder: str) -> None:
    import psutil
    import ray

    others = set(psutil.Process().children())
    for _ in range(STARTS):
        try:
            ray.init(
                address="local",
                num_cpus=cores(),
                object_store_memory=OBJECTS_MB << 20,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="error",
                _temp_dir=folder,
            )
            return
        except Exception as error:  # Ray has no type of its own for this one
            ray.shutdown()
            late = set(psutil.Process().children()) - others  # of a node that failed to start, Ray ends nothing
            for process in late:
                process.kill()
            psutil.wait_procs(late, timeout=30)
            if "timed out during startup" not in str(error):
                raise
    raise SamplingError(
        f"Ray's services did not answer within 30 s, {STARTS} times in a row; this machine is too busy (load {os.getloadavg()[0]:.0f} on "
        f"{cores()} cores): try again later, or set `engines.count: 1`"
    )
