"""Accuracy beside tokens: every model with as many tokens as the others, from the scores of the run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from compass.page.blocks import Chart, Table
from compass.report.cost import cost_per_point, equal_tokens, tokens_section
from compass.report.headline import find_comparison
from compass.report.run import read_run


def test_each_model_has_the_most_responses_that_a_number_of_tokens_pays_for() -> None:
    short = [{"k": k, "tokens": 10.0 * k, "maj": share} for k, share in ((1, 0.2), (2, 0.25), (4, 0.4), (8, 0.5))]
    long = [{"k": k, "tokens": 40.0 * k, "maj": share} for k, share in ((1, 0.45), (2, 0.6))]
    # From one response of the longer one to all that the shorter one has.
    assert equal_tokens({"short": short, "long": long}) == [
        ["40", "40.0% (k = 4)", "45.0% (k = 1)"],
        ["80", "50.0% (k = 8)", "60.0% (k = 2)"],
    ]


def test_models_that_share_no_number_of_tokens_are_shown_between_their_own() -> None:
    short, long = [{"k": 1, "tokens": 10.0, "maj": 0.2}], [{"k": 1, "tokens": 500.0, "maj": 0.6}]
    assert equal_tokens({"short": short, "long": long}) == [
        ["10", "20.0% (k = 1)", "-"],
        ["500", "20.0% (k = 1)", "60.0% (k = 1)"],
    ]


def test_the_page_has_the_figure_and_the_table_of_a_run(finished_run: Path) -> None:
    section = tokens_section(read_run(finished_run))
    scores = json.loads((finished_run / "metrics" / "evaluate.json").read_text())["models"]
    (chart,) = [part for part in section.parts if isinstance(part, Chart)]
    assert all(f">{model}<" in chart.wide for model in scores)
    (table,) = [part for part in section.parts if isinstance(part, Table)]
    assert table.head == ["sampled tokens per problem", *scores]
    last = [own["average"]["by_tokens"][-1] for own in scores.values()]
    assert table.rows[-1] == [f"{last[0]['tokens']:,.0f}", *(f"{100 * one['maj']:.1f}% (k = 4)" for one in last)]


def test_training_costs_device_hours_per_point_where_a_gain_is_shown(finished_run: Path) -> None:
    run = read_run(finished_run)
    trained = run.models[1:]
    times = {model: {"seconds": 1800, "machine": {"cores": 4, "gpus": []}} for model in trained}
    run = replace(run, times=times)
    note, table = cost_per_point(run)
    assert run.models[0] in note.text
    for number, (model, row) in enumerate(zip(trained, table.rows, strict=True), start=1):
        found = find_comparison(run, model, run.models[0])
        points = 100 * found["difference"]
        assert row[:3] == [model, f"{points:+.1f}", f"{2 * number:.2f}"]
        shown = found["ci95"][0] > 0
        assert row[3] == (f"{2 * number / points:.3g}" if shown else "no gain shown")
    alone = {model: run.results.averages[model] for model in (run.models[0], trained[-1])}
    fewer = replace(run, results=replace(run.results, scores={name: run.results.scores[name] for name in alone}))
    assert cost_per_point(fewer)[1].rows == table.rows[-1:]  # its course was trained all the same
    assert cost_per_point(replace(run, times={})) == []
    on_gpus = {trained[0]: {"seconds": 3600, "machine": {"cores": 4, "gpus": ["H100"] * 8}}}
    assert cost_per_point(replace(run, times=on_gpus))[1].rows[0][2] == "8.00"
