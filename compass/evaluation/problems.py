"""The problems that were scored, as evaluation writes them: text, golds, level, and the training rows that resemble them."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

PROBLEMS = pa.schema(
    [
        ("benchmark", pa.string()),
        ("id", pa.string()),
        ("problem", pa.string()),
        ("answer", pa.string()),
        ("alternatives", pa.list_(pa.string())),
        ("tolerance", pa.string()),
        ("level", pa.string()),
        ("similar", pa.list_(pa.string())),
        ("in_sources", pa.list_(pa.string())),
    ]
)
"""Columns of `data/evaluate/problems.parquet`.

`answer` is the gold and `alternatives` other golds, any of which is right; `tolerance` is how far a number may be off. `level`
is the benchmark's own difficulty, null where it has none. `similar` holds the ids of rows that an RL stage trained on and that resemble the
problem (`compass.evaluation.similar`), `in_sources` the ids of rows that hold it and that decontamination dropped; both are null where that is
not known.
"""

CONTAMINATED = "contaminated"


def problems_table(
    benchmarks: Mapping[str, pa.Table],
    similar: Mapping[str, list[str]] | None = None,
    in_sources: Mapping[str, list[str]] | None = None,
) -> pa.Table:
    """The problems of every benchmark, in their order, as a table of `PROBLEMS`.

    Args:
        benchmarks: name to `RECORD` rows.
        similar: item id to the ids of trained rows that resemble it, or None where that is not known.
        in_sources: item id to the ids of dropped rows that hold it, or None where that is not known.
    """
    rows = [
        {
            "benchmark": name,
            "id": row["id"],
            "problem": row["problem"],
            "answer": row["answer"],
            "alternatives": row.get("alternatives"),
            "tolerance": row.get("tolerance"),
            "level": row["source_level"] or None,
            "similar": None if similar is None else similar.get(row["id"], []),
            "in_sources": None if in_sources is None else in_sources.get(row["id"], []),
        }
        for name, items in benchmarks.items()
        for row in items.to_pylist()
    ]
    return pa.Table.from_pylist(rows, schema=PROBLEMS)


def dropped_copies(dropped: pa.Table, benchmarks: Mapping[str, pa.Table]) -> dict[str, list[str]]:
    """The rows that curation dropped because they hold a benchmark item, by the item's id.

    Args:
        dropped: `LEDGER` rows of the stage `denoise`.
        benchmarks: name to `RECORD` rows.
    """
    ids = {
        f"{name}:{row['source_id']}": row["id"]
        for name, items in benchmarks.items()
        for row in items.select(["id", "source_id"]).to_pylist()
    }
    found: dict[str, list[str]] = {}
    for row in dropped.select(["id", "reason", "evidence"]).to_pylist():
        evidence = json.loads(row["evidence"])
        named = [evidence["also_contaminated"]] if "also_contaminated" in evidence else []
        if row["reason"] == CONTAMINATED:
            named = [f"{evidence['benchmark']}:{evidence['item']}", *evidence.get("other_items", [])]
        for item in named:
            if item in ids:
                found.setdefault(ids[item], []).append(row["id"])
    return found
