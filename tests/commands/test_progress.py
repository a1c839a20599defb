"""The bar of commands that take long: drawn on a terminal, and what goes to a pipe stays as it is."""

import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from compass.commands.progress import draw_progress
from compass.progress import Step, report
from compass.runs import progress, progress_display

ROOT = Path(__file__).resolve().parents[2]

WORK = """
import select, sys, time
from compass.commands.progress import draw_progress
from compass.progress import report
with draw_progress("curate"):
    print("dedup    4 rows", flush=True)
    done = 0
    while not select.select([sys.stdin], [], [], 0.2)[0]:  # until enough was drawn
        done += 1
        report(done, 1200, "rows", "filtering")
print("kept 3 rows")
"""


def test_a_terminal_has_a_bar_and_a_pipe_only_the_lines() -> None:
    main, terminal = pty.openpty()
    environment, pipe = os.environ | {"TERM": "xterm", "COLUMNS": "120"}, subprocess.PIPE
    words = [sys.executable, "-c", WORK]
    with subprocess.Popen(words, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=terminal, env=environment) as process:
        os.close(terminal)
        drawn = b""
        try:
            while more := os.read(main, 65536):
                drawn += more
                if b"left" in drawn:
                    process.stdin.close()
        except OSError:  # so a terminal says that nobody writes to it any more
            os.close(main)
        assert process.stdout.read() == b"dedup    4 rows\nkept 3 rows\n"
    assert process.returncode == 0
    assert b"curate: filtering" in drawn
    assert b"of 1,200 rows" in drawn
    assert b"left" in drawn
    assert b"dedup" not in drawn


@pytest.mark.parametrize(("lines", "said"), [(False, []), (True, ["curate: filtering, "])])
def test_without_a_terminal_there_are_no_bars_and_lines_where_they_are_wanted(
    lines: bool, said: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = threading.Event()

    class Noted(progress_display.Display):
        def show(self, step: Step, seconds_left: float | None) -> None:
            super().show(step, seconds_left)
            if step.done:
                shown.set()

    monkeypatch.setattr(progress_display, "Display", Noted)
    monkeypatch.setattr(progress_display, "LINE_EVERY_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.01)
    with draw_progress("curate", lines=lines):
        report(3, 12, "rows", "filtering")
        assert not lines or shown.wait(60)
    assert [line[:19] for line in capsys.readouterr().err.splitlines()] == said
