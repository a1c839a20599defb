"""The ledger of dropped rows: why a row was dropped, on what evidence, and that no row is lost.

Every curation stage writes the rows it keeps and the rows it drops; a dropped row says which stage dropped it, for
which reason (one of `REASONS`, or one that a filter of the user's gives) and on what evidence. `split` checks that no row is lost between the two.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pyarrow as pa

from compass.records import RECORD, RecordError
from compass.settings.denoise import NoiseReason

LEDGER = (
    RECORD.append(pa.field("stage", pa.string()))
    .append(pa.field("reason", pa.string()))
    .append(pa.field("evidence", pa.string()))
)
"""Columns of a dropped row: the record, and who dropped it, why, and on what evidence (a JSON object)."""


class Reason(StrEnum):
    """Why a row was dropped, but for the noise filters, whose reasons are `NoiseReason`."""

    # collect
    EMPTY_PROBLEM = "empty_problem"
    MISSING_ANSWER = "missing_answer"
    PLACEHOLDER_GOLD = "placeholder_gold"
    DUPLICATE_ID = "duplicate_id"
    TOO_LARGE = "too_large"
    UNDECODABLE = "undecodable"
    LICENCE = "licence"
    MARKED_UNFIT = "marked_unfit"
    # dedup
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    SEMANTIC_DUPLICATE = "semantic_duplicate"
    ANSWER_CONFLICT = "answer_conflict"
    # denoise
    CONTAMINATED = "contaminated"
    # verify
    UNREADABLE_GOLD = "unreadable_gold"
    UNSTABLE_GOLD = "unstable_gold"
    WORDY_GOLD = "wordy_gold"
    SUSPICIOUS_GOLD = "suspicious_gold"
    # curriculum
    DOUBTFUL = "doubtful"
    UNGRADED = "ungraded"
    SOLVE_RATE = "solve_rate"
    NOT_SELECTED = "not_selected"


KEPT_BY_MARKS = ("dedup", "denoise", "verify")
"""Stages that keep a row which a person marked as fit; what collect drops lacks a problem or a gold, or may not be used."""

REASONS = (*map(str, Reason), *map(str, NoiseReason))
"""Every reason that the pipeline itself has."""


@dataclass(frozen=True)
class Drop:
    """What a filter `(record) -> Drop | None` returns against a row; None keeps it.

    `evidence` is what a person needs to check the verdict: the matched text, the twin's id and similarity, the
    benchmark item. Values must be JSON. `reason` is one of `REASONS`, or the name that a filter of the user's gives.
    """

    reason: str
    evidence: dict[str, Any] = field(default_factory=dict)


def split(
    records: pa.Table, drops: Sequence[Drop | None], stage: str, *, read: int | None = None
) -> tuple[pa.Table, pa.Table]:
    """Split records into kept and dropped by what was decided for each row, and check that the counts add up.

    Args:
        records: `RECORD` rows.
        drops: one per row; None keeps it.
        stage: the stage's name, written into the ledger.
        read: how many rows the stage read, when `records` is not all of them.

    Returns:
        The kept rows (`RECORD`) and the dropped rows (`LEDGER`), both in input order.

    Raises:
        RecordError: kept + dropped is not what was read.
    """
    if len(drops) != records.num_rows:
        raise RecordError(f"{stage}: {len(drops)} decisions for {records.num_rows} rows")
    mask = pa.array([drop is None for drop in drops], type=pa.bool_())
    kept = records.filter(mask)
    dropped_for = [drop for drop in drops if drop is not None]
    dropped = records.filter(pa.compute.invert(mask))
    for name, values in (
        ("stage", [stage] * len(dropped_for)),
        ("reason", [str(drop.reason) for drop in dropped_for]),
        ("evidence", [json.dumps(drop.evidence, ensure_ascii=False, sort_keys=True) for drop in dropped_for]),
    ):
        dropped = dropped.append_column(pa.field(name, pa.string()), pa.array(values, type=pa.string()))
    check_counts(stage, read=records.num_rows if read is None else read, kept=kept.num_rows, dropped=dropped.num_rows)
    return kept, dropped


def check_counts(stage: str, *, read: int, kept: int, dropped: int) -> None:
    """Raise `RecordError` unless every row that was read is kept or dropped."""
    if kept + dropped != read:
        raise RecordError(
            f"{stage}: read {read} rows but kept {kept} and dropped {dropped}; a row was lost or counted twice"
        )


def count_reasons(dropped: Iterable[str]) -> dict[str, int]:
    """How often each reason occurs, most frequent first."""
    counts: dict[str, int] = {}
    for reason in dropped:
        counts[reason] = counts.get(reason, 0) + 1
    return most_first(counts)


def most_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Reasons with how often each occurs, most frequent first."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True)
class Counts:
    """Rows of one stage: those it kept, and those it dropped by reason, the most frequent first."""

    stage: str
    kept: int
    dropped: dict[str, int]

    @property
    def read(self) -> int:
        """Every row that is read is kept or dropped."""
        return self.kept + sum(self.dropped.values())

    def reasons(self, most: int | None = None) -> str:
        """`near_duplicate 1,200, exact_duplicate 7`: of the most frequent reasons at most so many."""
        shown = [f"{reason} {count:,}" for reason, count in list(self.dropped.items())[:most]]
        return ", ".join([*shown, "…"] if len(shown) < len(self.dropped) else shown)


def count_rows(stage: str, kept: int, dropped: pa.Table) -> Counts:
    """Count a stage's rows.

    Args:
        stage: the stage's name.
        kept: how many rows it kept.
        dropped: the rows it dropped, with their `reason`.
    """
    return Counts(stage, kept, count_reasons(dropped.column("reason").to_pylist()))
