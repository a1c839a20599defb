"""`compass` starts at once, imports only what was asked for, and puts profiles in force without losing edits."""

import importlib.util
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compass.cli import COMMANDS, main
from compass.commands.profile import diff

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two profiles, the first in force."""
    (tmp_path / "profiles").mkdir()
    tiny = (ROOT / "profiles/tiny.yaml").read_text()
    (tmp_path / "profiles/tiny.yaml").write_text(tiny)
    (tmp_path / "profiles/other.yaml").write_text(tiny.replace("threshold: 0.8", "threshold: 0.7"))
    shutil.copy(tmp_path / "profiles/tiny.yaml", tmp_path / "params.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_help_takes_less_than_a_second_and_lists_every_command() -> None:
    start = time.monotonic()
    found = subprocess.run([sys.executable, "-m", "compass.cli", "--help"], capture_output=True, text=True, check=True)
    assert time.monotonic() - start < 1
    assert all(name in found.stdout for name in COMMANDS)


def test_the_committed_parameters_are_the_tiny_profile() -> None:
    assert (ROOT / "params.yaml").read_bytes() == (ROOT / "profiles/tiny.yaml").read_bytes()


def test_use_puts_a_profile_in_force(repository: Path) -> None:
    assert main(["profile", "use", "other"]) == 0
    assert (repository / "params.yaml").read_bytes() == (repository / "profiles/other.yaml").read_bytes()


def test_use_keeps_edits_unless_forced(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edited = (repository / "params.yaml").read_text().replace("seed: 0", "seed: 7", 1)
    (repository / "params.yaml").write_text(edited)
    assert main(["profile", "use", "other"]) == 1
    assert "seed: 7 (profile tiny: 0)" in capsys.readouterr().err
    assert (repository / "params.yaml").read_text() == edited
    assert main(["profile", "use", "other", "--force"]) == 0


def test_an_unknown_profile_is_named_with_those_there_are(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "use", "huge"]) == 1
    assert "no profile 'huge' (profiles/huge.yaml); profiles: other, tiny" in capsys.readouterr().err


def test_an_invalid_profile_is_not_put_in_force(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "profiles/other.yaml").write_text("profile: other\nsede: 1\n")
    assert main(["profile", "use", "other"]) == 1
    assert "sede" in capsys.readouterr().err


def test_diff_names_key_and_both_values(repository: Path) -> None:
    assert diff(Path("profiles/tiny.yaml"), Path("profiles/other.yaml")) == [("dedup.threshold", "0.8", "0.7")]


def test_list_marks_the_profile_in_force(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "list"]) == 0
    assert capsys.readouterr().out == "  other\n* tiny\n"


def test_every_command_has_its_module() -> None:
    for path, _ in COMMANDS.values():
        assert importlib.util.find_spec(path) is not None, path
