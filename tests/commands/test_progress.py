"""The bar of commands that take long: drawn on a terminal, and what goes to a pipe stays as it is."""

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compass.commands.progress import draw_progress
from compass.progress import report
from compass.runs import progress, progress_display

ROOT = Path(__file__).resolve().parents[2]

WORK = """
import time
from compass.commands.progress import draw_progress
from compass.progress import report
with draw_progress("curate"):
    print("dedup    4 rows", flush=True)
    for done in range(12):
        report(done, 12, "rows", "filtering")
        time.sleep(0.2)
print("kept 3 rows")
"""


def run(stderr: int) -> str:
    """Standard output of the work."""
    words, environment = [sys.executable, "-c", WORK], os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    return subprocess.run(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr, env=environment, check=True
    ).stdout.decode()


def test_a_terminal_has_a_bar_and_a_pipe_only_the_lines() -> None:
    main, terminal = pty.openpty()
    assert run(terminal) == "dedup    4 rows\nkept 3 rows\n"
    os.close(terminal)
    drawn = b""
    try:
        while more := os.read(main, 65536):
            drawn += more
    except OSError:  # so a terminal says that nobody writes to it any more
        os.close(main)
    assert b"curate: filtering" in drawn
    assert b"of 12 rows" in drawn
    assert b"left" in drawn
    assert b"dedup" not in drawn


@pytest.mark.parametrize(("lines", "said"), [(False, []), (True, ["curate: filtering, "])])
def test_without_a_terminal_there_are_no_bars_and_lines_where_they_are_wanted(
    lines: bool, said: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_display, "LINE_EVERY_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.01)
    with draw_progress("curate", lines=lines):
        report(3, 12, "rows", "filtering")
        time.sleep(0.2)
    assert [line[:19] for line in capsys.readouterr().err.splitlines()] == said
