"""Running `dvc` for a flow: its command line, its lines, and that nothing of it lives on."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from flows import pipeline as pipeline_module
from flows import stage as stage_module
from flows.repro import ReproError, dvc_command, end_group, parse_parameters, run_group


def run_python(code: str, folder: Path, **options) -> list[str]:
    lines: list[str] = []
    run_group([sys.executable, "-c", code], folder=folder, log=lines.append, **options)
    return lines


def test_the_command_line_of_an_experiment() -> None:
    assert dvc_command("dedup", single=True, parameters={"rl-1.steps": 10, "a.b": [1, "x"], "c": None}) == [
        *(sys.executable, "-m", "dvc", "--wait-for-lock", "exp", "run"),
        *("--set-param", "rl-1.steps=10", "--set-param", 'a.b=[1, "x"]', "--set-param", "c=null"),
        *("--single-item", "dedup"),
    ]
    assert dvc_command(None, parameters={}) == [sys.executable, "-m", "dvc", "--wait-for-lock", "repro"]


@pytest.mark.parametrize(("value", "key"), [({"steps": 1}, "rl-1.steps"), ({}, "rl-1.NAME")])
def test_a_section_is_given_key_by_key(value: dict, key: str) -> None:
    with pytest.raises(ValueError, match=rf"rl-1: give each of its keys by itself \({key}=\.\.\.\)"):
        dvc_command(None, parameters={"rl-1": value})


def test_a_parameters_value_may_hold_an_equals_sign() -> None:
    assert parse_parameters(["report.title=a=b", "x="]) == {"report.title": "a=b", "x": None}
    assert parse_parameters([]) == {}


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


def test_an_error_has_the_last_20_lines_and_what_was_run(tmp_path: Path) -> None:
    with pytest.raises(ReproError) as caught:
        run_python("for n in range(25): print(n)\nexit(7)", tmp_path)
    first, *rest = str(caught.value).splitlines()
    assert first.startswith("for n in range(25)")
    assert "ended with status 7:" in str(caught.value)
    assert rest[-20:] == [str(n) for n in range(5, 25)]
    assert "4" not in rest


def test_a_log_that_fails_ends_the_command(tmp_path: Path) -> None:
    def log(line: str) -> None:
        raise RuntimeError(line)

    code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    with pytest.raises(RuntimeError) as caught:
        run_group([sys.executable, "-c", code], folder=tmp_path, log=log)
    assert not psutil.pid_exists(int(str(caught.value)))


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
    begun = time.monotonic()
    end_group(process.pid, grace_s=0.4)
    assert time.monotonic() - begun >= 0.4
    assert process.wait(timeout=5) == -9


def test_nobody_waits_for_the_grace_of_those_who_have_ended() -> None:
    process = started("import time; print('ready', flush=True); time.sleep(600)")
    begun = time.monotonic()
    end_group(process.pid, grace_s=60)
    assert time.monotonic() - begun < 30
    assert process.wait(timeout=5) == -15


def test_a_group_that_is_gone_is_ended_already() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"], start_new_session=True)
    process.wait()
    end_group(process.pid)


@pytest.mark.parametrize(
    ("module", "words", "call"),
    [
        (pipeline_module, [], (None, None)),
        (pipeline_module, ["dedup", "-S", "dedup.threshold=0.9"], ("dedup", {"dedup.threshold": 0.9})),
        (stage_module, ["dedup"], ("dedup", None)),
        (stage_module, ["rl-1", "-S", "a=1", "--set-param", "b=x"], ("rl-1", {"a": 1, "b": "x"})),
    ],
)
def test_the_command_lines_of_the_flows(module, words, call, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple] = []
    monkeypatch.setattr(module, module.__name__.rpartition(".")[2], lambda *given: calls.append(given))
    monkeypatch.setattr(sys, "argv", ["flow", *words])
    module._main()
    assert calls == [call]


def test_a_stage_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for module, words in ((stage_module, []), (stage_module, ["rl-9"]), (pipeline_module, ["rl-9"])):
        monkeypatch.setattr(sys, "argv", ["flow", *words])
        with pytest.raises(SystemExit):
            module._main()
    assert "rl-9" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["dedup", None])
def test_a_task_calls_dvc_for_its_flow_run(target, monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    calls: list[tuple] = []
    monkeypatch.setattr(stage_module, "run_group", lambda command, **options: calls.append((command, options)))
    monkeypatch.setattr(stage_module, "get_run_logger", lambda: SimpleNamespace(info="log"))
    run = SimpleNamespace(flow_run=SimpleNamespace(id="7"), task_run=SimpleNamespace(parameters={"target": target}))
    monkeypatch.setattr(stage_module, "runtime", run)
    stage_module.dvc.fn(target, True, {"a": 1}, "folder")
    options = {"folder": "folder", "log": "log", "env": {"COMPASS_PIPELINE_RUN": "prefect-7"}}
    assert calls == [(dvc_command(target, single=True, parameters={"a": 1}), options)]
    assert stage_module._task_name() == f"dvc {target or 'all stages'}"


def test_a_flow_of_one_stage_leaves_out_those_it_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple] = []
    for module in (stage_module, pipeline_module):
        monkeypatch.setattr(module, "dvc", lambda *given: calls.append(given))
    stage_module.stage.fn("dedup", {"a": 1}, "folder")
    pipeline_module.pipeline.fn("dedup", {"a": 1}, "folder")
    pipeline_module.pipeline.fn()
    expected = [("dedup", True, {"a": 1}, "folder"), ("dedup", False, {"a": 1}, "folder"), (None, False, None, ".")]
    assert calls == expected
    assert os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
