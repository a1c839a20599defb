"""`compass profile` puts complete parameter sets in force without losing edits, and says how two differ."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from compass.cli import main
from flows.overrides import compare_files

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
    assert "seed: 7 in params.yaml, 0 in profiles/tiny.yaml" in capsys.readouterr().err
    assert (repository / "params.yaml").read_text() == edited
    assert main(["profile", "use", "other", "--force"]) == 0


@pytest.mark.parametrize(("edits", "told"), [(10, None), (11, "and 1 more"), (12, "and 2 more")])
def test_at_most_ten_edits_are_named(
    repository: Path, capsys: pytest.CaptureFixture[str], edits: int, told: str | None
) -> None:
    added = "".join(f"extra_{number:02}: 1\n" for number in range(edits))
    (repository / "params.yaml").write_text((repository / "profiles/tiny.yaml").read_text() + added)
    assert main(["profile", "use", "other"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("would be lost: no profile has the same values. It differs from profiles/tiny.yaml in")
    assert [line for line in lines if "extra_" in line] == [
        f"  extra_{number:02}: 1 in params.yaml, (default) in profiles/tiny.yaml" for number in range(10)
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
    assert compare_files(Path("a.yaml"), Path("b.yaml")) == [
        ("collect.sources", "one,two", "two,one"),  # of two duplicates the row of the earlier source stays
        ("collect.sources.two.path", "two.csv", "new.csv"),
    ]


def test_a_profile_is_put_in_force_over_another_or_where_none_was(repository: Path) -> None:
    params = repository / "params.yaml"
    for name in ("other", "tiny", "other"):
        assert main(["profile", "use", name]) == 0
        assert params.read_bytes() == (repository / f"profiles/{name}.yaml").read_bytes()
        if name == "tiny":
            params.unlink()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["use", "huge"], "no profile 'huge' (profiles/huge.yaml); profiles: other, tiny"),
        (["use", "broken"], "broken.yaml: not readable as YAML"),
        (["use", "unknown"], "sede"),
        (["diff", "broken", "tiny"], "broken.yaml: not readable as YAML"),
        (["use", "none here"], "profiles: none here: run it from the repository's root"),
    ],
)
def test_a_profile_that_cannot_be_used_is_named(repository: Path, capsys, monkeypatch, words, message) -> None:
    (repository / "profiles/broken.yaml").write_text("a: [")
    (repository / "profiles/unknown.yaml").write_text("profile: other\nsede: 1\n")
    if words[1] in ("huge", "none here"):
        for name in ("broken", "unknown"):
            (repository / f"profiles/{name}.yaml").unlink()
    if words[1] == "none here":
        (repository / "outside").mkdir()
        monkeypatch.chdir(repository / "outside")
    assert main(["profile", *words]) == 1
    assert message in capsys.readouterr().err
    if words[1] not in ("none here",):
        assert (repository / "params.yaml").read_bytes() == (repository / "profiles/tiny.yaml").read_bytes()


def test_list_marks_the_profile_in_force(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "list"]) == 0
    assert capsys.readouterr().out == "  other\n* tiny\n"
    (repository / "params.yaml").unlink()
    assert main(["profile", "list"]) == 0
    assert capsys.readouterr().out == "  other\n  tiny\n"
