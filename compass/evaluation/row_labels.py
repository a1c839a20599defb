"""Judgements of a person on the rows of a curation, and how right each reason is by them.

A label says whether a row is fit to train on, not which reason is right: it holds whatever the settings. Labels have the format of those of
responses (`labels.py`), by the row's id and a digest of problem and gold.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from compass.evaluation.accuracy import wilson
from compass.evaluation.label_files import Labels, row_key
from compass.evaluation.labels import Judged, join_strata

KEPT = "kept"

BEFORE_FINDINGS = ("collect", "dedup")
"""Stages whose dropped rows no noise filter has read."""

NOT_OF_THE_TEXT = ("licence", "duplicate_id", "marked_unfit")
"""Reasons that say nothing about problem and gold."""


@dataclass(frozen=True)
class Row(Judged):
    """A row of curation. `stratum` is the reason that it was dropped for; of a kept row `KEPT`, with the reason of its first doubt behind it."""

    kept: bool
    strength: str
    """Of the finding that dropped it; empty for a row that no noise filter dropped."""
    findings: tuple[tuple[str, str], ...] | None
    """Reason and strength of all that noise filters found; None for a row that did not reach them."""


def curated_rows(dropped: pa.Table, kept: pa.Table) -> list[Row]:
    """The rows of a curation, dropped and kept, each once.

    Args:
        dropped: `LEDGER` rows.
        kept: the rows that the last stage kept.
    """
    rows: dict[tuple[str, str], Row] = {}
    columns = ["id", "problem", "answer", "findings"]
    for one in dropped.select([*columns, "stage", "reason", "evidence"]).to_pylist():
        if one["reason"] not in NOT_OF_THE_TEXT:
            key, found = row_key(one), _findings(one["findings"])
            read = one["stage"] not in BEFORE_FINDINGS
            strength = json.loads(one["evidence"]).get("strength", "")
            rows.setdefault(key, Row(*key, one["reason"], False, strength, found if read else None))
    for one in kept.select(columns).to_pylist():
        key, found = row_key(one), _findings(one["findings"])
        rows.setdefault(key, Row(*key, f"{KEPT}, {found[0][0]}" if found else KEPT, True, "", found))
    return list(rows.values())


def _findings(column: str | None) -> tuple[tuple[str, str], ...]:
    return tuple((one["reason"], one["strength"]) for one in json.loads(column or "[]"))


def measured_rows(rows: list[Row], labels: Labels) -> dict[str, Any]:
    """How right a curation is, by the labels that were given: a label says whether a row is fit to train on.

    Returns:
        `labelled` and `unsure` (rows). `reasons`: of each reason `rows` (dropped), `labelled`, `unfit`, `share` (of its rows that are
        unfit, 0..1, the reason's precision; null without a label) and its `ci95` (Wilson), and under `strengths` the same by strength. `kept`: `rows`, `labelled`,
        `unfit`, `error` (share that is unfit, strata weighted by their rows; null while a stratum of more than 1% has no label) and
        `ci95` (MOVER). `findings`: by reason and strength the same figures of the labelled rows that have the finding, whatever
        became of them, and under `without` of those that noise filters read and that have none of this reason.
    """
    judged = [(row, labels[row.key]) for row in rows if labels.get(row.key) is not None]
    reasons: dict[str, Any] = {}
    for name in sorted({row.stratum for row in rows if not row.kept}):
        own = [(row, fit) for row, fit in judged if row.stratum == name]
        strengths = sorted({row.strength for row, _ in own if row.strength})
        reasons[name] = {
            "rows": sum(row.stratum == name for row in rows),
            **_unfit(own),
            "strengths": {
                strength: _unfit([one for one in own if one[0].strength == strength]) for strength in strengths
            },
        }
    read = [(row, fit) for row, fit in judged if row.findings is not None]
    found = sorted({finding for row, _ in read for finding in row.findings or ()})
    findings: dict[str, Any] = {}
    for reason, strength in found:
        entry = findings.setdefault(
            reason, {"without": _unfit([one for one in read if reason not in dict(one[0].findings or ())])}
        )
        entry[strength] = _unfit([one for one in read if (reason, strength) in (one[0].findings or ())])
    return {
        "labelled": len(judged),
        "unsure": sum(row.key in labels and labels[row.key] is None for row in rows),
        "reasons": reasons,
        "kept": _kept([row for row in rows if row.kept], [one for one in judged if one[0].kept]),
        "findings": findings,
    }


def _unfit(judged: list[tuple[Row, bool]]) -> dict[str, Any]:
    unfit = sum(not fit for _, fit in judged)
    share = unfit / len(judged) if judged else None
    interval = list(wilson(share, len(judged))) if share is not None else [0.0, 1.0]
    return {"labelled": len(judged), "unfit": unfit, "share": share, "ci95": interval}


def _kept(rows: list[Row], judged: list[tuple[Row, bool]]) -> dict[str, Any]:
    parts = []
    for name in dict.fromkeys(row.stratum for row in rows):  # sums depend on the order in their last digits
        own = _unfit([one for one in judged if one[0].stratum == name])
        parts.append((sum(row.stratum == name for row in rows) / len(rows), own["share"], *own["ci95"]))
    error, interval = join_strata(parts)
    unfit = sum(not fit for _, fit in judged)
    counts = {"rows": len(rows), "labelled": len(judged), "unfit": unfit}
    return {**counts, "error": error if rows else None, "ci95": interval}
