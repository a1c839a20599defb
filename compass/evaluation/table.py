"""Models side by side in the terminal: sampled accuracy with its interval, greedy accuracy and pass@k together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def scores_table(scores: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Table:
    """A row a benchmark and measure, a column a model.

    Args:
        scores: model to benchmark (and `average`) to scores, as `metrics/evaluate.json` holds them.
    """
    from rich import box
    from rich.table import Table

    table = Table(title="Evaluation, percent", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("benchmark", "measure"):
        table.add_column(name)
    for model in scores:
        table.add_column(model, justify="right")
    for benchmark, first in next(iter(scores.values())).items():
        samples = first["samples"]
        measures = [f"avg@{samples}", "greedy", f"pass@{samples}"]
        style = "bold" if benchmark == "average" else None
        for measure in measures:
            cells = [_cell(scored[benchmark], measure) for scored in scores.values()]
            if any(cells):
                last = measure == measures[-1] or (measure == measures[-2] and f"pass@{samples}" not in first)
                table.add_row(
                    benchmark if measure == measures[0] else "", measure, *cells, style=style, end_section=last
                )
    gains = [scored["average"] for scored in scores.values()]
    if any("over_base" in gain for gain in gains):
        table.add_row("average", "over base", *(_gain(gain) for gain in gains), style="bold")
    return table


def _cell(score: Mapping[str, Any], measure: str) -> str:
    if measure.startswith("avg@"):
        return f"{_percent(score['accuracy'])}\n{_interval(score['ci95'])}"
    return _percent(score[measure]) if measure in score else ""


def _gain(score: Mapping[str, Any]) -> str:
    if "over_base" not in score:
        return ""
    return f"{100 * score['over_base']:+.1f}\n{_interval(score['over_base_ci95'])}"


def _interval(interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{_percent(low)}\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}{_percent(high)}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
