"""The tables in the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compass.page.blocks import Table
from compass.page.terminal import WIDTH, print_blocks
from compass.report.terminal_tables import main, scores_table


def test_the_table_names_a_benchmark_once_and_shows_what_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    score = {"accuracy": 0.5, "ci95": (0.25, 0.75), "samples": 2, "pass@2": 0.625}
    gain = {"over_base": -0.125, "over_base_ci95": (-0.2, -0.05)}
    scores = {
        "base": {"easy": score, "average": score},
        "rl-1": {"easy": score | {"greedy": 1.0}, "average": score | gain},
    }
    print_blocks([scores_table(scores)])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["Evaluation,", "percent"],
        ["benchmark", "measure", "base", "rl-1"],
        ["easy", "avg@2", "50.0", "50.0"],
        ["(25.0", "to", "75.0)", "(25.0", "to", "75.0)"],
        ["greedy", "100.0"],
        ["pass@2", "62.5", "62.5"],
        ["average", "avg@2", "50.0", "50.0"],
        ["(25.0", "to", "75.0)", "(25.0", "to", "75.0)"],
        ["pass@2", "62.5", "62.5"],
        ["over", "base", "-12.5"],
        ["(-20.0", "to", "-5.0)"],
    ]


def test_models_with_more_samples_are_shown_beside_those_with_fewer() -> None:
    score = {"accuracy": 0.5, "ci95": (0.25, 0.75), "samples": 2, "pass@2": 0.625}
    more = score | {"samples": 4, "pass@4": 0.75}
    rows = scores_table({"base": {"average": score}, "rl-1": {"average": more}, "rl-2": {"average": more}}).rows
    assert [row[1:] for row in rows] == [
        ["avg@2/4", *["50.0\n(25.0 to 75.0)"] * 3],
        ["pass@2", "62.5", "62.5", "62.5"],
    ]


@pytest.fixture
def repository(pipeline: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = pipeline[0].parent
    monkeypatch.chdir(folder)
    return folder


def test_rows_are_printed_and_scores_where_there_are_some(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main()
    shown = capsys.readouterr().out
    assert "near_duplicate 1" in shown
    assert "Evaluation" not in shown
    score = {"accuracy": 0.25, "ci95": [0.2, 0.3], "samples": 2}
    (repository / "metrics").mkdir()
    (repository / "metrics" / "evaluate.json").write_text(json.dumps({"models": {"base": {"average": score}}}))
    main()
    shown = capsys.readouterr().out
    assert "20.0 to 30.0" in shown
    assert "The page: reports/index.html" in shown


def test_nothing_to_show_and_broken_files_end_with_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=r"^table: nothing has run here yet; `compass run` runs it$"):
        main()
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "dedup.json").write_text("{")
    with pytest.raises(SystemExit, match=r"^table: .*dedup\.json: not JSON"):
        main()


def test_a_table_wider_than_the_page_keeps_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    numbers = [f"{value}.5 ± 1.25" for value in range(10, 22)]
    print_blocks([Table(["arm", *"abcdefghijkl"], [["easy", *numbers]])])
    line = capsys.readouterr().out.splitlines()[-1]
    assert len(line) > WIDTH
    assert line.split("  ")[1:] == numbers
