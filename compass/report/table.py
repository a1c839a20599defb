"""The tables that `make pipeline` ends with: `python -m compass.report.table`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from compass.ledger import Counts
from compass.records import RecordError
from compass.report.headline import percent
from compass.report.results import read_results

if TYPE_CHECKING:
    from rich.table import Table


def funnel_table(stages: Sequence[Counts]) -> Table:
    """A row for every curation stage: rows read, kept and dropped, and the most frequent reasons."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="rows", title_justify="left")
    for name in ("stage", "read", "kept", "dropped", "most frequent reasons"):
        table.add_column(name, justify="left" if name in ("stage", "most frequent reasons") else "right")
    for counts in stages:
        numbers = (f"{count:,}" for count in (counts.read, counts.kept, counts.read - counts.kept))
        table.add_row(*(Text(cell) for cell in (counts.stage, *numbers, counts.reasons(4))))
    return table


def scores_table(scores: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Table:
    """A row per benchmark and measure, a column per model: sampled accuracy with its interval, greedy, pass@k.

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
        return f"{percent(score['accuracy'])}\n{_interval(score['ci95'])}"
    return percent(score[measure]) if measure in score else ""


def _gain(score: Mapping[str, Any]) -> str:
    if "over_base" not in score:
        return ""
    return f"{100 * score['over_base']:+z.1f}\n{_interval(score['over_base_ci95'])}"


def _interval(interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{percent(low)}\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}{percent(high)}"


def main() -> None:
    """Print both tables for the results in the current folder."""
    from rich.console import Console

    console = Console()
    try:
        results = read_results()
    except RecordError as error:
        sys.exit(f"table: {error}")
    if not results.counts and not results.scores:
        sys.exit("table: nothing has run here yet; `compass run` runs it")
    console.print(funnel_table(results.counts))
    if results.scores:
        console.print(scores_table(results.scores))
        console.print("The page: reports/index.html · the runs: make up", highlight=False)


if __name__ == "__main__":
    main()
