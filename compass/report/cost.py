"""Accuracy beside what it costs: tokens generated per problem, what each model reaches with as many, and training per point gained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compass.page.blocks import Note, Part, Section, Table
from compass.report.figures import draw_chart, tokens_figure
from compass.report.headline import find_comparison, percent
from compass.report.run import Run
from compass.settings.rl import list_course

MOST_BUDGETS = 8
"""Rows of the table."""


def tokens_section(run: Run) -> Section:
    """Accuracy against tokens, averaged over benchmarks: a figure, and a table of what each model reaches with as many tokens as the others."""
    points = {model: own["by_tokens"] for model, own in run.results.averages.items() if own.get("by_tokens")}
    if not points:
        return Section("Accuracy and tokens", [])
    note = (
        "A point is the majority of k responses (maj@k; one response is avg@k) against the tokens that they take per problem, the mean over benchmarks; a star is the greedy response. "
        "A model that writes longer responses has to beat several short ones of another."
    )
    parts: list[Part] = [
        Note(note),
        *draw_chart("tokens", note, lambda width: tokens_figure(run.results, width)),
        Note(
            "With at most so many sampled tokens per problem, each model by the majority of as many responses as fit; no interval, for orientation."
        ),
        Table(["sampled tokens per problem", *points], equal_tokens(points)),
    ]
    return Section("Accuracy and tokens", parts, "tokens")


def cost_per_point(run: Run) -> list[Part]:
    """For each trained model its gain over the first and what its training took; none where no training was timed."""
    rows = []
    starts = {name: own["init_from"] for name, own in run.parameters.get("rl", {}).get("stages", {}).items()}
    for model in run.models[1:]:
        times = [run.times.get(stage) for stage in list_course(starts, model)]
        found = find_comparison(run, model, run.models[0])
        if not times or not found or not all(times):
            continue
        seconds = sum(
            fact["seconds"] * (len(fact["machine"].get("gpus", ())) or fact["machine"]["cores"]) for fact in times
        )
        gain = 100 * found["difference"]
        shown = found["ci95"][0] > 0
        cost = f"{seconds / 3600 / gain:.3g}" if shown else "no gain shown"
        rows.append([model, f"{gain:+.1f}", f"{seconds / 3600:.2f}", cost])
    if not rows:
        return []
    note = (
        f"Hours of all cores, or of all GPUs where there are any, that training took up to each model, per point of average accuracy over "
        f"{run.models[0]}; no figure where the interval of the gain holds 0. Grading and evaluation are left out."
    )
    return [Note(note), Table(["model", "points gained", "device hours of training", "hours per point"], rows)]


def equal_tokens(points: Mapping[str, Sequence[Mapping[str, float]]]) -> list[list[Any]]:
    """Rows of a table: a number of tokens, and each model's maj@k with the largest k that they pay for.

    Args:
        points: model to its `by_tokens`, k rising.
    """
    budgets = sorted({one["tokens"] for own in points.values() for one in own})
    most = min(own[-1]["tokens"] for own in points.values())  # beyond it a model has no more samples to spend
    first = max(own[0]["tokens"] for own in points.values())  # below it a model has no response at all
    chosen = [budget for budget in budgets if min(first, most) <= budget <= max(first, most)]
    shown = list({f"{budget:,.0f}": budget for budget in chosen}.values())  # of budgets that look alike the largest
    step = -(-len(shown) // MOST_BUDGETS)
    return [[f"{budget:,.0f}", *(_cell(own, budget) for own in points.values())] for budget in shown[::step]]


def _cell(own: Sequence[Mapping[str, float]], budget: float) -> str:
    paid = [one for one in own if one["tokens"] <= budget * (1 + 1e-9)]
    return f"{percent(paid[-1]['maj'])}% (k = {paid[-1]['k']:g})" if paid else "-"
