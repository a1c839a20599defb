"""The tables that `compass run` ends with; `python -m compass.report.terminal_tables` prints them again.

The live page, `compass watch` and Prefect show the same table of scores.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from compass.errors import UserError
from compass.page.blocks import Note, Table
from compass.page.terminal import print_blocks
from compass.report.headline import AVERAGE, format_interval, format_points, percent
from compass.report.results import read_results
from compass.report.run_sections import funnel_table


def scores_table(scores: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Table:
    """A row per benchmark and measure, a column per model: sampled accuracy with its interval, greedy, pass@k.

    Args:
        scores: model to benchmark (and `average`) to scores, as `metrics/evaluate.json` holds them.
    """
    rows = []
    for benchmark in next(iter(scores.values()), {}):
        own = [scored[benchmark] for scored in scores.values()]
        counts = sorted({one["samples"] for one in own})  # models between which samples had to decide have more
        rows.append(
            [
                benchmark,
                f"avg@{'/'.join(map(str, counts))}",
                *(_cell(percent(one["accuracy"]), one["ci95"]) for one in own),
            ]
        )
        for measure in ("greedy", f"pass@{counts[0]}"):
            if any(measure in one for one in own):
                rows.append(["", measure, *(percent(one.get(measure)) for one in own)])
    gains = [scored[AVERAGE] for scored in scores.values()]
    if any("over_base" in one for one in gains):
        cells = (
            _cell(format_points(one["over_base"]), one["over_base_ci95"]) if "over_base" in one else "" for one in gains
        )
        rows.append(["", "over base", *cells])
    text = "With 95% intervals. The report compares models pair by pair."
    return Table(["benchmark", "measure", *scores], rows, "Evaluation, percent", text)


def _cell(value: str, interval: Sequence[float]) -> str:
    """A value above its interval in brackets, or before it where lines are joined."""
    return f"{value}\n({format_interval(interval)})"


def print_tables() -> None:
    """Print both tables for the results in the current folder.

    Raises:
        UserError: nothing has run there, or a result cannot be read.
    """
    results = read_results()
    if not results.counts and not results.scores:
        raise UserError("nothing has run here yet; `compass run` runs it")
    tables = [funnel_table(results.counts, "Rows", 4)]
    if results.scores:
        tables += [scores_table(results.scores), Note("The page: reports/index.html · the runs: make up")]
    print_blocks(tables)


def main() -> None:
    """`print_tables` as a command."""
    try:
        print_tables()
    except UserError as error:
        sys.exit(f"table: {error}")


if __name__ == "__main__":
    main()
