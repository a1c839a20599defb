"""The run in a terminal: the same state as the page's, with nothing in it that a terminal would obey."""

import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from compass.commands.watch import watch
from compass.errors import UserError
from compass.live.view import Reader
from compass.page.terminal import draw, safe, sparkline
from compass.progress import report
from compass.runs import progress
from compass.runs.progress import stage_progress
from tests.live.conftest import ROOT


def shown(root: Path, stage: str = "", width: int = 100) -> str:
    page = io.StringIO()
    Console(file=page, width=width).print(draw(Reader(root).state(stage)))
    return page.getvalue()


def test_a_running_stage_with_its_bar_curves_and_responses(
    repository: Path, trainer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.01)
    with stage_progress("rl-1", repository):
        report(3, 20, "iterations", "iteration 4: update", detail="reward +0.75")
        for step in (1, 2, 3):
            trainer.iteration(step)
        trainer.rollouts(1)
        trainer.findings.fire("cut_off", 2, "60% of the responses are cut off")
        while not Reader(repository).state()["stages"][7]["done"]:
            pass
        said = shown(repository)
    assert "● rl-1 15%" in said
    assert "iteration 4: update · 3 of 20 iterations · reward +0.75" in said
    assert "Right responses, %" in said
    assert "▁▅█ 62.5% → 87.5%" in said
    assert "Time per iteration, s         ▁▁▁ 4 → 4" in said
    assert "Guards: cut_off (warn) in iteration 2; 12 on and quiet" in said
    assert "sample 1 · RIGHT · answer 2 · equal" in said
    assert "sample 0 · WRONG · answer 2 · different" in said
    assert said.count("gold 2") == 2


def test_percents_of_a_stage_are_of_nothing(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.01)
    with stage_progress("base", repository):
        report(12.3, 100, "percent", "pre-training", detail="step 40, loss 1.200")
        while not Reader(repository).state()["stages"][3]["done"]:
            pass
        said = shown(repository)
    assert "pre-training · 12% · step 40, loss 1.200" in said


def test_what_a_terminal_would_obey_is_shown_by_its_number(repository: Path, trainer: Any) -> None:
    evil = "\x1b]0;title\x07\x1b[2J[red]no markup[/red]\u202e\x9b31m"
    with stage_progress("rl-1", repository):
        trainer.iteration(1)
        trainer.rollouts(1, response=evil)
        trainer.findings.fire("cut_off", 1, evil)
        said = shown(repository, width=200)
    assert not set("\x1b\x07\x9b\u202e") & set(said)
    assert "⟨U+001B⟩[2J[red]no markup[/red]⟨U+202E⟩" in said
    assert safe("a\tb\nc") == "a\tb\nc"


def test_curves_are_at_most_a_line() -> None:
    assert sparkline([1.0, 1.0]) == "▁▁"
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█"
    assert len(sparkline([float(n) for n in range(1000)])) == 40


def test_watch_prints_once_where_the_output_is_no_terminal(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository)
    assert watch() == 0
    assert "○ collect" in capsys.readouterr().out
    assert watch("dedup", json=True) == 0
    assert json.loads(capsys.readouterr().out)["selected"] == "dedup"
    with pytest.raises(UserError, match="no stage 'rl-9'; there are collect, dedup"):
        watch("rl-9")


def test_watch_follows_the_run_on_a_terminal_until_it_is_interrupted(repository: Path, trainer: Any) -> None:
    main, terminal = pty.openpty()
    with stage_progress("rl-1", repository):
        trainer.iteration(1)
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "120", "LINES": "50", "PYTHONPATH": str(ROOT)}
        words = [sys.executable, "-m", "compass.cli", "watch"]
        process = subprocess.Popen(
            words,
            cwd=repository,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=environment,
            # Tests that were started in the background ignore Ctrl-C, and so would what they start.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        os.close(terminal)
        try:
            read_until(main, b"62.5%")
            trainer.iteration(2)
            read_until(main, b"75.0%")
            process.send_signal(signal.SIGINT)
            read_until(main, None)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
            process.wait()
            os.close(main)


def read_until(file: int, wanted: bytes | None) -> None:
    """Read a terminal until it says something, or with None until its last user is gone."""
    said, deadline = b"", time.monotonic() + 300
    while wanted is None or wanted not in said:
        assert time.monotonic() < deadline, said[-500:]
        assert select.select([file], [], [], 300)[0], said
        try:
            said += os.read(file, 65536)
        except OSError:  # so a terminal says that nobody writes to it any more
            assert wanted is None, said
            return
