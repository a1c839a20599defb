"""`compass.why`: the history of one problem, or the rows and benchmark items that a query names."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

MOST = 20
"""Benchmark items that are given, and matches that `compass why` lists."""


def why(query: str, data: str | Path = "data") -> dict[str, Any]:
    """What every stage did with the rows that a query names; what `compass why --json` prints.

    Args:
        query: an id or its first digits, SOURCE:ROW, a source's own id, BENCHMARK:ITEM, or a problem's text or a piece of it.
        data: a pipeline's data folder, or one that `compass curate` or `compass.curate` wrote.

    Returns:
        `how` the query names them; `rows`, each with id, source, source_id, problem, answer, digest (as in a file of labels) and `stages` (stage to `fate`, and where it was
        dropped `reason` and `evidence`); benchmark `items`, each with `scores` per model and `similar` rows.

    Raises:
        RecordError: nothing is named so, no collected problem is like the text, or the folder holds no rows.
    """
    from compass.evaluation.label_files import row_key
    from compass.report.evidence import COLUMNS, read_evidence
    from compass.report.find import find_problem
    from compass.report.item_history import item_tallies, similar_rows

    outputs, found = find_problem(query, data)
    rows = []
    for row in found.rows:
        stages = outputs.find(row["id"])
        first = next(iter(stages.values()))[1]
        fates: dict[str, Any] = {
            stage: {"fate": fate}
            | ({} if fate == "kept" else {"reason": last["reason"], "evidence": read_evidence(last["evidence"])})
            for stage, (fate, last) in stages.items()
        }
        rows.append({name: first[name] for name in COLUMNS} | {"digest": row_key(first)[1], "stages": fates})
    shown = []
    for item in found.items[:MOST]:
        scores = item_tallies(outputs.folder, item["source"], item["id"])
        facts = {
            "scores": {model: asdict(one) for model, one in scores.items()},
            "similar": similar_rows(outputs, item),
        }
        shown.append({name: item[name] for name in COLUMNS} | facts)
    return {"how": found.how, "rows": rows, "items": shown}
