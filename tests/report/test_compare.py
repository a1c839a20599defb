"""Two runs on one page: the verdict, what differs, and what may not be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.errors import UserError
from compass.page.markdown import to_markdown
from compass.report.compare import compare_sections, join_runs
from compass.report.run import read_run
from tests.report.conftest import copy_run, sample_rows


@pytest.fixture
def two(finished_run: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two runs: the second has other settings, another seed of sampling, and a better last model."""
    other = tmp_path / "second"
    copy_run(finished_run, other, sample_rows(seed=7, models={"base": 0.3, "rl-1": 0.5, "rl-2": 1.2}), seed=7)
    text = (other / "params.yaml").read_text(encoding="utf-8")
    (other / "params.yaml").write_text(text.replace("rl-1, steps: 9", "rl-1, steps: 2"), encoding="utf-8")
    return finished_run, other


def page(one: Path, other: Path) -> str:
    a, b = read_run(one), read_run(other)
    return to_markdown("t", compare_sections(a, b, join_runs(a, b)))


def test_the_page_of_two_runs_says_which_is_better_by_how_much_and_how_sure(two: tuple[Path, Path]) -> None:
    a, b = (read_run(folder) for folder in two)
    joined = join_runs(a, b)
    first, second = joined.models
    assert second == "second: rl-2"
    assert first.endswith(": rl-2")
    text = to_markdown("t", compare_sections(a, b, joined)).replace("\\", "")
    [pair] = joined.comparisons["pairs"]
    differences = []
    for folder, sign in ((two[1], 1), (two[0], -1)):
        score = json.loads((folder / "metrics" / "evaluate.json").read_text())["models"]["rl-2"]
        differences.append(sign * score["average"]["accuracy"])
    assert pair["average"]["difference"] == pytest.approx(
        sum(differences)
    )  # on the same problems, so that of the scores
    assert f"second: rl-2 is better than {first}. second: rl-2 has an accuracy of " in text
    assert pair["average"]["words"] in text
    assert "by chance (sign-flip test over 24 problems with 4 samples each)" in text
    assert "Each side is one training run." in text


def test_what_differs_is_told_and_more_than_one_setting_is_no_cause(two: tuple[Path, Path]) -> None:
    text = page(*two).replace("\\", "")
    assert "They differ in 2 settings (seed, rl.stages.rl-2.steps): this comparison alone does not say which" in text
    assert "| rl.stages.rl-2.steps | 9 | 2 |" in text
    assert "| seed | 0 | 7 |" in text
    again = page(two[0], two[0]).replace("\\", "")
    assert "have the same settings" in again
    assert "are tied" in again or "cannot be told apart" in again


def test_runs_turned_round_give_the_same_verdict_turned_round(two: tuple[Path, Path]) -> None:
    text = page(two[1], two[0]).replace("\\", "")
    assert "second: rl-2 is better than " in text
    assert ": rl-2 against second: rl-2: worse by " in text


def test_an_evaluations_folder_is_compared_as_well_as_a_run(two: tuple[Path, Path]) -> None:
    a, b = read_run(two[0] / "data" / "evaluate"), read_run(two[1])
    assert (
        a.results.scores["rl-2"]["average"]["accuracy"]
        == read_run(two[0]).results.scores["rl-2"]["average"]["accuracy"]
    )
    assert "one side has no parameter file" in to_markdown("t", compare_sections(a, b, join_runs(a, b)))


def test_models_without_a_common_problem_are_not_compared(two: tuple[Path, Path]) -> None:
    path = two[1] / "data" / "evaluate" / "samples.parquet"
    samples = pq.read_table(path)
    others = [f"other-{id_}" for id_ in samples["id"].to_pylist()]
    pq.write_table(samples.set_column(samples.column_names.index("id"), "id", [others]), path)
    a, b = (read_run(folder) for folder in two)
    with pytest.raises(UserError, match="no problem that both models answered"):
        join_runs(a, b)
    with pytest.raises(UserError, match=r"no scored model 'nosuch'; there are base, rl-1, rl-2"):
        join_runs(a, b, ("rl-2", "nosuch"))


def rewrite_problems(folder: Path, column: str, every: int) -> None:
    """Change a column of every such problem, as another seed does to benchmarks that are generated: the ids stay."""
    path = folder / "data" / "evaluate" / "problems.parquet"
    problems = pq.read_table(path)
    values = [f"{one} and 7" if at % every == 0 else one for at, one in enumerate(problems[column].to_pylist())]
    pq.write_table(problems.set_column(problems.column_names.index(column), column, [values]), path)


@pytest.mark.parametrize("column", ["problem", "answer"])
def test_one_id_with_another_text_or_gold_is_two_problems(two: tuple[Path, Path], column: str) -> None:
    rewrite_problems(two[1], column, every=2)
    a, b = (read_run(folder) for folder in two)
    joined = join_runs(a, b)
    [pair] = joined.comparisons["pairs"]
    assert (pair["average"]["problems"], pair["average"]["missing"]) == (12, 24)
    texts = {row["id"]: row[column] for row in joined.problems.to_pylist()}
    assert len(texts) == len(joined.items) == 24 + 12
    own = {run.name: run.problems.to_pylist()[0] for run in (a, b)}
    assert {name: texts[f"{one['id']} of {name}"] for name, one in own.items()} == {
        name: one[column] for name, one in own.items()
    }
    assert "24 problems were answered by one side alone" in page(*two)
    rewrite_problems(two[1], column, every=1)
    with pytest.raises(UserError, match="no problem that both models answered; ids with other texts or golds: 24"):
        join_runs(a, read_run(two[1]))


def test_the_command_writes_a_page_and_prints_its_conclusion(
    two: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["report", str(two[0]), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "rl-2 has an accuracy of " in said
    assert f"page: {out}/index.html" in said
    assert main(["report", "--compare", str(two[0]), str(two[1]), "--models", "base", "rl-2", "--out", str(out)]) == 0
    assert "second: rl-2 is better than " in capsys.readouterr().out
    assert "second: rl-2" in (out / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["{empty}"], "neither a run (no metrics/) nor an evaluation (no samples.parquet)"),
        (["{run}", "--compare", "{run}", "{run}"], "not both"),
        (["{run}", "--models", "a", "b"], "--models chooses what --compare compares"),
        (["{run}", "--out", "{foreign}"], "not written by `compass report`"),
        (["{run}", "--out", "{dvc}"], "belongs to the pipeline"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_written(
    finished_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    places = {
        "run": finished_run,
        "empty": tmp_path / "empty",
        "foreign": tmp_path / "foreign",
        "dvc": tmp_path / "dvc" / "reports",
    }
    for name in ("empty", "foreign", "dvc"):
        places[name].mkdir(parents=True)
    (places["foreign"] / "index.html").write_text("mine", encoding="utf-8")
    (places["dvc"].parent / "dvc.yaml").write_text("", encoding="utf-8")
    given = [argument.format(**places) for argument in arguments]
    if "--out" not in given:
        given += ["--out", str(tmp_path / "out")]
    assert main(["report", *given]) == 1
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert (places["foreign"] / "index.html").read_text(encoding="utf-8") == "mine"
