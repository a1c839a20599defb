"""`compass doctor` in a copy of the repository: silent where all is well, and every planted fault found with its remedy."""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import pytest
import yaml

from compass.checks.doctor import Place, check_cache, examine
from compass.checks.finding import Finding
from compass.errors import UserError
from compass.services.servers import MARK
from compass.services.state import Service, write_services
from tests.conftest import copy_of_the_repository, digests
from tests.services.conftest import free_ports

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "compass.cli", "doctor", "--json", "--seconds", "60"]


def run(folder: Path, *words: str, **variables: str) -> str:
    environ = {**os.environ, **variables}
    return subprocess.run(words, cwd=folder, env=environ, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, **variables: str) -> None:
    run(folder, "git", "add", "-A")
    run(folder, "git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "x", **variables)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The working tree's files in a repository of their own."""
    folder = copy_of_the_repository(tmp_path / "copy")
    run(folder, "git", "init", "-q")
    commit(folder)
    return folder


@pytest.fixture
def closed() -> Iterator[int]:
    """A port that nobody listens on, and nobody else can."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def plain_variables(folder: Path) -> dict[str, str]:
    """The environment of a machine where nothing is set; every service has a port that is free."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COMPASS_", "MLFLOW_", "HF_", "RAY_")) and not name.lower().endswith("_proxy")
    }
    ports = {f"COMPASS_{name.upper()}_PORT": str(port) for name, port in free_ports().items()}
    return {**kept, **ports, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def doctor(folder: Path, variables: Mapping[str, str], before: str = "") -> tuple[int, list[dict[str, str]], str]:
    """Exit status, findings and all that was printed; `before` is a shell's words that set limits."""
    words = ["bash", "-c", f'{before}\nexec "$@"', "bash", *PROGRAM]
    done = subprocess.run(words, cwd=folder, env=dict(variables), capture_output=True, text=True, timeout=600)
    assert done.stdout.startswith("{"), done.stderr
    return done.returncode, json.loads(done.stdout)["findings"], done.stdout + done.stderr


def assert_found(findings: list[dict[str, str]], *, check: str, level: str, found: str, remedy: str) -> None:
    same = [one for one in findings if one["check"] == check and found in one["found"]]
    assert [one["level"] for one in same] == [level], f"{check}: {found!r} not in {findings}"
    assert remedy in same[0]["remedy"]


@pytest.fixture
def ended() -> psutil.Process:
    """A process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    watched = psutil.Process(process.pid)
    process.communicate()
    return watched


@contextlib.contextmanager
def left_behind(folder: Path) -> Iterator[subprocess.Popen]:
    """A worker of a service whose server is gone."""
    variables = {**os.environ, MARK: str(folder.resolve())}
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=variables)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def results_in_the_cache(folder: Path) -> None:
    """A dvc.lock with a result that DVC's cache has, and one that it lacks."""
    outs = []
    for name, digest in {"kept": "a" * 32, "lost": "b" * 32}.items():
        place = folder / ".dvc/cache/files/md5" / digest[:2] / digest[2:]
        place.parent.mkdir(parents=True, exist_ok=True)
        if name == "kept":
            place.write_text("kept")
        outs.append({"path": f"data/{name}", "md5": digest, "size": 4, "hash": "md5"})
    (folder / "dvc.lock").write_text(yaml.safe_dump({"schema": "2.0", "stages": {"collect": {"outs": outs}}}))


def own_files(folder: Path) -> dict[str, str]:
    """Files with their digests, without git's own: asking for the status may refresh its index."""
    return {path: digest for path, digest in digests(folder).items() if not path.startswith(".git/")}


def test_where_all_is_well_nothing_is_reported_and_nothing_changed(copy: Path) -> None:
    before = own_files(copy)
    status, findings, _ = doctor(copy, plain_variables(copy))
    assert own_files(copy) == before
    wrong = [one for one in findings if one["level"] != "ok"]
    # Not planted is what the machine of the test lacks, and what other programs left on it.
    of_the_machine = ("machine", "disk", "packages", "processes", "temporary files", "open files", "GPU")
    assert [one for one in wrong if one["check"] not in of_the_machine] == []
    assert status == int(any(one["level"] == "problem" for one in wrong))
    assert {"Python", "machine", "GPU", "git", "DVC cache", "params.yaml"} <= {one["check"] for one in findings}


def test_every_planted_fault_is_found_with_its_remedy(copy: Path, ended: psutil.Process, closed: int) -> None:
    lock = copy / "requirements/cpu.txt"
    installed = next(line for line in lock.read_text().splitlines() if line.startswith("numpy=="))
    lock.write_text(lock.read_text().replace(installed, "numpy==0.0.1") + "no-such-package==1.0\n")
    results_in_the_cache(copy)
    write_services([Service("mlflow", ended.pid, 1.0, f"http://127.0.0.1:{closed}", "log")], copy)
    variables = {
        **plain_variables(copy),
        "COMPASS_DATA": "/nowhere/data",
        "HF_TOKEN": "hf_secret-value ",
        "http_proxy": "http://127.0.0.1:9",
        "RAY_ADDRESS": f"127.0.0.1:{closed}",
    }
    with socket.create_server(("127.0.0.1", 0)) as server, left_behind(copy) as orphan:
        taken = server.getsockname()[1]
        variables["COMPASS_PREFECT_PORT"] = str(taken)
        status, findings, printed = doctor(copy, variables, before="ulimit -n 512; ulimit -f 1000")
    assert status == 1
    assert "hf_secret-value" not in printed

    planted = [
        ("packages", "problem", "numpy", "requirements/setup.sh cpu"),
        ("packages", "problem", "no-such-package missing instead of 1.0", "requirements/setup.sh cpu"),
        ("open files", "problem", "at most 512", "ulimit -n 65536"),
        ("disk", "problem", "does not take a file of 16 MiB: File too large", "quota"),
        ("Ray cluster", "problem", f"127.0.0.1:{closed} is not reached", "unset RAY_ADDRESS"),
        ("services", "problem", "mlflow was started and has ended", "compass up"),
        (
            "ports",
            "warning",
            f"port {taken}, prefect's, is taken by process {os.getpid()}",
            "compass up --prefect-port",
        ),
        ("processes", "warning", f"left of a service that has ended: {orphan.pid}", "compass down"),
        ("DVC cache", "warning", "1 of 2 results are missing: data/lost", "compass run"),
        ("variables", "problem", "COMPASS_DATA is '/nowhere/data'", "export COMPASS_DATA=FOLDER"),
        ("variables", "problem", "HF_TOKEN is empty or has spaces", "without spaces"),
        ("variables", "warning", "a proxy is set", "export no_proxy=127.0.0.1"),
    ]
    for check, level, found, remedy in planted:
        assert_found(findings, check=check, level=level, found=found, remedy=remedy)


def test_what_the_settings_need_is_looked_for(copy: Path, closed: int) -> None:
    params = copy / "params.yaml"
    values = yaml.safe_load(params.read_text())
    values["collect"]["sources"][0] = {
        "name": "far", "hub": "owner/set", "revision": "0" * 40, "problem_field": "p", "answer_field": "a", "licence": "MIT",
    }  # fmt: skip
    params.write_text(yaml.safe_dump(values))
    variables = {
        **plain_variables(copy),
        "HF_ENDPOINT": f"http://127.0.0.1:{closed}",
        "MLFLOW_TRACKING_URI": "./mlruns",
    }
    status, findings, _ = doctor(copy, variables)
    assert status == 1
    needed = {"found": f"http://127.0.0.1:{closed} is not reached", "remedy": "set HF_ENDPOINT to a mirror"}
    assert_found(findings, check="hub", level="problem", **needed)
    assert "collect.sources far" in next(one["found"] for one in findings if one["check"] == "hub")
    assert_found(
        findings, check="variables", level="problem", found="names a folder", remedy="unset MLFLOW_TRACKING_URI"
    )


def test_results_that_lie_here_are_put_back_into_the_cache_first(tmp_path: Path) -> None:
    stages = {name: {"outs": [{"path": f"data/{name}", "md5": "0" * 32}]} for name in ("dedup", "grade")}
    (tmp_path / "dvc.lock").write_text(yaml.safe_dump({"schema": "2.0", "stages": stages}))
    [found] = check_cache(Place(tmp_path))
    assert found.remedy.startswith("`compass run` makes them again")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/grade").write_text("kept")
    [found] = check_cache(Place(tmp_path))
    assert found.remedy.startswith("`dvc commit -f grade` takes what is still in this folder; ")


def check_well(place: Place) -> Iterator[Finding]:
    yield Finding("well", "it is", level="ok")


def check_broken_itself(place: Place) -> Iterator[Finding]:
    raise RuntimeError("no such thing")


def check_a_file(place: Place) -> Iterator[Finding]:
    raise UserError("it cannot be read", "repair it")


def test_a_check_that_fails_does_not_hide_what_the_others_find(tmp_path: Path) -> None:
    assert list(examine(Place(tmp_path), [check_broken_itself, check_a_file, check_well])) == [
        Finding("broken itself", "could not be checked: RuntimeError: no such thing", level="warning"),
        Finding("a file", "it cannot be read", "repair it"),
        Finding("well", "it is", level="ok"),
    ]
