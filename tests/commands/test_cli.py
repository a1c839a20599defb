"""`compass` starts at once, imports only what was asked for, and says in one line what the user can put right."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import types
from typing import Any

import pytest

from compass import cli
from compass.cli import COMMANDS, build_app, main
from compass.command_help import examples
from compass.errors import UserError


def test_help_lists_every_command_and_the_exit_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"│ {name} " in shown for name in COMMANDS)
    assert "the data card of a curated set" in shown
    named = [name for names in cli.SECTIONS.values() for name in names]
    assert len(named) == len(set(named) & set(COMMANDS))  # each in one section
    said = shown[shown.index("Exit status:") :]
    assert all(f"{status} " in said for status in (0, 1, 2, 3, 130))
    assert main([]) == 2
    assert "ledger" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("compass-thinker ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path, line = COMMANDS[name]
    module, _, member = path.partition(":")
    target = getattr(importlib.import_module(module), member)
    functions = [target] if not hasattr(target, "resolved_commands") else [
        one.default_command for key, one in target.resolved_commands().items() if not key.startswith("-")
    ]  # fmt: skip
    for function in functions:
        assert examples(function).startswith("compass "), function
        assert f"compass {name} " in examples(function), function
    assert line[0].islower()
    assert not line.endswith(".")
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: compass {name}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "no command 'nothing'"),
        (["ledgr"], "`compass ledger`"),
        (["completion", "bash", "--instal"], "--install"),
        (["completion", "bsh"], '"bash"'),
        (["rollouts", "rl-9", "5"], "`compass rollouts --help`"),
        (["--debg"], "--debg"),
    ],
)
def test_a_wrong_call_is_one_line_and_status_2(words: list[str], said: str, capsys) -> None:
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert said in printed.err


class BadInputError(UserError):
    exit_status = 7


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """A subcommand `ledger` whose work is set by the test."""
    module = types.SimpleNamespace(work=lambda given: 0)

    def ledger(*, given: str = "") -> int:
        """Try.

        Examples:
            compass ledger --given x    try it
        """
        return module.work(given)

    module.ledger = ledger
    monkeypatch.setitem(COMMANDS, "ledger", ("compass.commands.ledger:ledger", "try"))
    monkeypatch.setattr(cli, "import_module", lambda path: module)
    return module


@pytest.mark.parametrize(("error", "status"), [(UserError, 1), (BadInputError, 7)])
def test_an_error_of_the_users_making_is_one_line(
    command: types.SimpleNamespace, capsys: pytest.CaptureFixture[str], error: type[UserError], status: int
) -> None:
    def work(given: str) -> int:
        raise error("x.csv: no such file")

    command.work = work
    assert main(["ledger"]) == status
    assert capsys.readouterr().err == "compass ledger: x.csv: no such file\n"
    with pytest.raises(error):
        main(["ledger", "--debug"])
    command.work = lambda given: 1 // 0
    with pytest.raises(ZeroDivisionError):  # any other keeps its traceback
        main(["ledger"])


def test_debug_after_two_dashes_is_an_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "--data", "nowhere", "--", "--debug", "x"]) == 1
    assert capsys.readouterr().err.startswith("compass why: nowhere: ")


@pytest.mark.parametrize(("end", "status"), [(KeyboardInterrupt, 130), (BrokenPipeError, 141), (5, 5)])
def test_the_process_ends_with_the_commands_status_also_after_an_interrupt_and_a_closed_pipe(
    command: types.SimpleNamespace, monkeypatch: pytest.MonkeyPatch, end: Any, status: int
) -> None:
    def work(given: str) -> int:
        if isinstance(end, int):
            return end if given == "x" else 0
        raise end

    command.work = work
    monkeypatch.setattr(cli.sys, "argv", ["compass", "ledger", "--given", "x"])
    monkeypatch.setattr(cli.sys, "stderr", types.SimpleNamespace(close=lambda: None))
    with pytest.raises(SystemExit) as ended:
        cli.entry()
    assert ended.value.code == status


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_knows_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in COMMANDS)
    assert "install" in script


def test_the_bash_completion_completes_a_command_and_an_option() -> None:
    script = build_app().generate_completion(shell="bash")
    ask = "COMP_WORDS=({words}); COMP_CWORD={last}; _compass compass '' ''; printf '%s\\n' \"${{COMPREPLY[@]}}\""  # as bash does on Tab
    for words, last, found in (("compass compl", 1, "completion"), ("compass completion --in", 2, "--install")):
        done = subprocess.run(
            ["bash", "-c", script + "\n" + ask.format(words=words, last=last)], capture_output=True, text=True
        )
        assert found in done.stdout.split(), done


@pytest.mark.parametrize(("words", "commands"), [(["--help"], []), (["ledger", "--help"], ["compass.commands.ledger"])])
def test_help_imports_little_and_only_the_chosen_command(words: list[str], commands: list[str]) -> None:
    """Help waits for its imports: without a library for data or settings they are about 240 modules."""
    code = f"import json, sys; from compass.cli import main\nmain({words!r})\nprint(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = json.loads(ran.stdout.splitlines()[-1])
    assert [name for name in modules if name.startswith("compass.commands.")] == commands
    assert words != ["--help"] or len(modules) < 350
