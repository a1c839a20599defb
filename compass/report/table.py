"""The table that `make pipeline` ends with: `python -m compass.report.table`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from compass.records import RecordError
from compass.report.page import percent
from compass.report.results import Results, funnel, read_results

if TYPE_CHECKING:
    from rich.table import Table


def scores_table(results: Results) -> Table:
    """Accuracy with its 95% interval, greedy and pass@8 of every model, a row a benchmark."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="accuracy % (95% interval) · greedy % · pass@8 %", title_justify="left")
    table.add_column("benchmark")
    for model in results.scores:
        table.add_column(model, justify="right")
    for benchmark in next(iter(results.scores.values()), {}):
        cells = []
        for scored in results.scores.values():
            score = scored.get(benchmark)
            if score is None:
                cells.append("")
                continue
            low, high = score["ci95"]
            others = " · ".join(percent(score.get(name)) or "–" for name in ("greedy", "pass@8"))
            cells.append(f"{percent(score['accuracy'])} ({percent(low)}–{percent(high)}) · {others}")
        style = "bold" if benchmark == "average" else ""
        table.add_row(*(Text(cell, style=style) for cell in (benchmark, *cells)))
    return table


def funnel_table(results: Results) -> Table:
    """Rows read, kept and dropped by every curation stage."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title="rows", title_justify="left")
    for name in ("stage", "read", "kept", "dropped", "most frequent reasons"):
        table.add_column(name, justify="left" if name in ("stage", "most frequent reasons") else "right")
    for row in funnel(results):
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in list(row["dropped"].items())[:4])
        counts = (f"{row['read']:,}", f"{row['kept']:,}", f"{row['read'] - row['kept']:,}")
        table.add_row(*(Text(cell) for cell in (row["stage"], *counts, reasons)))
    return table


def main() -> None:
    """Print both tables for the results in the current folder."""
    from rich.console import Console

    console = Console()
    try:
        results = read_results()
    except RecordError as error:
        sys.exit(f"table: {error}")
    if not results.summaries and not results.scores:
        sys.exit("table: nothing has run here yet; `make pipeline` runs it")
    console.print(funnel_table(results))
    if results.scores:
        console.print(scores_table(results))
        console.print("The page: reports/index.html · the runs: make ui", highlight=False)


if __name__ == "__main__":
    main()
