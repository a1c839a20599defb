"""The checks run at once; one that hangs or fails does not keep the others from being told."""

import re
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from compass.checks import network
from compass.checks.doctor import examine
from compass.checks.finding import Finding, Place
from compass.checks.software import VARIABLES

ROOT = Path(__file__).resolve().parents[2]


def check_well(place: Place) -> Iterator[Finding]:
    yield Finding("well", "it is", level="ok")


def check_broken_itself(place: Place) -> Iterator[Finding]:
    raise RuntimeError("no such thing")


def check_far_away(place: Place) -> Iterator[Finding]:
    threading.Event().wait()  # forever
    yield Finding("far", "too late", level="ok")


check_far_away.__module__ = network.__name__


def check_slow(place: Place) -> Iterator[Finding]:
    time.sleep(0.5)
    yield Finding("slow", "in time", level="ok")


def test_a_check_that_hangs_or_fails_costs_neither_the_others_nor_the_time(tmp_path: Path) -> None:
    found = examine(tmp_path, [check_far_away, check_slow, check_broken_itself, check_well, check_slow], network_s=0.2)
    assert [(one.where, one.level) for one in found] == [
        ("far away", "warning"), ("slow", "ok"), ("broken itself", "warning"), ("well", "ok"), ("slow", "ok"),
    ]  # fmt: skip
    assert found[0].found == "not known after 0.2 s"
    assert found[2].found == "could not be checked: RuntimeError: no such thing"


def test_every_variable_that_the_project_reads_is_known() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "compass", "flows", "stages", "requirements", "Makefile", "docs", "README.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    texts = [
        (ROOT / name).read_text(encoding="utf-8") for name in listed if name.endswith((".py", ".md", ".sh", "Makefile"))
    ]
    used = {name for text in texts for name in re.findall(r"\bCOMPASS_[A-Z_]*[A-Z]\b", text)}
    assert used <= set(VARIABLES)
