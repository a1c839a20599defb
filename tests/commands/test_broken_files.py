"""A file that is no YAML is named in one line by every command that reads it."""

from pathlib import Path

import pytest

from compass.cli import main
from tests.conftest import copy_of_the_repository

BROKEN = "a: [1\nb: {"
REFUSED = [
    ("params.yaml", ["run"]),
    ("params.yaml", ["profile", "list"]),
    ("params.yaml", ["profile", "use", "tiny"]),
    ("params.yaml", ["rl", "show", "--stage", "rl-1"]),
    ("params.yaml", ["doctor"]),
    ("params.yaml", ["status"]),
    ("dvc.yaml", ["run"]),
    ("dvc.yaml", ["profile", "use", "tiny"]),
    ("dvc.yaml", ["doctor"]),
    ("dvc.yaml", ["status"]),
    ("dvc.lock", ["run"]),
    ("dvc.lock", ["status"]),
]
SHOWS = ("status",)
"""Commands that show the fault in their answer, and end well."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_the_repository(tmp_path_factory.mktemp("broken"))


@pytest.mark.parametrize(
    ("name", "words"), REFUSED, ids=lambda value: value if isinstance(value, str) else " ".join(value)
)
def test_a_file_that_is_no_yaml_is_named_in_one_line(
    repository: Path, name: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repository)
    path = repository / name
    before = path.read_bytes() if path.exists() else None
    path.write_text(BROKEN)
    try:
        status = main(words)
    finally:
        path.unlink() if before is None else path.write_bytes(before)
    printed = "".join(capsys.readouterr())
    (line,) = [line for line in printed.splitlines() if "not readable as YAML" in line]
    assert name in line
    assert "line 2, column 2" in line
    assert "Traceback" not in printed
    assert (status == 0) is (words[0] in SHOWS)
