"""Figures of the page and of the data card, drawn by matplotlib without a screen and returned as SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from compass.ledger import Counts
from compass.report.results import Results

COLOURS = ("#9aa5b1", "#7fb3d5", "#2e86c1", "#1b4f72")
"""Base and the RL stages, from pale to strong."""

LONGEST_LABEL = 32
"""Characters of a bar's label."""


def scores_figure(results: Results) -> str | None:
    """Accuracy of every model on every benchmark, with its 95% interval."""
    if not results.scores:
        return None
    figure, axes = _figure(8, 3.4)
    benchmarks = list(next(iter(results.scores.values())))
    width = 0.8 / len(results.scores)
    for number, (model, scored) in enumerate(results.scores.items()):
        scores = {place: scored[name] for place, name in enumerate(benchmarks) if name in scored}
        heights = [100 * score["accuracy"] for score in scores.values()]
        pairs = list(zip(heights, scores.values(), strict=True))
        low = [max(0.0, height - 100 * score["ci95"][0]) for height, score in pairs]
        high = [max(0.0, 100 * score["ci95"][1] - height) for height, score in pairs]
        places = [place + number * width for place in scores]
        colour = COLOURS[min(number, len(COLOURS) - 1)]
        axes.bar(places, heights, width, yerr=[low, high], label=model, color=colour, capsize=2, ecolor="#333333")
    axes.set_xticks(
        [index + 0.4 - width / 2 for index in range(len(benchmarks))], [_plain(name) for name in benchmarks]
    )
    axes.set_ylabel("accuracy, % (95% interval)")
    axes.set_ylim(0, 100)
    axes.legend(frameon=False, ncols=len(results.scores), loc="lower center", bbox_to_anchor=(0.5, 1))
    return _svg(figure)


def curves_figure(results: Results) -> str | None:
    """Training accuracy and response length over the steps of all RL stages, one after the other."""
    if not results.curves:
        return None
    figure, (left, right) = _figure(8, 3, panels=2)
    offset = 0.0
    for number, (stage, curve) in enumerate(results.curves.items(), start=1):
        steps = [offset + step for step in curve["step"]]
        colour = COLOURS[min(number, len(COLOURS) - 1)]
        left.plot(steps, [100 * value for value in curve["accuracy"]], color=colour, label=stage)
        right.plot(steps, curve["response_tokens"], color=colour, label=stage)
        offset = steps[-1] if steps else offset
    left.set_ylabel("right responses in training, %")
    right.set_ylabel("response length, tokens")
    for axes in (left, right):
        axes.set_xlabel("step, all stages")
        axes.legend(frameon=False)
    return _svg(figure)


def funnel_figure(stages: Sequence[Counts]) -> str | None:
    """Rows that every curation stage kept and dropped."""
    if not stages:
        return None
    figure, axes = _figure(8, 0.9 + 0.35 * len(stages))
    names, kept = [counts.stage for counts in stages], [counts.kept for counts in stages]
    axes.barh(names, kept, color=COLOURS[2], label="kept")
    axes.barh(names, [counts.read - counts.kept for counts in stages], left=kept, color="#d98880", label="dropped")
    axes.invert_yaxis()
    axes.set_xlabel("rows")
    axes.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
    return _svg(figure)


def bars_figure(title: str, values: Mapping[str, int]) -> str | None:
    """A horizontal bar with its number for each label, in the order given; long labels are cut."""
    if not values:
        return None
    figure, axes = _figure(8, 0.6 + 0.25 * len(values))
    labels = [_plain(label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…") for label in values]
    drawn = axes.barh(range(len(values)), list(values.values()), color=COLOURS[2])
    axes.bar_label(drawn, [f"{value:,}" for value in values.values()], padding=3)
    axes.set_yticks(range(len(values)), labels)  # by place: two labels may be equal once they are cut
    axes.set_title(_plain(title), loc="left")
    axes.invert_yaxis()
    axes.spines["bottom"].set_visible(False)
    axes.set_xticks([])
    return _svg(figure)


def _figure(width: float, height: float, panels: int = 1) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # without pyplot: no global state and no screen

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, panels)
    for single in axes if panels > 1 else [axes]:
        single.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _plain(text: str) -> str:
    """Text that matplotlib shows as it is: a `$` would start its mathematics."""
    return text.replace("$", r"\$")


def _svg(figure: Any) -> str:
    import matplotlib

    out = io.StringIO()
    # Text stays text, and neither dates nor random ids change the page from run to run.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "compass"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(r"^.*?(?=<svg)", "", out.getvalue(), flags=re.DOTALL)
