"""Every locked package is listed with the licence that its metadata names."""

from __future__ import annotations

import subprocess
import sys
from email.message import Message

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "requirements"))
from licences import UNKNOWN, locked_packages, read_licence


def test_every_locked_package_has_a_line() -> None:
    shown = subprocess.run(
        [sys.executable, ROOT / "requirements/licences.py"], capture_output=True, text=True, check=True
    ).stdout
    lines = {tuple(line.split()[:2]): line for line in shown.splitlines() if line}
    locked = locked_packages(ROOT / "requirements/cpu.txt")
    assert len(locked) > 300
    assert set(locked) <= set(lines)
    assert lines["sympy", dict(locked)["sympy"]].split(maxsplit=2)[2] == "BSD License"


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"License-Expression": "MIT", "Classifier": ["License :: OSI Approved :: BSD License"]}, "MIT"),
        ({"Classifier": ["License :: OSI Approved", "License :: OSI Approved :: BSD License"]}, "BSD License"),
        ({"License": "Apache 2.0\n\nThe whole text"}, "Apache 2.0"),
        ({}, UNKNOWN),
    ],
)
def test_a_licence_is_read_where_it_is_named(fields: dict, licence: str) -> None:
    message = Message()
    for name, values in fields.items():
        for value in values if isinstance(values, list) else [values]:
            message[name] = value
    assert read_licence(message) == licence  # type: ignore[arg-type]
