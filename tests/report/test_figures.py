"""What the figures show, read from matplotlib's axes; and that the same numbers give the same SVG."""

from __future__ import annotations

import re
from typing import Any

import pytest

from compass.report import figures
from compass.report.results import Results


def score(accuracy: float, low: float, high: float) -> dict[str, Any]:
    return {"accuracy": accuracy, "ci95": [low, high]}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures as matplotlib holds them, before they become SVG."""
    monkeypatch.setattr(figures, "_svg", lambda figure: figure)


@pytest.mark.usefixtures("drawn")
def test_every_model_has_a_dot_and_an_interval_per_benchmark_and_the_average_comes_first() -> None:
    scores = {
        "base": {"easy": score(0.5, 0.25, 0.75), "hard$": score(0.25, 0.3, 0.2), "average": score(0.375, 0.2, 0.5)},
        "rl-1": {"easy": score(0.75, 0.5, 1.0), "hard$": score(0.5, 0.5, 0.5), "average": score(0.6, 0.4, 0.8)},
    }
    [axes] = figures.scores_figure(Results(scores=scores)).axes
    bars = axes.containers
    assert [bar.lines[0].get_xdata().tolist() for bar in bars] == [[37.5, 50, 25], [60, 75, 50]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["average", "easy", r"hard\$"]
    spans = [(line[0][0], line[1][0]) for bar in bars for line in bar.lines[2][0].get_segments()]
    expected = [(20, 50), (25, 75), (25, 25), (40, 80), (50, 100), (50, 50)]  # an interval never points the wrong way
    assert [tuple(span) for span in spans] == [pytest.approx(one) for one in expected]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["base", "rl-1"]


@pytest.mark.usefixtures("drawn")
def test_a_benchmark_that_a_model_lacks_leaves_its_place_empty() -> None:
    scores = {"base": {"a": score(0.1, 0, 1), "b": score(0.2, 0, 1)}, "rl-1": {"b": score(0.3, 0, 1)}}
    [axes] = figures.scores_figure(Results(scores=scores)).axes
    assert axes.containers[1].lines[0].get_ydata() == pytest.approx([1.175])


@pytest.mark.usefixtures("drawn")
def test_curves_of_the_stages_follow_one_another() -> None:
    curves = {
        "rl-1": {"step": [1.0, 2.0], "accuracy": [0.25, 0.5], "response_tokens": [10.0, 20.0], "entropy": [2.0, 1.0]},
        "rl-2": {"step": [1.0, 3.0], "accuracy": [0.5, 0.75], "response_tokens": [30.0, 40.0]},
        "rl-3": {"step": [], "accuracy": [], "response_tokens": []},
        "rl-4": {"step": [1.0], "accuracy": [1.0], "response_tokens": [50.0]},
    }
    right, length, entropy, unused = figures.curves_figure(Results(curves=curves)).axes
    assert [list(line.get_xdata()) for line in right.lines] == [[1, 2], [3, 5], [], [6]]
    assert [list(line.get_ydata()) for line in right.lines] == [[25, 50], [50, 75], [], [100]]
    assert [list(line.get_ydata()) for line in length.lines] == [[10, 20], [30, 40], [], [50]]
    assert [list(line.get_ydata()) for line in entropy.lines] == [[2, 1], [], [], []]
    assert [line.get_label() for line in right.lines] == list(curves)
    assert [axes.get_title(loc="left") for axes in (right, length, entropy)] == [
        "right responses, %", "response length, tokens", "entropy, nats per token",
    ]  # fmt: skip
    assert not unused.get_visible()


@pytest.mark.usefixtures("drawn")
def test_what_guards_and_rewards_measured_is_drawn_with_its_meaning_and_an_own_metric_under_its_name() -> None:
    curve = {"step": [1.0, 2.0], "accuracy": [0.25, 0.5], "reward/own": [0.5, 0.5], "reward/leaned": [0.0, 0.5]}
    panels = figures.curves_figure(Results(curves={"rl-1": curve})).axes
    drawn = {axes.get_title(loc="left"): list(axes.lines[0].get_ydata()) for axes in panels if axes.lines}
    assert drawn["right ones that rest on a leniency, %"] == [0.0, 50.0]
    assert drawn["reward/own"] == [0.5, 0.5]


def test_points_whose_rollouts_are_kept_are_links_to_them() -> None:
    curve = {"step": [1.0, 2.0, 3.0], "accuracy": [0.25, 0.5, 0.5]}
    drawn = figures.curves_figure(Results(curves={"rl-1": curve, "rl-2": curve}), linked={"rl-2": [1, 3, 7]})
    assert re.findall(r'xlink:href="(#rollouts[^"]*)"', drawn) == ["#rollouts=rl-2:1", "#rollouts=rl-2:3"]
    assert "target=" not in drawn  # the same page


@pytest.mark.usefixtures("drawn")
def test_the_heat_map_has_a_cell_per_problem_and_model() -> None:
    figure = figures.heat_figure({"easy": {"base": [0.0, 0.5, 1.0], "rl-1": [1.0, 1.0, 1.0]}, "empty": {"base": []}})
    axes = figure.axes[0]
    assert axes.images[0].get_array().tolist() == [[0, 0.5, 1], [1, 1, 1]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["base", "rl-1"]
    assert axes.get_title(loc="left") == "easy: 3 problems"


def test_nothing_is_drawn_of_nothing() -> None:
    assert figures.scores_figure(Results()) is None
    assert figures.curves_figure(Results()) is None
    assert figures.heat_figure({}) is None


def test_svg_is_text_without_dates_and_the_same_every_time() -> None:
    first, second = (figures.heat_figure({"e": {"<a & $b$>": [0.5]}}) for _ in range(2))
    assert first == second
    assert first.startswith("<svg ")
    assert "&lt;a &amp; $b$&gt;</text>" in first
    assert "<dc:date>" not in first
    assert "<script" not in first
    assert "#000000" not in first  # the page's own colour, light or dark
