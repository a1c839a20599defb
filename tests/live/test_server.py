"""The server: read-only, for this machine alone, and harmless whatever models wrote."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import psutil
import pytest

from compass.live.server import make_app
from compass.runs.progress import stage_progress
from compass.services.servers import is_answering, list_servers
from tests.services.conftest import free_ports

ROOT = Path(__file__).resolve().parents[2]


def ask(url: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    request = urllib.request.Request(
        url, method=method, headers={name.replace("_", "-"): text for name, text in headers.items()}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def test_the_page_and_its_parts_are_served_with_a_strict_policy(served: str) -> None:
    for path in ("/", "/page/page.js", "/page/page.css", "/page/charts.js", "/kit/page.css", "/kit/page.js"):
        status, headers, body = ask(served + path)
        assert status == 200
        assert body
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    assert b"http" not in ask(served + "/")[2].replace(b"http-equiv", b"")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:5050", "127.0.0.1.evil.example", ""])
def test_a_foreign_name_for_this_machine_is_refused(served: str, host: str) -> None:
    assert ask(f"{served}/api/state", host=host)[0] == 400
    assert ask(served, host=host)[0] == 400


def test_loopback_names_with_any_port_are_served(served: str) -> None:
    for host in ("127.0.0.1", "localhost:8080"):
        status, _, body = ask(f"{served}/api/state", host=host)
        assert (status, json.loads(body)["profile"]) == (200, "tiny")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(served: str, method: str) -> None:
    for path in ("/", "/api/state", "/page/page.js", "/reports/index.html"):
        assert ask(served + path, method)[0] == 405


@pytest.mark.parametrize(
    "path",
    [
        "/page/../server.py",
        "/page/%2e%2e/server.py",
        "/reports/../params.yaml",
        "/reports/%2e%2e/params.yaml",
        "/params.yaml",
    ],
)
def test_nothing_else_can_be_read(served: str, repository: Path, path: str) -> None:
    (repository / "reports").mkdir()
    with socket.create_connection(("127.0.0.1", int(served.rpartition(":")[2]))) as connection:  # urllib tidies paths
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while more := connection.recv(65536):
            answer += more
    assert answer.split()[1] == b"404"


def test_reports_are_served_and_a_link_out_of_them_is_not(served: str, repository: Path) -> None:
    (repository / "reports").mkdir()
    (repository / "reports/index.html").write_text("<p>report</p>")
    (repository / "reports/out.yaml").symlink_to(repository / "params.yaml")
    status, headers, body = ask(f"{served}/reports/index.html")
    assert (status, body) == (200, b"<p>report</p>")
    assert "content-security-policy" not in headers
    assert ask(f"{served}/reports/out.yaml")[0] == 404


@pytest.mark.parametrize(
    "query", ["stage=../../etc", "stage=%00", "step=-1", "step=x", "step=99999999999999999999", "step=%C2%B2"]
)
def test_odd_questions_have_plain_answers(served: str, query: str) -> None:
    assert ask(f"{served}/api/state?{query}")[0] == 200


def test_what_models_wrote_is_escaped(served: str, repository: Path, trainer: Any) -> None:
    hostile = "<script>alert(1)</script>\ud800\u202e"
    with stage_progress("rl-1", repository):
        trainer.iteration(1, **{"actor/entropy": float("inf")})
        trainer.rollouts(1, response=hostile.replace("\ud800", ""))
        status, headers, body = ask(f"{served}/api/state")
    assert status == 200
    assert headers["content-type"].startswith("application/json")
    blocks = "".join(json.loads(body)["blocks"])
    assert "<script" not in blocks
    assert "alert(1)" in blocks


def test_the_page_writes_nothing(repository: Path, trainer: Any) -> None:
    from starlette.testclient import TestClient

    trainer.iteration(1)
    trainer.rollouts(1)
    before = {path: path.stat().st_mtime_ns for path in repository.rglob("*")}
    with TestClient(make_app(repository), base_url="http://localhost") as client:
        for stage in ("", "rl-1", "grade", "collect", "report"):
            assert client.get(f"/api/state?stage={stage}").status_code == 200
    assert {path: path.stat().st_mtime_ns for path in repository.rglob("*")} == before


def test_it_is_served_on_the_loopback_interface_and_ends_at_once(repository: Path) -> None:
    port = free_ports()["live"]
    words = [sys.executable, *list_servers(repository, {"live": port})["live"].arguments]
    process = subprocess.Popen(words, cwd=repository, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        while not is_answering(f"http://127.0.0.1:{port}/"):
            assert process.poll() is None
            time.sleep(0.1)
        assert {one.laddr.ip for one in psutil.Process(process.pid).net_connections("tcp")} == {"127.0.0.1"}
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.wait()
