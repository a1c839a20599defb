"""The client behaves as `python` does: arguments, environment, folder, files, exit status, and ends with its process."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

HOST = """
import sys, time
from pathlib import Path
from compass.rl.cpu import fork_server
import json as preloaded
print(fork_server.start(Path(sys.argv[1])), flush=True)
time.sleep(60)
"""


@pytest.fixture
def python(tmp_path: Path):
    folder = tmp_path / "f"
    folder.mkdir()
    host = subprocess.Popen([sys.executable, "-c", HOST, str(folder)], stdout=subprocess.PIPE, text=True)
    yield host.stdout.readline().strip(), host
    host.kill()
    host.wait()


def test_it_runs_code_with_arguments_environment_and_folder(python, tmp_path: Path) -> None:
    code = "import os, sys; print(sys.argv[1:], os.environ['COLOUR'], os.getcwd(), 'compass.rl.cpu.fork_server' in sys.modules)"
    done = subprocess.run(
        [python[0], "-u", "-c", code, "a", "b c"],
        env={**os.environ, "COLOUR": "blue"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.stdout.strip() == f"['a', 'b c'] blue {tmp_path} True"
    assert done.returncode == 0


def test_it_runs_scripts(python, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys\nif __name__ == '__main__':\n    print(sys.argv)\n")
    done = subprocess.run([python[0], str(tmp_path / "script.py"), "x"], capture_output=True, text=True, timeout=20)
    assert done.stdout.strip() == str([str(tmp_path / "script.py"), "x"])


def test_the_exit_status_is_the_programs(python) -> None:
    assert subprocess.run([python[0], "-c", "raise SystemExit(7)"], timeout=20).returncode == 7
    failed = subprocess.run([python[0], "-c", "1 / 0"], capture_output=True, text=True, timeout=20)
    assert failed.returncode == 1
    assert "ZeroDivisionError" in failed.stderr


def test_open_files_keep_their_numbers(python) -> None:
    reading, writing = os.pipe()
    code = f"import os; os.write({writing}, b'through')"
    subprocess.run([python[0], "-c", code], pass_fds=(writing,), timeout=20)
    os.close(writing)
    assert os.read(reading, 100) == b"through"
    os.close(reading)


def test_a_killed_client_ends_its_process(python) -> None:
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    client = subprocess.Popen([python[0], "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(client.stdout.readline())
    client.kill()
    client.wait()
    assert gone(pid)


def test_a_killed_host_ends_the_server_and_its_processes(python) -> None:
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    client = subprocess.Popen([python[0], "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(client.stdout.readline())
    python[1].kill()
    assert client.wait(timeout=20) == 1
    assert gone(pid)


def gone(pid: int) -> bool:
    for _ in range(100):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().split()[2] == "Z":
            return True
        time.sleep(0.1)
    return False
