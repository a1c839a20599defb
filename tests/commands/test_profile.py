"""`compass profile` puts complete parameter sets in force without losing edits, and says how two differ."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from compass.cli import main
from compass.commands.profile import differences
from compass.settings import SettingsError

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


def test_the_committed_parameters_are_the_tiny_profile() -> None:
    assert (ROOT / "params.yaml").read_bytes() == (ROOT / "profiles/tiny.yaml").read_bytes()


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


@pytest.mark.parametrize(("edits", "told"), [(10, None), (11, "and 1 more"), (12, "and 2 more")])
def test_at_most_ten_edits_are_named(
    repository: Path, capsys: pytest.CaptureFixture[str], edits: int, told: str | None
) -> None:
    added = "".join(f"extra_{number:02}: 1\n" for number in range(edits))
    (repository / "params.yaml").write_text((repository / "profiles/tiny.yaml").read_text() + added)
    assert main(["profile", "use", "other"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "compass profile: params.yaml was edited and would be lost:"
    assert [line for line in lines if "extra_" in line] == [
        f"  extra_{number:02}: 1 (profile tiny: (default))" for number in range(10)
    ]
    assert [line.strip() for line in lines if "more" in line] == ([told] if told else [])
    assert lines[-1].endswith("`compass profile use other --force`.")


def test_diff_prints_a_header_and_one_line_per_parameter(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "mine.yml").write_text((repository / "profiles/tiny.yaml").read_text() + "added: 1\n")
    assert main(["profile", "diff", "other", "mine.yml"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["setting", "other", "mine.yml"],
        ["added", "(default)", "1"],
        ["dedup.threshold", "0.7", "0.8"],
    ]
    assert main(["profile", "diff", "tiny", "other", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"setting": "dedup.threshold", "a": "0.8", "b": "0.7"}]
    assert main(["profile", "diff", "tiny", "tiny"]) == 0
    assert capsys.readouterr().out == "tiny and tiny have the same settings\n"


def test_diff_compares_sources_by_their_names(repository: Path) -> None:
    one, two = ({"name": name, "path": f"{name}.csv", "adapter": "math"} for name in ("one", "two"))
    (repository / "a.yaml").write_text(json.dumps({"collect": {"sources": [one, two]}}))
    (repository / "b.yaml").write_text(json.dumps({"collect": {"sources": [two | {"path": "new.csv"}, one]}}))
    assert differences(Path("a.yaml"), Path("b.yaml")) == [("collect.sources.two.path", "two.csv", "new.csv")]


def test_files_that_are_no_parameters_are_named(repository: Path) -> None:
    (repository / "broken.yaml").write_text("a: [")
    with pytest.raises(SettingsError, match=r"broken\.yaml: not readable as YAML"):
        differences(Path("broken.yaml"), Path("profiles/tiny.yaml"))
    (repository / "list.yaml").write_text("- 1")
    assert differences(Path("list.yaml"), Path("list.yaml")) == []


def test_outside_of_the_repository_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["profile", "use", "tiny"]) == 1
    assert capsys.readouterr().err == (
        "compass profile: there is no profile 'tiny' (profiles/tiny.yaml); profiles: none here: "
        "run it from the repository's root\n"
    )


def test_a_profile_is_put_in_force_over_another_or_where_none_was(repository: Path) -> None:
    params = repository / "params.yaml"
    for name in ("other", "tiny"):
        assert main(["profile", "use", name]) == 0
        assert params.read_bytes() == (repository / f"profiles/{name}.yaml").read_bytes()
    params.unlink()
    assert main(["profile", "use", "other"]) == 0
    assert params.read_bytes() == (repository / "profiles/other.yaml").read_bytes()


def test_list_marks_the_profile_in_force(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "list"]) == 0
    assert capsys.readouterr().out == "  other\n* tiny\n"
    (repository / "params.yaml").unlink()
    assert main(["profile", "list"]) == 0
    assert capsys.readouterr().out == "  other\n  tiny\n"
