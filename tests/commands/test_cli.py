"""`compass` starts at once, imports only what was asked for, and says in one line what the user can put right."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import types

import pytest

from compass import cli
from compass.cli import COMMANDS, main
from compass.errors import UserError


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: compass ")
    assert all(f"    {name} " in shown or f"    {name}\n" in shown for name in COMMANDS)
    assert "the data card of a curated set" in shown


def test_every_command_has_its_module_and_its_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name, (path, line) in COMMANDS.items():
        assert importlib.util.find_spec(path) is not None, path
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        assert ended.value.code == 0
        shown = capsys.readouterr().out
        assert shown.startswith(f"usage: compass {name} ")
        assert name == "verify" or line[1:] in " ".join(shown.split())


def test_only_the_chosen_command_is_imported() -> None:
    code = (
        "import sys; from compass.cli import main\n"
        "try: main(['ledger', '--help'])\nexcept SystemExit: pass\n"
        "print(sorted(name for name in sys.modules if name.startswith('compass.commands.')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "['compass.commands.ledger']"


@pytest.mark.parametrize("words", [[], ["nothing"], ["ledger", "--unknown"]])
def test_a_wrong_call_ends_with_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: compass")


class BadInputError(UserError):
    exit_status = 7


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """A subcommand `ledger` whose `run` is set by the test."""
    module = types.SimpleNamespace(configure=lambda parser: parser.add_argument("--given"), run=lambda args: 0)
    monkeypatch.setattr(cli.importlib, "import_module", lambda path: module)
    return module


def test_the_exit_status_is_the_commands(command: types.SimpleNamespace) -> None:
    command.run = lambda args: 5 if args == argparse.Namespace(command="ledger", given="x") else 0
    assert main(["ledger", "--given", "x"]) == 5


@pytest.mark.parametrize(("error", "status"), [(UserError, 1), (BadInputError, 7)])
def test_an_error_of_the_users_making_is_one_line(
    command: types.SimpleNamespace, capsys: pytest.CaptureFixture[str], error: type[UserError], status: int
) -> None:
    def run(args: argparse.Namespace) -> int:
        raise error("x.csv: no such file")

    command.run = run
    assert main(["ledger"]) == status
    assert capsys.readouterr().err == "compass ledger: x.csv: no such file\n"


def test_any_other_error_keeps_its_traceback(command: types.SimpleNamespace) -> None:
    command.run = lambda args: 1 // 0
    with pytest.raises(ZeroDivisionError):
        main(["ledger"])


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (BrokenPipeError, 141)])
def test_an_interrupt_and_a_closed_pipe_end_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException], status: int
) -> None:
    def ended() -> int:
        raise error

    monkeypatch.setattr(cli, "main", ended)
    monkeypatch.setattr(cli.sys, "stderr", types.SimpleNamespace(close=lambda: None))
    with pytest.raises(SystemExit) as end:
        cli.entry()
    assert end.value.code == status


def test_the_console_script_ends_with_the_status_of_main(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "main", lambda: 3)
    with pytest.raises(SystemExit) as end:
        cli.entry()
    assert end.value.code == 3
