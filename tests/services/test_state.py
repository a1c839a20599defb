"""Which services run, as the file says and the processes show."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compass.processes import find_start
from compass.services.state import Service, read_recorded_services, read_services, write_services


def sleeping() -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def service_of(pid: int, name: str = "mlflow") -> Service:
    created = find_start(pid)
    return Service(name, pid, created, "http://127.0.0.1:5000", f".compass/logs/{name}.log")


def test_a_service_that_ended_is_recorded_and_not_read(tmp_path: Path) -> None:
    process = sleeping()
    write_services([service_of(os.getpid()), service_of(process.pid, "live")], tmp_path)
    assert set(read_services(tmp_path)) == {"mlflow", "live"}
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and left a zombie, which does not serve
    assert set(read_services(tmp_path)) == {"mlflow"}
    process.wait()
    assert set(read_services(tmp_path)) == {"mlflow"}
    assert set(read_recorded_services(tmp_path)) == {"mlflow", "live"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"mlflow": 5}', '{"mlflow": {"pid": "x"}}'])
def test_a_torn_or_foreign_file_names_no_service(tmp_path: Path, text: str) -> None:
    (tmp_path / ".compass").mkdir()
    (tmp_path / ".compass/services.json").write_text(text)
    assert read_services(tmp_path) == {}


def test_a_copied_folder_does_not_take_the_services_for_its_own(tmp_path: Path) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    write_services([service_of(os.getpid())], original)
    shutil.copytree(original, copy)
    assert set(read_services(original)) == {"mlflow"}
    assert read_recorded_services(copy) == {}
