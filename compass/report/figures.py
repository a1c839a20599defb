"""The page's figures, drawn by matplotlib without a screen and returned as inline SVG."""

from __future__ import annotations

import io
import re
from typing import Any

from compass.report.results import Results, funnel

COLOURS = ("#9aa5b1", "#7fb3d5", "#2e86c1", "#1b4f72")
"""Base and the RL stages, from pale to strong."""


def scores_figure(results: Results) -> str | None:
    """Accuracy of every model on every benchmark, with its 95% interval."""
    if not results.scores:
        return None
    figure, axes = _figure(8, 3.4)
    benchmarks = list(next(iter(results.scores.values())))
    width = 0.8 / len(results.scores)
    for number, (model, scored) in enumerate(results.scores.items()):
        shown = [scored[name] for name in benchmarks if name in scored]
        heights = [100 * score["accuracy"] for score in shown]
        low = [max(0.0, height - 100 * score["ci95"][0]) for height, score in zip(heights, shown, strict=True)]
        high = [max(0.0, 100 * score["ci95"][1] - height) for height, score in zip(heights, shown, strict=True)]
        places = [index + number * width for index in range(len(shown))]
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


def funnel_figure(results: Results) -> str | None:
    """Rows that every curation stage kept and dropped."""
    rows = funnel(results)
    if not rows:
        return None
    figure, axes = _figure(8, 0.9 + 0.35 * len(rows))
    names = [row["stage"] for row in rows]
    kept = [row["kept"] for row in rows]
    axes.barh(names, kept, color=COLOURS[2], label="kept")
    axes.barh(names, [row["read"] - row["kept"] for row in rows], left=kept, color="#d98880", label="dropped")
    axes.invert_yaxis()
    axes.set_xlabel("rows")
    axes.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))
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
