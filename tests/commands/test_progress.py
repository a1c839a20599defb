"""The bar of commands that take long: drawn on a terminal, and what goes to a pipe stays as it is."""

import os
import pty
import subprocess
import sys
from pathlib import Path

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


def test_without_a_terminal_nothing_is_drawn(tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("wb") as file:
        assert run(file.fileno()) == "dedup    4 rows\nkept 3 rows\n"
    assert (tmp_path / "stderr").read_bytes() == b""
