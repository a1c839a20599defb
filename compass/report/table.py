"""The table that `make pipeline` ends with: `python -m compass.report.table`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from compass.records import RecordError
from compass.report.results import Results, funnel, read_results

if TYPE_CHECKING:
    from rich.table import Table


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

    from compass.evaluation.table import scores_table

    console = Console()
    try:
        results = read_results()
    except RecordError as error:
        sys.exit(f"table: {error}")
    if not results.summaries and not results.scores:
        sys.exit("table: nothing has run here yet; `make pipeline` runs it")
    console.print(funnel_table(results))
    if results.scores:
        console.print(scores_table(results.scores))
        console.print("The page: reports/index.html · the runs: make ui", highlight=False)


if __name__ == "__main__":
    main()
