"""`compass benchmarks`: what is here, what is wrong with it, and how to get the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compass.cli import main
from compass.evaluation.benchmarks import BENCHMARKS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPASS_DATA", str(tmp_path))
    (tmp_path / "benchmarks").mkdir()
    return tmp_path / "benchmarks"


def facts(capsys: pytest.CaptureFixture[str], *names: str) -> tuple[int, dict[str, dict]]:
    status = main(["benchmarks", "--json", *names])
    return status, {fact["name"]: fact for fact in json.loads(capsys.readouterr().out)}


def test_all_are_listed_with_the_command_that_gets_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["benchmarks"]) == 0
    shown = capsys.readouterr().out
    assert f"COMPASS_DATA is {folder.parent}" in shown
    for name, known in BENCHMARKS.items():
        word = "read from" if known.copies[-1].source.hub else "looked for"
        assert f"{name:19} {known.rows:>5,} problems   not here, {word} " in shown
    assert "get it: compass data get gsm8k\n" in shown
    status, found = facts(capsys)
    assert status == 0
    assert {fact["state"] for fact in found.values()} == {"missing"}


def test_a_missing_one_that_is_asked_for_is_a_failure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["benchmarks", "minerva-math"]) == 1
    shown = capsys.readouterr().out
    for part in (
        "looked for: $COMPASS_DATA/benchmarks/minerva_math.jsonl",
        "rules: numbers within 1%",
        "citation: Lewkowycz",
    ):
        assert part in shown


def test_a_copy_that_is_not_the_published_one_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": str(n), "problem": f"What is {n}?", "answer": str(n), "level": "1"} for n in range(30)]
    (folder / "aime2024.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "aime2025.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "amc.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    status, found = facts(capsys, "aime-2024", "aime-2025", "amc-2023")
    assert status == 1
    assert {name: fact["state"] for name, fact in found.items()} == {
        "aime-2024": "wrong", "aime-2025": "here, not hashed before", "amc-2023": "wrong",
    }  # fmt: skip
    assert "expected the content hash" in found["aime-2024"]["problem"]
    assert "expected 83 problems, found 30" in found["amc-2023"]["problem"]
    assert (found["aime-2025"]["found"], len(found["aime-2025"]["sha256"])) == (30, 64)
    assert facts(capsys, "aime-2025")[0] == 0
    assert main(["benchmarks"]) == 1
    assert "Move $COMPASS_DATA/benchmarks/amc.jsonl away" in capsys.readouterr().out


def test_an_unreadable_file_and_an_unknown_name_are_clear(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "math500.jsonl").write_text("{broken")
    status, found = facts(capsys, "math-500")
    assert status == 1
    assert "math500.jsonl: row 0 is not JSON" in found["math-500"]["problem"]
    assert main(["benchmarks", "math-5000"]) == 1
    assert "benchmark 'math-5000' is not known; known are aime-2024" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "COMPASS_DATA is not set: no local file is seen"),
        ("/nowhere/at/all", "COMPASS_DATA is /nowhere/at/all, "),
    ],
)
def test_a_data_folder_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, capsys, value, said) -> None:
    monkeypatch.delenv("COMPASS_DATA", raising=False)
    if value:
        monkeypatch.setenv("COMPASS_DATA", value)
    assert main(["benchmarks"]) == 0
    assert capsys.readouterr().out.startswith(said)
