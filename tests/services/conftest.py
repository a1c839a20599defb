"""A repository whose services are tiny HTTP servers, started and ended as the real ones are."""

import itertools
import random
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from compass.services.lifetime import end_processes, is_free
from compass.services.servers import DEFAULT_PORTS, Server, is_answering

SERVER = textwrap.dedent("""
    import http.server, os, subprocess, sys, time
    port, child = int(sys.argv[1]), sys.argv[2:]
    if child:  # a grandchild in a session of its own, as uvicorn's workers and Ray's processes are
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    print("listening on", port, flush=True)
    http.server.HTTPServer(("127.0.0.1", port), http.server.SimpleHTTPRequestHandler).serve_forever()
""")


ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
"""Prefect's types of states in which a run has ended."""


def wait_for(what: Callable[[], Any], seconds: float) -> Any:
    """What `what` returns, as soon as it is true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.2)
    raise TimeoutError(f"nothing came within {seconds:g} s")


def tiny(name: str, *words: str, code: str = SERVER) -> Callable[[int], Server]:
    """Gives, for a port, a server that runs `code` with it."""
    return lambda port: Server(
        name,
        "a test's server",
        ("-c", code, str(port), *words),
        lambda service: is_answering(service.url),
        {"TINY": name},
    )


@pytest.fixture
def define(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`define(tiny("mlflow"), …)` has `start` know these instead of the real servers."""

    def replace(*servers: Callable[[int], Server]) -> None:
        def list_servers(root: Path, ports: Mapping[str, int]) -> dict[str, Server]:
            named = [(server(0).name, server) for server in servers]
            return {name: server(ports.get(name, 0)) for name, server in named}

        monkeypatch.setattr("compass.services.lifetime.list_servers", list_servers)

    return replace


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """An empty repository; whatever its services left is ended with the test."""
    tmp_path.joinpath("dvc.yaml").touch()
    yield tmp_path
    end_processes(tmp_path)


@pytest.fixture
def ports() -> Mapping[str, int]:
    """A free port for each service."""
    return free_ports()


PORTS = itertools.count(random.SystemRandom().randrange(20_000, 31_000))
"""Below those that Linux gives whoever asks for any: nobody takes one before its service listens."""


def free_ports() -> dict[str, int]:
    """A free port for each service, each given once per process."""
    return dict(zip(DEFAULT_PORTS, filter(is_free, PORTS), strict=False))


def listeners(ports: Mapping[str, int]) -> set[int]:
    """Those of the ports on which somebody listens."""
    return {
        one.laddr.port
        for one in psutil.net_connections("tcp")
        if one.status == psutil.CONN_LISTEN and one.laddr.port in ports.values()
    }
