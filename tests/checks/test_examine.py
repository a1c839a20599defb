"""A check that fails does not keep the others from being shown."""

from collections.abc import Iterator
from pathlib import Path

from compass.checks.doctor import Place, examine
from compass.checks.finding import Finding
from compass.errors import UserError


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
