"""What the figures show, read from matplotlib's axes; and that the same numbers give the same SVG."""

from __future__ import annotations

from typing import Any

import pytest

from compass.ledger import Counts
from compass.report import figures
from compass.report.results import Results


def score(accuracy: float, low: float, high: float) -> dict[str, Any]:
    return {"accuracy": accuracy, "ci95": [low, high]}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures as matplotlib holds them, before they become SVG."""
    monkeypatch.setattr(figures, "_svg", lambda figure: figure)


@pytest.mark.usefixtures("drawn")
def test_scores_stand_side_by_side_with_their_intervals() -> None:
    scores = {
        "base": {"easy": score(0.5, 0.25, 0.75), "hard$": score(0.25, 0.3, 0.2)},
        "rl-1": {"easy": score(0.75, 0.5, 1.0), "hard$": score(0.5, 0.5, 0.5)},
    }
    [axes] = figures.scores_figure(Results(scores=scores)).axes
    bars = [container for container in axes.containers if hasattr(container, "patches")]
    assert [[bar.get_height() for bar in one] for one in bars] == [[50, 25], [75, 50]]
    assert [bar.get_x() + bar.get_width() / 2 for one in bars for bar in one] == pytest.approx([0, 1, 0.4, 1.4])
    assert [bar.get_width() for bar in bars[0]] == pytest.approx([0.4, 0.4])
    ends = [line.tolist() for one in bars for line in one.errorbar[2][0].get_segments()]
    spans = [(low[1], high[1]) for low, high in ends]
    assert spans == [(25, 75), (25, 25), (50, 100), (50, 50)]  # an interval never points the wrong way
    assert [label.get_text() for label in axes.get_xticklabels()] == ["easy", r"hard\$"]
    assert axes.get_xticks().tolist() == pytest.approx([0.2, 1.2])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["base", "rl-1"]
    assert axes.get_ylim() == (0, 100)
    assert axes.get_ylabel() == "accuracy, % (95% interval)"
    assert [bar.get_facecolor() for bar in (bars[0][0], bars[1][0])] == [
        pytest.approx((0x9A / 255, 0xA5 / 255, 0xB1 / 255, 1)),
        pytest.approx((0x7F / 255, 0xB3 / 255, 0xD5 / 255, 1)),
    ]


@pytest.mark.usefixtures("drawn")
def test_a_benchmark_that_a_model_lacks_leaves_its_place_empty() -> None:
    scores = {"base": {"a": score(0.1, 0, 1), "b": score(0.2, 0, 1)}, "rl-1": {"b": score(0.3, 0, 1)}}
    [axes] = figures.scores_figure(Results(scores=scores)).axes
    [_, second] = [container for container in axes.containers if hasattr(container, "patches")]
    assert [bar.get_x() + bar.get_width() / 2 for bar in second] == pytest.approx([1.4])


@pytest.mark.usefixtures("drawn")
def test_more_models_than_colours_share_the_last_one() -> None:
    scores = {name: {"easy": score(0.5, 0.4, 0.6)} for name in "abcdef"}
    [axes] = figures.scores_figure(Results(scores=scores)).axes
    colours = [bars[0].get_facecolor() for bars in axes.containers if hasattr(bars, "patches")]
    assert len(set(colours)) == 4
    assert colours[3] == colours[4] == colours[5] != colours[2]


@pytest.mark.usefixtures("drawn")
def test_curves_of_the_stages_follow_one_another() -> None:
    curves = {
        "rl-1": {"step": [1.0, 2.0], "accuracy": [0.25, 0.5], "response_tokens": [10.0, 20.0]},
        "rl-2": {"step": [1.0, 3.0], "accuracy": [0.5, 0.75], "response_tokens": [30.0, 40.0]},
        "rl-3": {"step": [], "accuracy": [], "response_tokens": []},
        "rl-4": {"step": [1.0], "accuracy": [1.0], "response_tokens": [50.0]},
    }
    left, right = figures.curves_figure(Results(curves=curves)).axes
    assert [list(line.get_xdata()) for line in left.lines] == [[1, 2], [3, 5], [], [6]]
    assert [list(line.get_ydata()) for line in left.lines] == [[25, 50], [50, 75], [], [100]]
    assert [list(line.get_ydata()) for line in right.lines] == [[10, 20], [30, 40], [], [50]]
    assert [line.get_color() for line in left.lines] == ["#7fb3d5", "#2e86c1", "#1b4f72", "#1b4f72"]
    assert [line.get_color() for line in right.lines] == [line.get_color() for line in left.lines]
    assert [line.get_label() for line in right.lines] == list(curves)
    assert (left.get_ylabel(), right.get_ylabel()) == ("right responses in training, %", "response length, tokens")
    assert (left.get_xlabel(), right.get_xlabel()) == ("step, all stages", "step, all stages")


@pytest.mark.usefixtures("drawn")
def test_the_funnel_shows_kept_and_dropped_rows() -> None:
    figure = figures.funnel_figure([Counts("collect", 90, {"a": 7, "b": 3}), Counts("dedup", 60, {"c": 30})])
    [axes] = figure.axes
    kept, dropped = axes.containers
    assert [bar.get_width() for bar in kept] == [90, 60]
    assert [(bar.get_x(), bar.get_width()) for bar in dropped] == [(90, 10), (60, 30)]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["kept", "dropped"]
    assert axes.yaxis_inverted()
    assert axes.get_xlabel() == "rows"
    assert figure.get_size_inches().tolist() == pytest.approx([8, 1.6])


@pytest.mark.usefixtures("drawn")
def test_bars_are_labelled_with_their_names_and_numbers() -> None:
    figure = figures.bars_figure("Rows by $", {"short": 1200, "x" * 32: 5, "y" * 33: 0})
    [axes] = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["short", "x" * 32, "y" * 31 + "…"]
    assert [text.get_text() for text in axes.texts] == ["1,200", "5", "0"]
    assert [bar.get_width() for bar in axes.containers[0]] == [1200, 5, 0]
    assert axes.get_title(loc="left") == r"Rows by \$"
    assert axes.yaxis_inverted()
    assert axes.get_xticks().tolist() == []
    assert not any(axes.spines[side].get_visible() for side in ("top", "right", "bottom"))
    assert axes.spines["left"].get_visible()
    assert figure.get_size_inches().tolist() == pytest.approx([8, 1.35])


def test_nothing_is_drawn_of_nothing() -> None:
    assert figures.scores_figure(Results()) is None
    assert figures.curves_figure(Results()) is None
    assert figures.funnel_figure([]) is None
    assert figures.bars_figure("Rows", {}) is None


def test_svg_is_text_without_dates_and_the_same_every_time() -> None:
    first, second = (figures.bars_figure("Rows", {"<a & $b$>": 1200}) for _ in range(2))
    assert first == second
    assert first.startswith("<svg ")
    assert "&lt;a &amp; $b$&gt;</text>" in first
    assert "1,200" in first
    assert "<dc:date>" not in first
    assert "<script" not in first
