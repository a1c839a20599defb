"""The history of one benchmark item: how each model does on it, which trained rows resemble it and when they were trained on, and which rows were dropped for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from compass.report.evidence import COLUMNS, item_name
from compass.report.outputs import Outputs, read_table
from compass.report.printable import printable
from compass.report.tallies import COUNTED, Tally, tally

FOLDER = "evaluate"
"""Below a pipeline's data: what evaluation wrote."""

SHOWN_STEPS = 8
"""Iterations of a stage that are listed."""


def item_tallies(data: Path, benchmark: str, id_: str) -> Mapping[str, Tally]:
    """Each model's tally on a benchmark's item; empty where none was evaluated.

    Args:
        data: a pipeline's data folder.
        benchmark: the benchmark's name.
        id_: the item's.
    """
    path = data / FOLDER / "samples.parquet"
    found = tally(read_table(path, COUNTED, filters=_is(benchmark, id_))) if path.exists() else []
    return found[0].tallies if found else {}


def similar_rows(outputs: Outputs, item: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The trained rows that resemble an item, as of `trained_rows`; None where that is not known."""
    path = outputs.folder / FOLDER / "problems.parquet"
    if not path.exists():
        return None
    found = read_table(path, ["similar"], filters=_is(item["source"], item["id"]))["similar"].to_pylist()
    return None if not found or found[0] is None else trained_rows(outputs, found[0])


def trained_rows(outputs: Outputs, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Collected rows by their ids, each with id, source, source_id, problem, answer and `trained`: RL stage to the iterations whose update
    used it, as far as the stages recorded rewards."""
    used: dict[str, dict[str, set[int]]] = {}
    for stage, path in outputs.rewards().items():
        for row in read_table(path, ["id", "step", "used"], ids=ids).to_pylist():
            if row["used"]:
                used.setdefault(row["id"], {}).setdefault(stage, set()).add(row["step"])
    rows = {row["id"]: row for row in outputs.collected(COLUMNS, ids).to_pylist()}
    steps = {id_: {stage: sorted(own) for stage, own in stages.items()} for id_, stages in used.items()}
    return [rows[id_] | {"trained": steps.get(id_, {})} for id_ in ids if id_ in rows]


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
    scores = item_tallies(outputs.folder, item["source"], item["id"])
    yield from (f"{model:11} {format_tally(one)}" for model, one in scores.items())
    yield "" if scores else "no model was evaluated on it here\n"
    rows = similar_rows(outputs, item)
    if rows is None:
        yield "which trained rows resemble it is not known: the evaluate stage says it\n"
        return
    yield f"trained rows that resemble it: {len(rows):,}" + ("" if rows else "\n")
    for row in rows:
        yield f"  {row['id']}  {printable(item_name(row))}  {printable(row['problem'], 90)}"
        yield from (f"    {line}" for line in format_steps(row["trained"]))
    if rows:
        yield f"  each row's rollouts: compass why {rows[0]['id']}\n"


def format_tally(one: Tally) -> str:
    """`3 of 8 samples right, 4 leniently; greedy wrong`."""
    lenient = f", {one.right_lenient} leniently" if one.right_lenient != one.right else ""
    greedy = "" if one.greedy is None else f"; greedy {'right' if one.greedy else 'wrong'}"
    return f"{one.right} of {one.samples} samples right{lenient}{greedy}"


def format_steps(trained: dict[str, list[int]]) -> Iterator[str]:
    """A line per RL stage: `rl-1: trained on in iterations 3, 9`; one line that says so where no update used the row."""
    if not trained:
        yield "no recorded update used it"
    for stage, steps in trained.items():
        more = f" and {len(steps) - SHOWN_STEPS} more" if len(steps) > SHOWN_STEPS else ""
        yield f"{stage}: trained on in iteration{'s' * (len(steps) > 1)} {', '.join(map(str, steps[:SHOWN_STEPS]))}{more}"


def _is(benchmark: str, id_: str) -> pc.Expression:
    """Whether a row is of an item."""
    return (pc.field("id") == id_) & (pc.field("benchmark") == benchmark)
