"""Figures of the page, drawn by matplotlib without a screen and returned as SVG.

Lines and letters have the page's own colour (`currentColor`) and the background is transparent, so that one figure can be
read on light and on dark. Figures of the page come in two widths, for a desk and for a phone.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from compass.curves import CURVES, unlisted_curves
from compass.page.blocks import Chart
from compass.report.printable import cut
from compass.report.results import Results

COLOURS = ("#8c96a3", "#e69f00", "#3d8fd1", "#12a37a", "#c65f9b", "#d55e00", "#8d7bd6")
"""Base and the RL stages, told apart on light and on dark and by most colour-blind readers (after Okabe and Ito 2008)."""

DIFFERENCE = "#3d8fd1"

WIDE, NARROW = 8.6, 3.9
"""Widths of a figure in inches, at 72 points each: for a desk and for a phone of 390 pixels."""

LONGEST_LABEL = 32
"""Characters of a label."""

DRAWN = {
    "accuracy": ("right responses, %", 100.0),
    "response_tokens": ("response length, tokens", 1.0),
    "left_out": ("responses left out of the update, %", 100.0),
} | {curve.column: (curve.title, curve.scale) for curve in CURVES if curve.column}
"""The curves of an RL stage that are drawn: title, and what a value is multiplied by. Others have their name as title."""


def draw_chart(name: str, text: str, draw: Callable[[float], str | None]) -> list[Chart]:
    """A figure drawn in both widths, as a list; an empty one where there is nothing to draw.

    Args:
        name: of its file.
        text: what it shows.
        draw: makes the SVG of a width in inches.
    """
    wide = draw(WIDE)
    return [Chart(name, text, wide, draw(NARROW) or "")] if wide else []


def scores_figure(results: Results, width: float = WIDE) -> str | None:
    """Accuracy of every model on every benchmark, with its 95% interval: a dot and a line each, the average first."""
    if not results.scores:
        return None
    models = list(results.scores)
    benchmarks = results.benchmarks
    figure, axes = _figure(width, 0.9 + len(benchmarks) * (0.22 + 0.15 * len(models)))
    for number, (model, scored) in enumerate(results.scores.items()):
        shift = 0.7 * ((number + 0.5) / len(models) - 0.5)
        places = [place + shift for place, name in enumerate(benchmarks) if name in scored]
        own = [scored[name] for name in benchmarks if name in scored]
        values = [100 * score["accuracy"] for score in own]
        low = [max(0.0, value - 100 * score["ci95"][0]) for value, score in zip(values, own, strict=True)]
        high = [max(0.0, 100 * score["ci95"][1] - value) for value, score in zip(values, own, strict=True)]
        axes.errorbar(
            values, places, xerr=[low, high], fmt="o", ms=4, capsize=2, color=colour(number), label=_label(model)
        )
    axes.set_yticks(range(len(benchmarks)), [_label(name) for name in benchmarks])
    axes.set_ylim(len(benchmarks) - 0.5, -0.5)
    axes.set_xlim(-1, 101)
    axes.set_xlabel("accuracy, % (95% interval)")
    axes.grid(axis="x", alpha=0.3)
    longest = max(len(cut(model, LONGEST_LABEL)) for model in models)
    columns = max(1, min(len(models), int(11 * width / (longest + 6))))
    axes.legend(frameon=False, ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1))
    return _svg(figure)


def tokens_figure(results: Results, width: float = WIDE) -> str | None:
    """Average accuracy against the tokens that it takes per problem: one response, majorities of more, and the greedy response as a star."""
    scored = {model: own for model, own in results.averages.items() if own.get("by_tokens")}
    if not scored:
        return None
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    figure, axes = _figure(width, 3.2)
    for number, model in enumerate(results.scores):
        if model not in scored:
            continue
        points = scored[model]["by_tokens"]
        values = [100 * one["maj"] for one in points]
        tokens = [one["tokens"] for one in points]
        axes.plot(tokens, values, "o-", ms=4, lw=1.4, color=colour(number), label=_label(model))
        if "greedy_length" in scored[model]:
            axes.plot(
                [scored[model]["greedy_length"]], [100 * scored[model]["greedy"]], "*", ms=9, color=colour(number)
            )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("tokens generated per problem (k responses)")
    axes.set_ylabel("majority of k right, %")
    axes.set_ylim(-1, 101)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=8, ncols=max(1, int(width / 1.5)), loc="lower center", bbox_to_anchor=(0.5, 1))
    return _svg(figure)


def curves_figure(
    results: Results,
    width: float = WIDE,
    linked: Mapping[str, Sequence[int]] | None = None,
) -> str | None:
    """Training curves over the steps of all RL stages, one after the other.

    Args:
        results: `curves` are drawn.
        width: in inches.
        linked: RL stage to steps whose points link to `#rollouts=STAGE:STEP`.
    """
    figure, panels = _panels(list(results.curves.values()), width)
    if not figure:
        return None
    for name, axes in panels.items():
        factor = DRAWN.get(name, (name, 1.0))[1]
        offset = 0.0
        for number, (stage, curve) in enumerate(results.curves.items(), start=1):
            values = [factor * value for value in curve.get(name, ())]
            steps = [offset + step for step in curve["step"]] if values else []
            axes.plot(steps, values, color=colour(number), label=_label(stage, len(stage)), lw=1.4)
            kept = (linked or {}).get(stage, ())
            points = [point for point in zip(curve["step"], steps, values, strict=False) if int(point[0]) in kept]
            if points:
                dots = axes.scatter(
                    *zip(*(point[1:] for point in points), strict=True), s=26, color=colour(number), zorder=3
                )
                dots.set_urls([f"#rollouts={stage}:{step:.0f}" for step, *_ in points])
            offset += curve["step"][-1] if curve["step"] else 0.0
        axes.margins(y=0.12)
    next(iter(panels.values())).legend(frameon=False, fontsize=8)
    figure.supxlabel("iteration, stages one after the other", fontsize=9)
    return _svg(figure)


def forest_figure(
    differences: Mapping[str, tuple[float, float, float]], smallest: float, width: float = WIDE
) -> str | None:
    """Differences with their intervals, a row each, and the smallest one of interest as a band around 0.

    Args:
        differences: name to difference and limits, in points.
        smallest: in points.
        width: in inches.
    """
    if not differences:
        return None
    figure, axes = _figure(width, 0.9 + 0.35 * len(differences))
    axes.axvspan(-smallest, smallest, color=COLOURS[0], alpha=0.25, lw=0)
    axes.axvline(0, color="#000000", lw=0.8)
    for place, (middle, low, high) in enumerate(differences.values()):
        axes.errorbar(
            [middle], [place], xerr=[[middle - low], [high - middle]], fmt="o", ms=5, capsize=3, color=DIFFERENCE
        )
    axes.set_yticks(range(len(differences)), [_label(name) for name in differences])
    axes.set_ylim(len(differences) - 0.5, -0.5)
    axes.set_xlabel("difference, points (95% interval)")
    return _svg(figure)


def bands_figure(groups: Mapping[str, Sequence[Mapping[str, Sequence[float]]]], width: float = WIDE) -> str | None:
    """Training curves of several groups of runs: each group's mean, and a band from its lowest run to its highest.

    Args:
        groups: name to the curves of each of its runs, those of all RL stages joined.
        width: in inches.
    """
    figure, panels = _panels([run for runs in groups.values() for run in runs], width)
    if not figure:
        return None
    for name, axes in panels.items():
        factor = DRAWN.get(name, (name, 1.0))[1]
        for number, (group, runs) in enumerate(groups.items(), start=1):
            measured = [run[name] for run in runs if run.get(name)]
            length = min(map(len, measured), default=0)
            columns = list(zip(*(values[:length] for values in measured), strict=True))
            means = [factor * sum(values) / len(values) for values in columns]
            steps = range(1, length + 1)
            axes.plot(steps, means, color=colour(number), label=_label(group), lw=1.4)
            low, high = ([factor * edge(values) for values in columns] for edge in (min, max))
            axes.fill_between(steps, low, high, color=colour(number), alpha=0.2, lw=0)
    next(iter(panels.values())).legend(frameon=False, fontsize=8)
    figure.supxlabel("iteration over all stages", fontsize=9)
    return _svg(figure)


def heat_figure(shares: Mapping[str, Mapping[str, Sequence[float]]], width: float = WIDE) -> str | None:
    """Share of right samples per problem (across) and model (down), a strip per benchmark.

    Args:
        shares: benchmark to model to each problem's share, the problems in one order for all models.
        width: in inches.
    """
    strips = {name: models for name, models in shares.items() if any(len(row) for row in models.values())}
    if not strips:
        return None
    models = max(len(strip) for strip in strips.values())
    figure, panels = _figure(width, 0.5 + len(strips) * (0.42 + 0.17 * models), rows=len(strips))
    for axes, (name, strip) in zip(panels, strips.items(), strict=True):
        # One image, not a path per cell: thousands of problems stay a few kilobytes.
        image = axes.imshow(list(strip.values()), aspect="auto", cmap="RdYlBu", vmin=0, vmax=1, interpolation="nearest")
        axes.set_yticks(range(len(strip)), [_label(model, 28 if width > NARROW else 14) for model in strip], fontsize=8)
        axes.set_xticks([])
        axes.set_title(f"{_label(name)}: {len(next(iter(strip.values()))):,} problems", loc="left", fontsize=9)
        axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=panels, orientation="horizontal", aspect=50, fraction=0.02, pad=0.01)
    bar.ax.tick_params(labelsize=8)
    bar.set_label("share of right samples", fontsize=8)
    return _svg(figure)


def colour(number: int) -> str:
    """The colour of a model by its place; more models than colours begin again."""
    return COLOURS[number % len(COLOURS)]


def _panels(curves: Sequence[Mapping[str, Sequence[float]]], width: float) -> tuple[Any, dict[str, Any]]:
    """A figure with an axes for each curve by its name, those of `DRAWN` first and two beside each other where there is room; None without curves."""
    others = unlisted_curves(name for curve in curves for name in curve)
    measured = [name for name in dict.fromkeys((*DRAWN, *others)) if any(curve.get(name) for curve in curves)]
    if not measured:
        return None, {}
    columns = 2 if width > NARROW else 1
    rows = -(-len(measured) // columns)
    figure, panels = _figure(width, 1.9 * rows + 0.4, rows=rows, columns=columns)
    for axes in panels[len(measured) :]:
        axes.set_visible(False)
    found = dict(zip(measured, panels, strict=False))
    for name, axes in found.items():
        axes.set_title(DRAWN.get(name, (name,))[0], loc="left", fontsize=9)
        axes.grid(alpha=0.25)
    return figure, found


def _figure(width: float, height: float, rows: int = 0, columns: int = 1) -> tuple[Any, Any]:
    """A figure with its axes: one, or with `rows` a list of them."""
    from matplotlib.figure import Figure  # without pyplot: no global state and no screen

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_alpha(0)
    axes = figure.subplots(max(rows, 1), columns, squeeze=False).flatten().tolist()
    for single in axes:
        single.spines[["top", "right"]].set_visible(False)
        single.patch.set_alpha(0)
        single.tick_params(labelsize=9)
    return figure, axes if rows else axes[0]


def _label(text: str, longest: int = LONGEST_LABEL) -> str:
    """A text of at most so many characters that matplotlib shows as it is: a `$` would start its mathematics."""
    return cut(text, longest).replace("$", r"\$")


def _svg(figure: Any) -> str:
    import matplotlib

    out = io.StringIO()
    # Text stays text, and neither dates nor random ids change the page from run to run.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "compass"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = re.sub(r"^.*?(?=<svg)", "", out.getvalue(), flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # Links of points lead to places in the page itself.
    return text.replace("#000000", "currentColor").replace(' target="_blank"', "")
