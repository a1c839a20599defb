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
from compass.report.cautions import limits, warnings
from compass.report.headline import conclude, find_comparison, reverse_comparison
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


def test_a_run_without_a_fault_has_no_warning() -> None:
    assert told(evaluated()) == ""


def test_responses_that_were_cut_off_are_told_above_five_percent() -> None:
    def cut(row: dict[str, Any]) -> None:
        if row["model"] == "base" and row["benchmark"] == "hard":
            row["finish_reason"] = "length"

    assert "cut off at the length limit, which counts as wrong unless they had answered: base on hard 100.0%." in told(
        evaluated(cut)
    )

    def cut_rarely(row: dict[str, Any]) -> None:
        row["finish_reason"] = "length" if row["id"] == "hard-1" else "stop"  # 1 of 40 problems: 2.5%

    assert "cut off" not in told(evaluated(cut_rarely))


def test_a_gain_in_form_alone_is_named_as_such() -> None:
    def form(row: dict[str, Any]) -> None:
        row["correct_lenient"] = int(row["id"].rpartition("-")[2]) % 2 == 0  # both models solve the same, leniently

    said = told(evaluated(form))
    assert "Format-only gain: rl-1 beats base by " in said
    assert "which is no gain in ability" in said

    def part(row: dict[str, Any]) -> None:
        row["correct_lenient"] = row["correct"] or (row["model"] == "base" and row["sample"] % 3 == 0)

    assert "Part of the gain is form: " in told(evaluated(part))


def test_a_comparison_without_a_verdict_says_what_it_could_have_shown() -> None:
    run = evaluated(problems=3)
    found = find_comparison(run, "rl-1", "base", "easy")
    assert found
    if found["verdict"] == "cannot tell":
        assert f"easy (3 problems: differences from {100 * found['detectable']:.1f} points)" in told(run)
    alike = evaluated(
        lambda row: row.update(correct=row["sample"] % 2 == 0, correct_lenient=row["sample"] % 2 == 0), problems=3
    )
    assert find_comparison(alike, "rl-1", "base")["verdict"] == "cannot tell"  # type: ignore[index]
    assert "Too few problems or samples to tell " in told(alike)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"verifier": {}}, "The verifier's error on this run's own answers is unmeasured"),
        (
            {"verifier": {"error": None, "labelled": 3}},
            "The verifier's error is not known yet: 3 responses were judged",
        ),
        ({"commit": {"commit": "c", "dirty": "true"}}, "changes that no commit holds"),
        (
            {
                "setups": {
                    "a": {"engine": {"name": "x", "version": "1"}},
                    "b": {"engine": {"name": "y", "version": "1"}},
                }
            },
            "not sampled alike: their engine differs (name x, version 1 against name y, version 1)",
        ),
    ],
)
def test_what_a_run_lacks_is_told(more: dict[str, Any], said: str) -> None:
    assert said in told(evaluated(**more))


def test_setups_that_are_alike_are_no_warning() -> None:
    assert told(evaluated(setups={"a": {"seed": 0, "model": "x"}, "b": {"seed": 0, "model": "y"}})) == ""


def test_guards_and_a_short_curriculum_are_told() -> None:
    run = evaluated()
    finding = {"step": 3, "guard": "loops", "level": "warn", "message": "m", "samples": ""}
    stages = {"rl-1": {"missing": 7, "levels": {"1": 3}}}
    results = replace(
        run.results, findings={"rl-1": [finding]}, summaries={"curriculum": {"metrics": {"stages": stages}}}
    )
    said = told(replace(run, results=results))
    assert "Guards fired in rl-1: loops (1 findings, below)." in said
    assert "rl-1 trained on 7 fewer problems than its mix asks for." in said


def test_contamination_is_told_with_the_scores_without_it_and_so_is_that_nothing_was_checked() -> None:
    run = evaluated()
    hit = [{"benchmark": "easy", "id": f"easy-{n}", "similar": ["row"] if n < 4 else []} for n in range(40)]
    scores = summarise(run.samples, run.comparisons, {f"easy-{n}" for n in range(4)})
    said = told(replace(run, problems=pa.Table.from_pylist(hit, schema=PROBLEMS), results=Results(scores=scores)))
    clean = scores["rl-1"]["average"]["clean"]["accuracy"]
    assert "Contamination: 4 of 40 benchmark problems resemble rows that were trained on" in said
    assert f"rl-1 {100 * scores['rl-1']['average']['accuracy']:.1f}% with and {100 * clean:.1f}% without them" in said
    unknown = pa.Table.from_pylist([{**row, "similar": None} for row in hit], schema=PROBLEMS)
    assert "Contamination was not checked" in told(replace(run, problems=unknown))


def test_the_conclusion_names_the_better_model_whatever_its_place() -> None:
    run = evaluated()
    assert conclude(run).headline.startswith("rl-1 solves ")
    assert "on 40 benchmark" not in conclude(run).headline
    rows = [{**row, "model": {"base": "rl-1", "rl-1": "base"}[row["model"]]} for row in run.samples.to_pylist()]
    rows.sort(key=lambda row: row["model"])
    samples = pa.Table.from_pylist(rows)
    comparisons = compare_models(samples, seed=0)
    turned_round = replace(
        run, samples=samples, comparisons=comparisons, results=Results(scores=summarise(samples, comparisons))
    )
    assert conclude(turned_round).headline.startswith("No trained model beats base: base solves ")
    assert "base against rl-1: better by " in conclude(turned_round).headline
    assert "The verifier is wrong on 1% of these responses (0% to 2%), by 40 judged by people" in " ".join(
        conclude(run).more
    )


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


def test_limits_name_the_single_seed_first() -> None:
    assert limits(evaluated())[0].startswith("One run with one seed")
