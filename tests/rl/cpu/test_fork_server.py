"""The client behaves as `python` does: arguments, environment, folder, files, exit status, and ends with its process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import has_ended

HOST = """
import sys, time
from pathlib import Path
from compass.rl.cpu import fork_server
import json as preloaded
print(fork_server.start(Path(sys.argv[1])), flush=True)
time.sleep(600)
"""


@pytest.fixture
def python(tmp_path: Path):
    folder = tmp_path / "f"
    folder.mkdir()
    host = subprocess.Popen([sys.executable, "-c", HOST, str(folder)], stdout=subprocess.PIPE, text=True)
    client = host.stdout.readline().strip()
    assert Path(client).stat().st_mode & 0o777 == 0o700  # for its user alone
    yield client, host
    host.kill()
    host.wait()


def run(python, *arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([python[0], *arguments], capture_output=True, text=True, timeout=300, **options)


LARGE = "sum(len(value) for name, value in os.environ.items() if name.startswith('LARGE_'))"


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["-u", "-c", "import os, sys; print(sys.argv[1:], os.getcwd())", "a", "b c"], "['a', 'b c'] FOLDER"),
        (["-c", "import sys; x = 3; print(sys.modules['__main__'].x, __name__)"], "3 __main__"),
        (["-c", "import sys; print('compass.rl.cpu.fork_server' in sys.modules)"], "True"),
        (["-c", f"import os; print({LARGE})"], "500000"),
        (["-u", "-B", "-m", "greeting", "-x", "y"], "__main__ ['-x', 'y']"),
        (["FOLDER/script.py", "x"], "['FOLDER/script.py', 'x'] found"),
    ],
)
def test_it_runs_code_modules_and_scripts_as_python_does(
    python, tmp_path: Path, arguments: list[str], printed: str
) -> None:
    (tmp_path / "greeting.py").write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    (tmp_path / "neighbour.py").write_text("WORD = 'found'\n")
    script = "import sys, neighbour\nif __name__ == '__main__':\n    print(sys.argv, neighbour.WORD)\n"
    (tmp_path / "script.py").write_text(script)
    large = {f"LARGE_{number}": "x" * 100_000 for number in range(5)}
    done = run(
        python,
        *(argument.replace("FOLDER", str(tmp_path)) for argument in arguments),
        env={**os.environ, **large, "PYTHONPATH": ""},
        cwd=tmp_path,
    )
    assert (done.stdout.strip(), done.returncode) == (printed.replace("FOLDER", str(tmp_path)), 0)


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("pass", 0, ""),
        ("raise SystemExit", 0, ""),
        ("raise SystemExit(7)", 7, ""),
        ("raise SystemExit('no such file')", 1, ""),
        ("1 / 0", 1, "ZeroDivisionError"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", 128 + 15, ""),
        ("import os; os._exit(3)", 3, ""),
    ],
)
def test_each_way_to_end_has_the_status_that_a_shell_would_show(python, code: str, status: int, error: str) -> None:
    done = run(python, "-c", code)
    assert done.returncode == status
    assert error in done.stderr


def test_two_processes_do_not_draw_the_same_random_numbers(python) -> None:
    assert len({run(python, "-c", "import random; print(random.random())").stdout for _ in range(2)}) == 2


def test_several_processes_run_at_once(python) -> None:
    first, second = (subprocess.Popen([python[0], "-c", "input()"], stdin=subprocess.PIPE) for _ in range(2))
    second.communicate(b"go\n", timeout=300)
    assert second.returncode == 0
    assert first.poll() is None
    first.communicate(b"go\n", timeout=300)
    assert first.returncode == 0


def test_the_environment_is_the_clients_alone(python) -> None:
    told = run(python, "-c", "import os; print(sorted(os.environ))", env={"ONLY": "1"}).stdout
    assert ("HOME" in told, "'ONLY'" in told) == (False, True)


def test_open_files_keep_their_numbers(python) -> None:
    reading, writing = os.pipe()
    code = f"import os; os.write({writing}, b'through')"
    subprocess.run([python[0], "-c", code], pass_fds=(writing,), timeout=300)
    os.close(writing)
    assert os.read(reading, 100) == b"through"
    os.close(reading)


WAITS = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"


@pytest.mark.parametrize("host", [False, True])
def test_a_killed_client_or_host_ends_the_process(python, host: bool) -> None:
    client = subprocess.Popen([python[0], "-c", WAITS], stdout=subprocess.PIPE, text=True)
    pid = int(client.stdout.readline())
    (python[1] if host else client).kill()
    assert client.wait(timeout=300) == (1 if host else -9)
    assert has_ended(pid)
