"""From verified problems to the training set of each RL stage."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from compass.curriculum.selection import Selection, select_problems
from compass.curriculum.source_levels import source_levels
from compass.ledger import Drop, Reason, split
from compass.records import join_stages, with_column
from compass.settings import Curriculum


def curriculum(records: pa.Table, settings: Curriculum, seed: int) -> tuple[pa.Table, pa.Table, dict[str, Selection]]:
    """Choose training problems; `stages` of a kept row names the RL stages that train on it.

    Args:
        records: verified `RECORD` rows.
        settings: the section `curriculum`.
        seed: of the order in which problems are taken.

    Returns:
        Kept rows, with `level` and `stages` filled, dropped rows, and each stage's selection.
    """
    rows = records.select(["id", "source", "source_level", "level", "solve_rate", "doubt"]).to_pylist()
    own = source_levels([r["source"] for r in rows], [r["source_level"] for r in rows])
    levels: list[int | None] = [
        row["level"] if row["level"] is not None else own_level if settings.use_source_level else None
        for row, own_level in zip(rows, own, strict=True)
    ]
    verdicts = [_trainable(row, level, settings) for row, level in zip(rows, levels, strict=True)]
    candidates = {
        row["id"]: level
        for row, level, verdict in zip(rows, levels, verdicts, strict=True)
        if verdict is None and level is not None
    }
    chosen = select_problems(candidates, settings.mixes, settings.problems, seed)
    stages: dict[str, list[str]] = {}
    for stage, selection in chosen.items():
        for id_ in selection.ids:
            stages.setdefault(id_, []).append(stage)
    for position, row in enumerate(rows):
        if verdicts[position] is None and row["id"] not in stages:
            verdicts[position] = Drop(Reason.NOT_SELECTED, {"level": levels[position]})
    filled = with_column(records, "level", levels)
    filled = with_column(filled, "stages", [join_stages(stages.get(row["id"], ())) for row in rows])
    kept, dropped = split(filled, verdicts, "curriculum")
    return kept, dropped, chosen


def _trainable(row: dict[str, Any], level: int | None, settings: Curriculum) -> Drop | None:
    if settings.sources and row["source"] not in settings.sources:
        return Drop(Reason.NOT_SELECTED, {"source": row["source"], "sources": settings.sources})
    if row["doubt"] and settings.doubtful == "drop":
        return Drop(Reason.DOUBTFUL, {"doubt": json.loads(row["doubt"])})
    lowest, highest = settings.solve_rate
    rate = row["solve_rate"]
    if level is None:
        return Drop(
            Reason.UNGRADED, {"source_level": row["source_level"], "use_source_level": settings.use_source_level}
        )
    if rate is not None and not lowest <= rate <= highest:
        return Drop(Reason.SOLVE_RATE, {"solve_rate": rate, "allowed": [lowest, highest]})
    return None
