"""The client behaves as `python` does: arguments, environment, folder, files, exit status, and ends with its process."""

import gc
import importlib
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from compass.rl.cpu import fork_server
from compass.rl.cpu.fork_server import MODULES, preload

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


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("pass", 0),
        ("raise SystemExit", 0),
        ("raise SystemExit('no such file')", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", 128 + 15),
        ("import os; os._exit(3)", 3),
    ],
)
def test_each_way_to_end_has_the_status_that_a_shell_would_show(python, code: str, status: int) -> None:
    assert subprocess.run([python[0], "-c", code], capture_output=True, timeout=20).returncode == status


def test_it_runs_modules_after_options(python, tmp_path: Path) -> None:
    (tmp_path / "greeting.py").write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    done = subprocess.run(
        [python[0], "-u", "-B", "-m", "greeting", "-x", "y"],
        env={**os.environ, "PYTHONPATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.stdout.strip() == "__main__ ['-x', 'y']"


def test_a_script_finds_the_modules_beside_it(python, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("WORD = 'found'\n")
    (tmp_path / "script.py").write_text("import beside\nprint(beside.WORD)\n")
    done = subprocess.run([python[0], str(tmp_path / "script.py")], capture_output=True, text=True, timeout=20)
    assert done.stdout.strip() == "found"


def test_a_program_is_the_main_module(python) -> None:
    code = "import sys; x = 3; print(sys.modules['__main__'].x, __name__)"
    done = subprocess.run([python[0], "-c", code], capture_output=True, text=True, timeout=20)
    assert done.stdout.strip() == "3 __main__"


def test_two_processes_do_not_draw_the_same_random_numbers(python) -> None:
    code = "import random; print(random.random())"
    drawn = {subprocess.run([python[0], "-c", code], capture_output=True, timeout=20).stdout for _ in range(2)}
    assert len(drawn) == 2


def test_several_processes_run_at_once(python) -> None:
    first, second = (subprocess.Popen([python[0], "-c", "input()"], stdin=subprocess.PIPE) for _ in range(2))
    second.communicate(b"go\n", timeout=20)
    assert second.returncode == 0
    assert first.poll() is None
    first.communicate(b"go\n", timeout=20)
    assert first.returncode == 0


def test_a_large_environment_arrives_whole(python) -> None:
    environment = {**os.environ, **{f"LARGE_{number}": "x" * 100_000 for number in range(5)}}
    code = "import os; print(sum(len(value) for name, value in os.environ.items() if name.startswith('LARGE_')))"
    done = subprocess.run([python[0], "-c", code], env=environment, capture_output=True, text=True, timeout=20)
    assert done.stdout.strip() == "500000"


def test_the_environment_is_the_clients_alone(python) -> None:
    code = "import os; print(sorted(os.environ))"
    done = subprocess.run([python[0], "-c", code], env={"ONLY": "1"}, capture_output=True, text=True, timeout=20)
    assert "HOME" not in done.stdout
    assert "'ONLY'" in done.stdout


def test_torch_uses_the_threads_that_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(set_num_threads=asked.append))
    for threads in ("3", "", "many"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        fork_server._reread_environment()
    monkeypatch.delenv("OMP_NUM_THREADS")
    fork_server._reread_environment()
    assert asked == [3]
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delitem(sys.modules, "torch")
    fork_server._reread_environment()


def test_ray_is_told_its_job_and_whose_end_ends_its_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_JOB_ID", "")
    monkeypatch.setenv("RAY_RAYLET_PID", "")
    fork_server.prepare_ray()
    assert os.environ["RAY_JOB_ID"] == "01000000"
    assert os.environ["RAY_RAYLET_PID"] == str(os.getpid())


def test_the_client_is_for_its_user_alone(python) -> None:
    assert Path(python[0]).stat().st_mode & 0o777 == 0o700


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


def test_every_module_is_imported_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    imported: list[str] = []
    collecting: set[bool] = set()

    def note(name: str) -> None:
        imported.append(name)
        collecting.add(gc.isenabled())

    monkeypatch.setattr(importlib, "import_module", note)
    preload()
    assert imported == list(MODULES)
    assert collecting == {False}
    assert gc.isenabled()


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("compass.")])
def test_the_modules_of_our_own_exist(name: str) -> None:
    assert importlib.util.find_spec(name) is not None
