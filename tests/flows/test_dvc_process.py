"""Running `dvc` for a flow: its command line, its lines, and that nothing of it lives on."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from flows.cancel import Stopped, end_group, stop_on_signals
from flows.dvc_process import DvcError, find_dvc, run_command
from tests.conftest import has_ended


def run_python(code: str, folder: Path, **options) -> list[str]:
    lines: list[str] = []
    run_command([sys.executable, "-c", code], folder=folder, log=lines.append, **options)
    return lines


def test_of_a_progress_bar_only_its_last_state_is_logged_and_empty_lines_are_not(tmp_path: Path) -> None:
    code = r"import sys; sys.stdout.write('1%\r50%\r100%\n\n  \n x \n')"
    assert run_python(code, tmp_path) == ["100%", " x"]
    assert run_python("import sys; print('said', file=sys.stderr)", tmp_path) == ["said"]


def test_bytes_that_are_no_text_do_not_end_the_log(tmp_path: Path) -> None:
    assert run_python(r"import os; os.write(1, b'caf\xe9\n')", tmp_path) == ["caf�"]


def test_a_command_runs_in_the_folder_with_the_flows_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTER", "1")
    code = "import os; print(os.getcwd(), *(os.environ[n] for n in ('OUTER', 'INNER', 'PYTHONUNBUFFERED', 'DVC_NO_ANALYTICS')))"
    assert run_python(code, tmp_path, env={"INNER": "2"}) == [f"{tmp_path} 1 2 1 true"]
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = "import shutil; print(shutil.which('python'))"
    assert run_python(found, tmp_path) == [str(Path(sys.executable).parent / "python")]  # what a stage calls


def test_an_error_has_the_last_20_lines_and_what_was_run(tmp_path: Path) -> None:
    with pytest.raises(DvcError) as caught:
        run_python("for n in range(25): print(n)\nexit(7)", tmp_path)
    first, *rest = str(caught.value).splitlines()
    assert first.startswith("for n in range(25)")
    assert "ended with status 7" in str(caught.value)
    assert rest[-20:] == [str(n) for n in range(5, 25)]
    assert "4" not in rest


def test_a_log_that_fails_ends_the_command(tmp_path: Path) -> None:
    def log(line: str) -> None:
        raise RuntimeError(line)

    code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    with pytest.raises(RuntimeError) as caught:
        run_command([sys.executable, "-c", code], folder=tmp_path, log=log)
    assert not psutil.pid_exists(int(str(caught.value)))


def test_a_command_that_says_much_when_it_is_ended_is_not_held_up(tmp_path: Path) -> None:
    """A pipe holds 64 KB; a stage that is interrupted may write more than that before it is done."""

    def log(line: str) -> None:
        raise RuntimeError("stop")

    code = (
        "import signal, sys, time\n"
        "def last_words(*_):\n"
        "    sys.stdout.write('x' * 1_000_000); sys.stdout.flush(); open('done', 'w').close(); sys.exit()\n"
        "signal.signal(signal.SIGINT, last_words); print('begun', flush=True); time.sleep(600)"
    )
    with pytest.raises(RuntimeError, match="stop"):
        run_command([sys.executable, "-c", code], folder=tmp_path, log=log)
    assert (tmp_path / "done").exists()


def test_sigterm_reaches_the_stage_alone_which_has_time_to_save(tmp_path: Path) -> None:
    """DVC would end at once, and the stage with it."""
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages/rl.py").write_text(
        "import signal, sys, time\n"
        "def save(*_):\n"
        "    print('saving', flush=True); time.sleep(1); open('saved', 'w').close(); sys.exit(1)\n"
        "signal.signal(signal.SIGTERM, save); print('begun', flush=True); time.sleep(600)"
    )
    dvc = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-m', 'stages.rl', 'rl-1']))"
    lines: list[str] = []

    def log(line: str) -> None:
        lines.append(line)
        if line == "begun":
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Stopped) as stopped, stop_on_signals("stopping"):
        run_command([sys.executable, "-c", dvc], folder=tmp_path, log=log, env={"PYTHONPATH": str(tmp_path)})
    assert stopped.value.number == signal.SIGTERM
    assert (tmp_path / "saved").exists()
    assert lines == ["begun", "saving"]


STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"
)


def started(code: str) -> subprocess.Popen:
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def test_who_does_not_end_when_asked_is_killed_after_the_grace() -> None:
    process = started(STUBBORN)
    end_group(process.pid, ((signal.SIGTERM, 0.4), (signal.SIGKILL, 5)))
    assert process.wait(timeout=60) == -signal.SIGKILL


def test_a_group_that_is_gone_is_ended_already() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"], start_new_session=True)
    process.wait()
    end_group(process.pid)


def test_locks_of_killed_runs_are_forgotten_and_those_of_dvc_kept(tmp_path: Path) -> None:
    """DVC frees itself of processes that are gone, not of those whose number another process has by now."""
    path = tmp_path / ".dvc" / "tmp" / "rwlock"
    path.parent.mkdir(parents=True)
    find_dvc(tmp_path)
    assert not path.exists()
    script = tmp_path / "dvc"
    script.write_text("import time; print('ready', flush=True); time.sleep(600)")
    dvc = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
    assert dvc.stdout is not None
    dvc.stdout.readline()
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    entries = {
        name: {"pid": pid, "cmd": "dvc repro"} for name, pid in (("a", dvc.pid), ("b", gone.pid), ("c", os.getpid()))
    }
    path.write_text(json.dumps({"write": entries, "read": {"x": list(entries.values())}}))
    assert find_dvc(tmp_path) == f"`dvc repro` (process {dvc.pid})"
    assert json.loads(path.read_text()) == {"write": {"a": entries["a"]}, "read": {"x": [entries["a"]]}}
    dvc.kill()
    dvc.wait()
    path.write_text('{"write": {"a"')  # torn: its writer was killed
    assert find_dvc(tmp_path) is None
    assert json.loads(path.read_text()) == {}


@pytest.mark.usefixtures("interruptible")
def test_interrupting_ends_the_group_and_those_who_left_it(tmp_path: Path) -> None:
    nap = "import time; time.sleep(600)"
    script = (
        "import subprocess, sys; import time\n"
        f"near = subprocess.Popen([sys.executable, '-c', {nap!r}])\n"
        f"far = subprocess.Popen([sys.executable, '-c', {nap!r}], start_new_session=True)\n"
        "print(near.pid, far.pid, flush=True); time.sleep(600)"
    )
    pids: list[int] = []

    def log(line: str) -> None:
        pids.extend(int(word) for word in line.split())
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        run_command([sys.executable, "-c", script], folder=tmp_path, log=log)
    assert len(pids) == 2
    assert all(map(has_ended, pids))
