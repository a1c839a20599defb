"""Services come up together or not at all, and go down whole."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from compass.errors import UserError
from compass.locks import take_turn
from compass.processes import find_start, is_alive
from compass.services import lifetime
from compass.services.lifetime import ServiceError, find_processes, start, stop
from compass.services.servers import Server, list_servers
from compass.services.state import Service, read_services, write_services
from tests.services.conftest import listeners, tiny

ENDS = "import sys; print('cannot read the database'); sys.exit(5)"
HANGS = "import time; time.sleep(600)"


def quiet(line: str) -> None:
    pass


def test_up_starts_what_is_wanted_and_down_ends_it_with_its_grandchildren(
    root: Path, ports: Mapping[str, int], define: Callable
) -> None:
    define(tiny("prefect"), tiny("mlflow", "with a child"), tiny("live"))
    services = start(root, ["prefect", "mlflow"], ports, tell=quiet)
    assert list(services) == ["prefect", "mlflow"]
    assert services == read_services(root)
    assert listeners(ports) == {ports["prefect"], ports["mlflow"]}
    assert (root / services["mlflow"].log).read_text().startswith("listening on")
    everyone = find_processes(root)
    assert len(everyone) == 3

    assert stop(root, tell=quiet) == ["prefect", "mlflow"]
    assert not any(map(is_alive, everyone))
    assert listeners(ports) == set()
    assert read_services(root) == {}
    assert sorted(path.name for path in (root / ".compass").iterdir()) == ["logs", "mlflow.lock", "services.lock"]
    assert stop(root, tell=quiet) == []


def test_a_second_up_changes_nothing_and_adds_what_is_missing(
    root: Path, ports: Mapping[str, int], define: Callable
) -> None:
    define(tiny("prefect"), tiny("mlflow"))
    first = start(root, ["mlflow"], ports, tell=quiet)
    assert start(root, ["mlflow"], {}, tell=quiet) == first  # on the port that it has, not on the default one
    both = start(root, ["prefect", "mlflow"], {"prefect": ports["prefect"]}, tell=quiet)
    assert both["mlflow"] == first["mlflow"]
    assert read_services(root) == both


def test_up_starts_again_what_died_or_hangs(
    root: Path, ports: Mapping[str, int], define: Callable, monkeypatch
) -> None:
    define(tiny("prefect"), tiny("mlflow", "with a child"))
    first = start(root, ["prefect", "mlflow"], ports, tell=quiet)
    orphan = psutil.Process(first["mlflow"].pid).children()[0]
    os.kill(first["mlflow"].pid, signal.SIGKILL)
    os.kill(first["prefect"].pid, signal.SIGSTOP)
    while first["mlflow"].runs:
        time.sleep(0.01)
    monkeypatch.setattr(lifetime, "ANSWER_S", 0.5)
    told = []
    second = start(root, ["prefect", "mlflow"], {}, tell=told.append)  # on the ports that they had
    assert told == ["prefect runs and does not answer: started again"]
    assert second["prefect"].pid != first["prefect"].pid
    assert second["mlflow"].pid != first["mlflow"].pid
    assert listeners(ports) == {ports["prefect"], ports["mlflow"]}
    assert not is_alive(orphan)


def test_a_taken_port_is_named_with_its_holder_and_nothing_is_started(
    root: Path, ports: Mapping[str, int], define: Callable
) -> None:
    define(tiny("prefect"), tiny("mlflow"))
    with socket.create_server(("127.0.0.1", ports["mlflow"])), pytest.raises(UserError) as raised:
        start(root, ["prefect", "mlflow"], ports, tell=quiet)
    said = str(raised.value)
    assert f"port {ports['mlflow']}, which mlflow needs, is taken by process {os.getpid()} (" in said
    assert "compass up --mlflow-port " in said
    assert find_processes(root) == []
    assert read_services(root) == {}


def test_two_services_cannot_share_a_port(root: Path, ports: Mapping[str, int], define: Callable) -> None:
    define(tiny("prefect"), tiny("mlflow"))
    with pytest.raises(UserError, match="prefect and mlflow cannot both have port"):
        start(root, ["prefect", "mlflow"], {"prefect": ports["mlflow"], "mlflow": ports["mlflow"]}, tell=quiet)


def test_a_running_service_is_not_moved(root: Path, ports: Mapping[str, int], define: Callable) -> None:
    define(tiny("mlflow"))
    start(root, ["mlflow"], ports, tell=quiet)
    with pytest.raises(
        UserError, match=f"mlflow runs on another port .http://127.0.0.1:{ports['mlflow']}.*compass down"
    ):
        start(root, ["mlflow"], {"mlflow": ports["live"]}, tell=quiet)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (ENDS, "mlflow ended while it started; .*\n  cannot read the database"),
        (HANGS, "mlflow was not ready after 180 s"),
    ],
)
def test_when_one_fails_those_started_with_it_are_ended(
    root: Path, ports: Mapping[str, int], define: Callable, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    asked: list[Service] = []

    def failing(port: int) -> Server:
        return replace(tiny("mlflow", code=code)(port), is_ready=asked.append)  # it is not

    def clock() -> float:
        """Where it hangs, its time is over as soon as it is waited for, however long the others took."""
        return time.monotonic() + (200 if asked and code == HANGS else 0)

    define(tiny("live"), tiny("prefect"), failing)
    monkeypatch.setattr(lifetime, "time", SimpleNamespace(monotonic=clock, sleep=time.sleep))
    before = start(root, ["live"], ports, tell=quiet)
    with pytest.raises(ServiceError, match=said):
        start(root, ["live", "prefect", "mlflow"], ports, tell=quiet)
    assert read_services(root) == before  # it ran before, and goes on
    assert {process.pid for process in find_processes(root)} == {before["live"].pid}


def test_the_deployments_wait_for_the_others(root: Path, ports: Mapping[str, int], define: Callable) -> None:
    slow = "import time; time.sleep(1)\nimport sys\n" + tiny("x")(0).arguments[1]
    define(tiny("deployments"), tiny("prefect", code=slow))
    chosen = {"prefect": ports["prefect"], "deployments": ports["live"]}
    services = start(root, ["prefect", "deployments"], chosen, tell=quiet)
    assert services["deployments"].created > services["prefect"].created + 0.9


def test_without_a_prefect_server_here_the_stages_are_served_to_the_one_that_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://elsewhere/api")
    for ports, address in (({}, "http://elsewhere/api"), ({"prefect": 4299}, "http://127.0.0.1:4299/api")):
        assert list_servers(root, ports)["deployments"].variables == {"PREFECT_API_URL": address}


def test_a_folder_that_cannot_be_written_is_named(root: Path) -> None:
    (root / ".compass").touch()  # a file in its place: permissions do not stop the tests' user where it is root
    with pytest.raises(UserError, match=r"\.compass cannot be written: File exists"):
        start(root, ["mlflow"], {}, tell=quiet)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_while_it_starts_leaves_nothing(root: Path, ports: Mapping[str, int], define: Callable) -> None:
    define(tiny("prefect"), tiny("mlflow", code=HANGS))
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        while len(read_services(root)) < 2:
            time.sleep(0.05)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        start(root, ["prefect", "mlflow"], ports, tell=quiet)
    thread.join()
    assert find_processes(root) == []
    assert listeners(ports) == set()


def test_down_finds_what_outlived_its_service_and_its_record(
    root: Path, ports: Mapping[str, int], define: Callable
) -> None:
    define(tiny("mlflow", "with a child"))
    service = start(root, ["mlflow"], ports, tell=quiet)["mlflow"]
    child = psutil.Process(service.pid).children()[0]
    os.kill(service.pid, signal.SIGKILL)
    (root / ".compass/services.json").unlink()
    assert is_alive(child)
    stop(root, tell=quiet)
    assert not is_alive(child)


def test_down_names_a_run_of_the_terminal_and_lets_it_go_on(
    root: Path, ports: Mapping[str, int], define: Callable
) -> None:
    define(tiny("mlflow"))
    start(root, ["mlflow"], ports, tell=quiet)
    told = []
    with take_turn(root, "dvc repro evaluate"):
        stop(root, tell=told.append)
    assert len(told) == 1
    assert told[0].startswith(f"in progress, not ended: `dvc repro evaluate` (process {os.getpid()}, for ")


def test_a_process_that_ignores_the_request_to_end_is_killed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifetime, "STOP_S", 0.2)
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    )
    deaf = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert deaf.stdout is not None
    deaf.stdout.readline()
    write_services([Service("mlflow", deaf.pid, find_start(deaf.pid), None, "log")], root)
    assert stop(root, tell=quiet) == ["mlflow"]
    assert deaf.wait() == -signal.SIGKILL


def test_services_of_two_folders_do_not_disturb_each_other(
    root: Path, ports: Mapping[str, int], define: Callable
) -> None:
    define(tiny("mlflow"))
    one, other = root / "one", root / "other"
    for folder in (one, other):
        folder.mkdir()
    start(one, ["mlflow"], {"mlflow": ports["mlflow"]}, tell=quiet)
    kept = start(other, ["mlflow"], {"mlflow": ports["live"]}, tell=quiet)
    stop(one, tell=quiet)
    assert read_services(other) == kept
    assert stop(other, tell=quiet) == ["mlflow"]
