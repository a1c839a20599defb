"""The history of one benchmark item: how each model does on it, which trained rows resemble it and when they were trained on, and which rows were dropped for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from compass.report.evidence import COLUMNS, item_name
from compass.report.outputs import Outputs, read_table, trained_steps
from compass.report.printable import printable

FOLDER = "evaluate"
"""Below a pipeline's data: what evaluation wrote."""

SHOWN_STEPS = 8
"""Iterations of a stage that are listed."""


def item_scores(data: Path, item: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Model to `samples`, `right`, `right_lenient` and `greedy` (None without a greedy response) on an item; empty where none was evaluated.

    Args:
        data: a pipeline's data folder.
        item: with `id` and `source`, its benchmark.
    """
    path = data / FOLDER / "samples.parquet"
    if not path.exists():
        return {}
    chosen = (pc.field("id") == item["id"]) & (pc.field("benchmark") == item["source"])
    columns = ["model", "greedy", "correct", "correct_lenient"]
    scores: dict[str, dict[str, Any]] = {}
    for row in read_table(path, columns=columns, filters=chosen).to_pylist():
        own = scores.setdefault(row["model"], {"samples": 0, "right": 0, "right_lenient": 0, "greedy": None})
        if row["greedy"]:
            own["greedy"] = row["correct"]
        else:
            own["samples"] += 1
            own["right"] += row["correct"]
            own["right_lenient"] += row["correct_lenient"]
    return scores


def similar_rows(outputs: Outputs, item: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The trained rows that resemble an item, each with id, source, source_id, problem, answer and `trained`: stage to iterations; None where that is not known."""
    path = outputs.folder / FOLDER / "problems.parquet"
    if not path.exists():
        return None
    chosen = (pc.field("id") == item["id"]) & (pc.field("benchmark") == item["source"])
    found = read_table(path, columns=["similar"], filters=chosen)["similar"].to_pylist()
    if not found or found[0] is None:
        return None
    steps = trained_steps(outputs.folder, found[0])
    rows = {row["id"]: row for row in outputs.collected(COLUMNS, found[0]).to_pylist()}
    return [rows[id_] | {"trained": steps.get(id_, {})} for id_ in found[0] if id_ in rows]


def items_like(data: Path, id_: str) -> list[dict[str, Any]]:
    """The benchmark items that a trained row resembles: benchmark, id and problem."""
    path = data / FOLDER / "problems.parquet"
    if not path.exists():
        return []
    rows = read_table(path, columns=["benchmark", "id", "problem", "similar"]).to_pylist()
    return [row for row in rows if id_ in (row["similar"] or ())]


def item_lines(outputs: Outputs, item: dict[str, Any]) -> Iterator[str]:
    """An item with its scores and the trained rows that resemble it, line by line."""
    yield f"{item['id']}  {printable(item_name(item))}, a benchmark's item"
    yield f"  problem   {printable(item['problem'], 600)}"
    yield f"  answer    {printable(item['answer'] or 'none', 200)}\n"
    scores = item_scores(outputs.folder, item)
    yield from (f"{model:11} {format_score(score)}" for model, score in scores.items())
    yield "" if scores else "no model was evaluated on it here\n"
    rows = similar_rows(outputs, item)
    if rows is None:
        yield "which trained rows resemble it is not known: the evaluate stage says it\n"
        return
    yield f"{len(rows):,} rows that resemble it were trained on" + (":" if rows else "\n")
    for row in rows:
        yield f"  {row['id']}  {printable(item_name(row))}  {printable(row['problem'], 90)}"
        yield from (f"    {line}" for line in format_steps(row["trained"]))
    if rows:
        yield f"  each row's rollouts: compass why {rows[0]['id']}\n"


def format_score(score: dict[str, Any]) -> str:
    """`3 of 8 samples right, 4 leniently; greedy wrong`."""
    lenient = f", {score['right_lenient']} leniently" if score["right_lenient"] != score["right"] else ""
    greedy = "" if score["greedy"] is None else f"; greedy {'right' if score['greedy'] else 'wrong'}"
    return f"{score['right']} of {score['samples']} samples right{lenient}{greedy}"


def format_steps(trained: dict[str, list[int]]) -> Iterator[str]:
    """A line per RL stage: `rl-1: trained on in iterations 3, 9`; one line that says so where no update used the row."""
    if not trained:
        yield "no recorded update used it"
    for stage, steps in trained.items():
        more = f" and {len(steps) - SHOWN_STEPS} more" if len(steps) > SHOWN_STEPS else ""
        yield f"{stage}: trained on in iteration{'s' * (len(steps) > 1)} {', '.join(map(str, steps[:SHOWN_STEPS]))}{more}"
