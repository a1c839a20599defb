"""Each warning appears where its cause was put in, and not without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from compass.evaluation.comparisons import compare_models
from compass.evaluation.evaluate import summarise
from compass.evaluation.results import PROBLEMS
from compass.report.cautions import warnings
from compass.report.headline import conclude, find_comparison, format_gap, reverse_comparison
from compass.report.results import Results
from compass.report.run import Run
from tests.report.conftest import sample_rows


def evaluated(change: Callable[[dict[str, Any]], None] = lambda row: None, *, problems: int = 40, **more: Any) -> Run:
    """A run of two models without any fault but those that `change` makes."""
    rows = sample_rows(problems, 8, models={"base": 0.4, "rl-1": 0.9})
    for row in rows:
        row.update(finish_reason="stop", correct_lenient=row["correct"])
        change(row)
    samples = pa.Table.from_pylist(rows)
    comparisons = compare_models(samples, seed=0)
    asked = sorted({(row["benchmark"], row["id"]) for row in rows})
    known = [{"benchmark": benchmark, "id": id_, "similar": []} for benchmark, id_ in asked]
    given = {
        "results": Results(scores=summarise(samples, comparisons, set())), "samples": samples, "comparisons": comparisons,
        "problems": pa.Table.from_pylist(known, schema=PROBLEMS), "verifier": {"error": 0.01, "ci95": [0.0, 0.02], "labelled": 40, "accepted_wrong": 0.0, "refused_right": 0.01},
    }  # fmt: skip
    return Run(Path("run"), **{**given, **more})


def told(run: Run) -> str:
    return "\n".join(warnings(run))


def with_results(**changes: Any) -> Run:
    run = evaluated()
    return replace(run, results=replace(run.results, **changes))


def cut_off(row: dict[str, Any]) -> None:
    if row["model"] == "base" and row["benchmark"] == "hard":
        row["finish_reason"] = "length"


def rarely_cut_off(row: dict[str, Any]) -> None:
    row["finish_reason"] = "length" if row["id"] == "hard-1" else "stop"  # 1 of 40 problems: 2.5%


def guessing_base(row: dict[str, Any]) -> None:
    row["bare"] = row["model"] == "base" and int(row["id"].rpartition("-")[2]) % 2 == 1


def solved_alike_leniently(row: dict[str, Any]) -> None:
    row["correct_lenient"] = int(row["id"].rpartition("-")[2]) % 2 == 0


def partly_lenient(row: dict[str, Any]) -> None:
    row["correct_lenient"] = row["correct"] or (row["model"] == "base" and row["sample"] % 3 == 0)


def every_second(row: dict[str, Any]) -> None:
    row.update(correct=row["sample"] % 2 == 0, correct_lenient=row["sample"] % 2 == 0)


def a_third_unread(row: dict[str, Any]) -> None:
    if row["model"] == "base" and row["benchmark"] == "hard" and row["sample"] % 3 == 0:
        row.update(answer=None, answer_lenient=None, outcome="none", correct=False, correct_lenient=False)


FINDING = {"step": 3, "guard": "loops", "level": "warn", "message": "m", "samples": ""}
SHORT = {"curriculum": {"metrics": {"stages": {"rl-1": {"missing": 7, "levels": {"1": 3}}}}}}


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (evaluated, None),
        (lambda: evaluated(rarely_cut_off), None),
        (lambda: evaluated(setups={"a": {"seed": 0, "model": "x"}, "b": {"seed": 0, "model": "y"}}), None),
        (lambda: evaluated(cut_off), ": base on hard 100.0%."),
        (
            lambda: evaluated(a_third_unread),
            "(base on hard: 37.5% without an answer, 0.0% with one that cannot be read)",
        ),
        (
            lambda: evaluated(guessing_base),
            "50.0% of the responses of base are bare answers, and 0.0% of those of rl-1. ",
        ),
        (lambda: evaluated(solved_alike_leniently), "Format-only gain: rl-1 beats base by "),
        (lambda: evaluated(partly_lenient), "Part of the gain is form: "),
        (lambda: evaluated(every_second, problems=3), "Too few problems or samples to tell "),
        (lambda: evaluated(verifier={}), "error on this run's own answers is unmeasured"),
        (lambda: evaluated(verifier={"error": None, "labelled": 3}), "not known yet: 3 responses were judged"),
        (lambda: evaluated(commit={"commit": "c", "dirty": "true"}), "changes that no commit holds"),
        (
            lambda: evaluated(setups={name: {"engine": {"name": name, "version": "1"}} for name in "xy"}),
            "their engine differs (name x, version 1 against name y, version 1)",
        ),
        (
            lambda: with_results(findings={"rl-1": [FINDING]}),
            "Guards fired (findings below Training): loops in rl-1 (1 x).",
        ),
        (
            lambda: with_results(summaries={"grade": {"metrics": {"unanswered": 0.31}}}),
            "no answer that could be read in 31.0% of its rollouts",
        ),
        (lambda: with_results(summaries=SHORT), "rl-1 trained on 7 fewer problems"),
    ],
)
def test_a_warning_appears_with_its_cause_alone(run: Callable[[], Run], said: str | None) -> None:
    found = told(run())
    assert found == "" if said is None else said in found


def test_too_few_problems_are_told_once_with_the_average_before_the_benchmarks() -> None:
    weak = "problems would show 100.0 points or more)"
    said = f"from base on average (6 {weak} and on easy (3 {weak}, hard (3 {weak}."
    assert f"Too few problems or samples to tell rl-1 {said}" in told(evaluated(every_second, problems=3)).splitlines()


def test_contamination_is_told_with_the_scores_without_it_and_so_is_that_nothing_was_checked() -> None:
    run = evaluated()
    hit = [{"benchmark": "easy", "id": f"easy-{n}", "similar": ["row"] if n < 4 else []} for n in range(40)]
    scores = summarise(run.samples, run.comparisons, {f"easy-{n}" for n in range(4)})
    said = told(replace(run, problems=pa.Table.from_pylist(hit, schema=PROBLEMS), results=Results(scores=scores)))
    averages = [scored["average"] for scored in scores.values()]
    most = max(abs(one["clean"]["accuracy"] - one["accuracy"]) for one in averages)
    assert "Contamination: 4 of 40 benchmark problems resemble rows" in said
    assert f"Without them the scores change by at most {100 * most:.1f} points" in said
    unknown = pa.Table.from_pylist([{**row, "similar": None} for row in hit], schema=PROBLEMS)
    assert "Contamination was not checked" in told(replace(run, problems=unknown))


@pytest.mark.parametrize(
    ("accuracy", "norms", "cause"),
    [
        ([0.0, 0.01], [0.0, 0.0], "2 of 2 iterations had no gradient, because hardly any response was right."),
        ([1.0, 0.99], [0.0, 0.0], "because hardly any response was wrong."),
        (
            [0.5, 0.5, 0.5],
            [0.0, 0.0, 0.1],
            "2 of 3 iterations had no gradient, because the responses to a problem were",
        ),
        ([0.0, 0.0], [0.0, 0.1], None),
    ],
)
def test_training_without_a_gradient_is_the_first_thing_that_is_said(
    accuracy: list[float], norms: list[float], cause: str | None
) -> None:
    curves = {"rl-1": {"step": [1.0] * len(norms), "accuracy": accuracy, "grad_norm": norms}}
    run = evaluated()
    headline = conclude(replace(run, results=replace(run.results, curves=curves))).headline
    assert headline.startswith("Training had next to nothing to learn from: ") is bool(cause)
    assert cause is None or cause in headline


def test_the_conclusion_names_the_better_model_whatever_its_place() -> None:
    run = evaluated()
    assert conclude(run).headline.startswith("rl-1 has an accuracy of ")
    assert "on 40 benchmark" not in conclude(run).headline
    rows = [{**row, "model": {"base": "rl-1", "rl-1": "base"}[row["model"]]} for row in run.samples.to_pylist()]
    rows.sort(key=lambda row: row["model"])
    samples = pa.Table.from_pylist(rows)
    comparisons = compare_models(samples, seed=0)
    turned_round = replace(
        run, samples=samples, comparisons=comparisons, results=Results(scores=summarise(samples, comparisons))
    )
    assert conclude(turned_round).headline.startswith("No trained model beats base: rl-1 has an accuracy of ")
    assert "rl-1 against base: worse by " in conclude(turned_round).headline
    assert "The verifier is wrong on 1% of these responses (0% to 2%), by 40 judged by people" in " ".join(
        conclude(run).more
    )


def test_a_model_that_scores_higher_than_the_one_that_decides_comes_after_it() -> None:
    rows = sample_rows(40, 8, models={"base": 0.2, "rl-1": 0.9, "rl-2": 0.5})
    for row in rows:
        row["correct_lenient"] = row["correct"]
    samples = pa.Table.from_pylist(rows)
    comparisons = compare_models(samples, seed=0)
    run = evaluated(samples=samples, comparisons=comparisons, results=Results(scores=summarise(samples, comparisons)))
    conclusion = conclude(run)
    assert conclusion.headline.startswith("rl-2 has an accuracy of ")
    assert "rl-2 against base: better by " in conclusion.headline
    [line] = [line for line in conclusion.more if line.startswith("rl-1 has ")]
    assert "), the highest. Not the comparison that decides" in line
    assert "rl-1 against rl-2: better by " in line


def test_a_headline_without_a_winner_has_the_difference_and_leaves_measures_to_the_next_line() -> None:
    run = evaluated(every_second, problems=3)
    found = find_comparison(run, "rl-1", "base")
    assert found
    assert found["verdict"] == "cannot tell"
    conclusion = conclude(run)
    assert f"rl-1 against base: {format_gap(found)}, cannot tell: 6 problems " in conclusion.headline
    assert "greedy" not in conclusion.headline
    assert conclusion.more[0].startswith("By other measures: greedy 100.0 against 100.0, ")


def test_the_conclusion_counts_the_best_models_own_benchmarks_and_calls_no_stranger_trained() -> None:
    run = evaluated()
    scores = {"first": {**run.results.scores["rl-1"]}, "second": {**run.results.scores["base"]}}
    assert conclude(replace(run, results=Results(scores=scores))).headline.startswith("No other model beats first: ")
    scores = {"base": {**scores["second"], "more": scores["second"]["average"]}, "rl-1": scores["first"]}
    own = len(scores["rl-1"]) - 1
    headline = conclude(replace(run, results=Results(scores=scores))).headline
    assert f"over {own} benchmarks" in headline or (own == 1 and "over the benchmark " in headline)


def test_a_comparison_turned_round_is_its_own_opposite() -> None:
    found = find_comparison(evaluated(), "rl-1", "base")
    assert found
    other = reverse_comparison(found)
    assert other["verdict"] == "worse"
    assert other["difference"] == -found["difference"]
    assert other["ci95"] == [-found["ci95"][1], -found["ci95"][0]]
    assert reverse_comparison(other)["words"] == found["words"]


def test_scores_older_than_the_folders_models_are_said_first() -> None:
    first, *_ = warnings(evaluated(outdated_by=["rl-1", "rl-2"]))
    assert "since the evaluation rl-1, rl-2 ran again" in first
    assert "since the evaluation" not in told(evaluated())
