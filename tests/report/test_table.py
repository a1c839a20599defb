"""The tables in the terminal."""

from __future__ import annotations

import io

from compass.report.table import scores_table


def shown(scores) -> list[list[str]]:
    """The table's cells, a list a line."""
    from rich.console import Console

    page = io.StringIO()
    Console(width=160, file=page).print(scores_table(scores))
    return [line.split() for line in page.getvalue().splitlines() if line.strip(" ─╶╴╺╸━")]


def test_the_table_names_a_benchmark_once_and_shows_what_was_measured():
    score = {"accuracy": 0.5, "ci95": (0.25, 0.75), "samples": 2, "pass@2": 0.625}
    gain = {"over_base": -0.125, "over_base_ci95": (-0.2, -0.05)}
    scores = {
        "base": {"easy": score, "average": score},
        "rl-1": {"easy": score | {"greedy": 1.0}, "average": score | gain},
    }
    assert shown(scores) == [
        ["Evaluation,", "percent"],
        ["benchmark", "measure", "base", "rl-1"],
        ["easy", "avg@2", "50.0", "50.0"],
        ["25.0", "to", "75.0", "25.0", "to", "75.0"],
        ["greedy", "100.0"],
        ["pass@2", "62.5", "62.5"],
        ["average", "avg@2", "50.0", "50.0"],
        ["25.0", "to", "75.0", "25.0", "to", "75.0"],
        ["pass@2", "62.5", "62.5"],
        ["average", "over", "base", "-12.5"],
        ["-20.0", "to", "-5.0"],
    ]


def test_the_table_has_no_gains_without_a_base_and_ends_each_benchmark_with_a_line():
    score = {"accuracy": 0.5, "ci95": (0.25, 0.75), "samples": 1, "greedy": 0.5}
    table = scores_table({"rl-1": {"easy": score, "average": score}})
    assert [row.end_section for row in table.rows] == [False, True, False, True]
    assert [row.style for row in table.rows] == [None, None, "bold", "bold"]
    assert [list(column.cells)[1] for column in table.columns] == ["", "greedy", "50.0"]
