"""A check that fails does not keep the others from being shown."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from compass.checks.doctor import VARIABLES, Place, examine
from compass.checks.finding import Finding
from compass.errors import UserError

ROOT = Path(__file__).resolve().parents[2]


def check_well(place: Place) -> Iterator[Finding]:
    yield Finding("well", "it is", level="ok")


def check_broken_itself(place: Place) -> Iterator[Finding]:
    raise RuntimeError("no such thing")


def check_a_file(place: Place) -> Iterator[Finding]:
    raise UserError("it cannot be read", "repair it")


def test_a_check_that_fails_does_not_hide_what_the_others_find(tmp_path: Path) -> None:
    assert list(examine(Place(tmp_path), [check_broken_itself, check_a_file, check_well])) == [
        Finding("broken itself", "could not be checked: RuntimeError: no such thing", level="warning"),
        Finding("a file", "it cannot be read", "repair it"),
        Finding("well", "it is", level="ok"),
    ]


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
