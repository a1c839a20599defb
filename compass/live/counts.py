"""What a stage measured, from `metrics/STAGE.json`: rows kept and dropped by reason, levels, scores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compass.page.blocks import Bars, Block, Link, Note, Table, figures, format_number, format_share
from compass.report.terminal_tables import scores_table
from compass.runs.pipeline import Stage

LONGEST_VALUE = 120
"""Characters of a measured value; longer ones, such as lists of sources, stand in the stage's file."""


def counts_view(root: Path, stage: Stage) -> list[Block]:
    """The blocks of a stage that writes `metrics/STAGE.json` at its end."""
    path = root / "metrics" / f"{stage.name}.json"
    if stage.state == "running":
        return [Note("Rows kept and dropped are known when the stage has ended.")] if stage.kind != "base" else []
    if not path.exists():
        return [Note("This stage has no result here yet.", command=f"compass run {stage.name}")]
    try:
        measured = json.loads(path.read_text(encoding="utf-8"))
        if stage.name == "evaluate":
            return [scores_table(measured["models"])]
        if stage.name == "grade":
            return _grades(measured)
        return [*_rows(measured), *_measured(measured.get("metrics") or {})]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return [Note(f"metrics/{path.name} is not what the stage writes.", command=f"compass run {stage.name} --force")]


def report_view(root: Path, stage: Stage) -> list[Block]:
    """The blocks of the report stage."""
    if (root / "reports" / "index.html").exists():
        return [Link("Open the report", "/reports/index.html")]
    return [Note("There is no report yet.", command="compass run report")] if stage.state != "running" else []


def _rows(measured: Mapping[str, Any]) -> list[Block]:
    read, kept, dropped = measured.get("read"), measured.get("kept"), measured.get("dropped") or {}
    if read is None:
        return []
    lost = sum(dropped.values())
    share = f"{format_share(kept / read)} of the rows read" if read else ""
    blocks = [
        figures(
            ("read", format_number(read), "rows"),
            ("kept", format_number(kept), share),
            ("dropped", format_number(lost), "rows, by reason below"),
        )
    ]
    if dropped:
        items = [[reason.replace("_", " "), rows, f"{rows:,}"] for reason, rows in dropped.items()]
        blocks.append(Bars("Dropped rows by reason", items, "`compass ledger` lists them; `compass why` explains one."))
    return blocks


def _measured(facts: Mapping[str, Any]) -> list[Block]:
    rows = []
    for name, value in facts.items():
        if isinstance(value, Mapping) and value and all(isinstance(one, int | float) for one in value.values()):
            value = ", ".join(f"{key} {format_number(one)}" for key, one in value.items())
        elif isinstance(value, bool | int | float):
            value = str(value).lower() if isinstance(value, bool) else format_number(value, 4)
        elif not isinstance(value, str):
            continue
        rows.append([name.replace("_", " "), value if len(value) <= LONGEST_VALUE else value[:LONGEST_VALUE] + " …"])
    return [Table(["", ""], rows, "Measured")] if rows else []


def _grades(measured: Mapping[str, Any]) -> list[Block]:
    facts = measured.get("metrics") or {}
    levels = facts.get("levels") or {}
    items = [
        [f"level {level}", one["problems"], f"{one['problems']:,} problems, {format_share(one['solve_rate'])} solved"]
        for level, one in levels.items()
    ]
    return [
        figures(
            ("solve rate", format_share(facts.get("solve_rate")), f"mean of {facts.get('graded', 0):,} problems"),
            ("never solved", format_number(facts.get("never_solved")), "problems"),
            ("always solved", format_number(facts.get("always_solved")), "problems"),
            ("response length", format_number(facts.get("tokens")), "tokens, mean"),
        ),
        Bars("Problems by level", items),
    ]
