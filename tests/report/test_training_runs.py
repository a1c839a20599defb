"""Several training runs of one recipe on one page."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.errors import UserError
from compass.page.markdown import to_markdown
from compass.report.run import read_run
from compass.report.training_runs import shared_problems, training_run_sections
from tests.report.conftest import copy_run, sample_rows, write_json

CHANCES = [{"base": 0.3, "rl-1": 0.5, "rl-2": chance} for chance in (0.6, 0.9, 1.2)]


@pytest.fixture
def repeated(finished_run: Path, tmp_path: Path) -> list[Path]:
    """Three runs that differ in their seed, and in how good their last model is."""
    folders = []
    for seed, models in enumerate(CHANCES):
        folder = tmp_path / f"s{seed}"
        copy_run(finished_run, folder, sample_rows(seed=seed, models=models), seed)
        folders.append(folder)
    return folders


def text_of(folders: list[Path]) -> str:
    return to_markdown("t", training_run_sections([read_run(folder) for folder in folders])).replace("\\", "")


def test_the_mean_its_interval_and_the_spread_come_first(repeated: list[Path]) -> None:
    text = text_of(repeated)
    averages = [100 * read_run(folder).results.scores["rl-2"]["average"]["accuracy"] for folder in repeated]
    assert f"rl-2 has an accuracy of {fmean(averages):.1f}% on average over 3 training runs" in text
    [row] = [line for line in text.splitlines() if line.startswith("| rl-2 |") and " to " in line]
    assert f"| {min(averages):.1f} | {max(averages):.1f} |" in row
    gains = [read_run(folder).pair("rl-2", "base")["average"]["difference"] for folder in repeated]
    assert f"Its gain over base is {100 * fmean(gains):+.1f} points" in text
    assert "| rl-2 less base |" in text
    assert "| s1 | 1 |" in text
    assert "differ in settings" not in text
    assert "Two runs say little" not in text
    assert "Two runs say little" in text_of(repeated[:2])


def test_what_makes_runs_no_repetitions_of_one_recipe_is_told(repeated: list[Path]) -> None:
    path = repeated[1] / "params.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("rl-1, steps: 9", "rl-1, steps: 2"), encoding="utf-8")
    assert "s0 and s1 differ in settings (rl.stages.rl-2.steps)" in text_of(repeated)
    (repeated[2] / "params.yaml").unlink()
    assert "s1 or s2 has no parameter file" in text_of(repeated)


def test_problems_are_shared_by_their_text(repeated: list[Path]) -> None:
    runs = [read_run(folder) for folder in repeated]
    assert shared_problems(runs) == 1
    path = repeated[1] / "data" / "evaluate" / "problems.parquet"
    problems = pq.read_table(path)
    texts = [f"{number}. {text}" if number % 2 else text for number, text in enumerate(problems["problem"].to_pylist())]
    pq.write_table(problems.set_column(problems.column_names.index("problem"), "problem", [texts]), path)
    assert shared_problems([read_run(folder) for folder in repeated]) == pytest.approx(0.5)
    assert "The runs share 50% of their problems" in text_of(repeated)


def test_runs_without_a_common_model_are_refused(repeated: list[Path]) -> None:
    write_json(repeated[0] / "metrics" / "evaluate.json", {"models": {}})
    with pytest.raises(UserError, match="no model was scored in all of these runs"):
        text_of(repeated)


def test_an_evaluation_without_deviations_gives_what_it_can_and_is_named(repeated: list[Path]) -> None:
    for name in ("metrics/evaluate.json", "data/evaluate/comparisons.json"):
        path = repeated[1] / name
        write_json(path, without(json.loads(path.read_text(encoding="utf-8")), "sd"))
    text = text_of(repeated)
    averages = [100 * read_run(folder).results.scores["rl-2"]["average"]["accuracy"] for folder in repeated]
    assert f"rl-2 has an accuracy of {fmean(averages):.1f}% on average over 3 training runs" in text
    assert "s1 was evaluated before evaluation wrote what other samples and problems would change" in text
    assert "Training it again moves" not in text
    [row] = [line for line in text.splitlines() if line.startswith("| rl-2 less base |")]
    assert [cell.strip() for cell in row.split("|")][-4:-1] == ["", "", ""]


def without(tree: Any, name: str) -> Any:
    """A tree of JSON without the entries of a name."""
    if isinstance(tree, dict):
        return {key: without(value, name) for key, value in tree.items() if key != name}
    return [without(value, name) for value in tree] if isinstance(tree, list) else tree


def test_the_command_takes_several_runs(
    repeated: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["report", *map(str, repeated), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "on average over 3 training runs" in said
    assert "rl-2 less base" in said
    assert "What moves a score" in (out / "index.html").read_text(encoding="utf-8")
