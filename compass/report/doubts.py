"""Rows that were kept although a noise filter doubts them, with the doubts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pyarrow.compute as pc

from compass.records import RecordError
from compass.report.outputs import Outputs, read_table

DECIDES = "denoise"
"""The stage that fills the column `doubt`."""


def find_doubtful(
    outputs: Outputs, *, stage: str | None = None, reason: str | None = None, source: str | None = None
) -> list[dict[str, Any]]:
    """Rows with doubts that a stage kept: id, source, source_id, problem, answer, and `doubt` as a list of findings.

    Args:
        outputs: where the rows are.
        stage: the stage that kept them; None for `denoise`, which doubts.
        reason: only rows with a doubt for this reason, and only these doubts.
        source: only rows of this source.

    Raises:
        RecordError: the stage has not run here, or comes before `denoise`.
    """
    stage = stage or DECIDES
    stages = list(outputs.kept)
    if DECIDES not in stages or stage not in stages[stages.index(DECIDES) :]:
        raise RecordError(
            f"{outputs.folder}: no rows that `{stage}` kept with doubts; `{DECIDES}` doubts, and these stages "
            f"have run: {', '.join(stages)}"
        )
    columns = ["id", "source", "source_id", "problem", "answer", "doubt"]
    kept = read_table(outputs.kept[stage], columns=columns)
    rows = []
    for row in kept.filter(pc.is_valid(kept["doubt"])).to_pylist():
        doubts = [finding for finding in json.loads(row["doubt"]) if reason in (None, finding["reason"])]
        if doubts and source in (None, row["source"]):
            rows.append({**row, "doubt": doubts})
    return rows


def count_doubts(rows: Iterable[dict[str, Any]]) -> list[tuple[str, str, dict[str, int]]]:
    """For each reason and strength the rows of every source, the most frequent first."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        for reason, strength in {(finding["reason"], finding["strength"]) for finding in row["doubt"]}:
            counts.setdefault((reason, strength), Counter())[row["source"]] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    return [(reason, strength, dict(sources.most_common())) for (reason, strength), sources in ordered]
