"""The problem record, its schema, reading and writing it, and the ledger of dropped rows.

One row is one problem through the whole pipeline. Every curation stage writes the rows it keeps and the rows it drops;
a dropped row says which stage dropped it, for which reason (one of `Reason`) and on what evidence. `split` checks that
no row is lost between the two.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

RECORD = pa.schema(
    [
        ("id", pa.string()),  # stable: a hash of source and source_id
        ("source", pa.string()),
        ("source_id", pa.string()),
        ("problem", pa.string()),
        ("answer", pa.string()),  # gold as published; empty when none was
        ("solution", pa.string()),
        ("licence", pa.string()),
        ("source_level", pa.string()),  # the source's own difficulty, as published
        ("cluster", pa.string()),  # dedup: id of the cluster's survivor
        ("cluster_size", pa.int32()),
        ("n_rollouts", pa.int32()),  # grade
        ("solve_rate", pa.float64()),
        ("level", pa.int32()),  # 1 (easy) to 5 (hard)
        ("answer_type", pa.string()),  # verify
        ("stages", pa.string()),  # curriculum: RL stages that train on it, comma-separated
    ]
)
"""Columns of a record, in the order of the file. A column that no stage has filled yet is null."""

LEDGER = (
    RECORD.append(pa.field("stage", pa.string()))
    .append(pa.field("reason", pa.string()))
    .append(pa.field("evidence", pa.string()))
)
"""Columns of a dropped row: the record, and who dropped it, why, and on what evidence (a JSON object)."""


class Reason(StrEnum):
    """Why a row was dropped: the closed list."""

    # collect
    EMPTY_PROBLEM = "empty_problem"
    MISSING_ANSWER = "missing_answer"
    DUPLICATE_ID = "duplicate_id"
    TOO_LARGE = "too_large"
    UNDECODABLE = "undecodable"
    LICENCE = "licence"
    # dedup
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    ANSWER_CONFLICT = "answer_conflict"
    # denoise
    LINK = "link"
    IMAGE = "image"
    FIGURE = "figure"
    MARKUP = "markup"
    ENCODING = "encoding"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    TRUNCATED = "truncated"
    PROOF = "proof"
    MULTIPLE_CHOICE = "multiple_choice"
    TRUE_FALSE = "true_false"
    YES_NO = "yes_no"
    MULTI_PART = "multi_part"
    MULTI_QUESTION = "multi_question"
    ANSWER_GIVEN = "answer_given"
    LANGUAGE = "language"
    CONTAMINATED = "contaminated"
    # verify
    UNREADABLE_GOLD = "unreadable_gold"
    UNSTABLE_GOLD = "unstable_gold"
    SUSPICIOUS_GOLD = "suspicious_gold"
    # curriculum
    UNGRADED = "ungraded"
    SOLVE_RATE = "solve_rate"
    NOT_SELECTED = "not_selected"


@dataclass(frozen=True)
class Drop:
    """A filter's verdict against a row.

    `evidence` is what a person needs to check the verdict: the matched text, the twin's id and similarity, the
    benchmark item. Values must be JSON.
    """

    reason: Reason
    evidence: dict[str, Any] = field(default_factory=dict)


Verdict = Drop | None
"""What a filter `(record: dict) -> Drop | None` returns; None keeps the row."""


class RecordError(ValueError):
    """Records that cannot be used; the message names the file and the row."""


def record_id(source: str, source_id: str) -> str:
    """The stable id of a problem: 16 hex digits of a hash over its source and the source's own id."""
    return hashlib.blake2b(f"{source}\x00{source_id}".encode(), digest_size=8).hexdigest()


def table(rows: Sequence[dict[str, Any]], schema: pa.Schema = RECORD) -> pa.Table:
    """Rows as a table of `schema`; missing columns are null, unknown ones an error."""
    names = set(schema.names)
    for row in rows:
        if unknown := row.keys() - names:
            raise RecordError(f"record {row.get('id')!r}: unknown columns {sorted(unknown)}; known: {schema.names}")
    return pa.Table.from_pylist(list(rows), schema=schema)


def split(
    records: pa.Table, verdicts: Sequence[Verdict], stage: str, *, read: int | None = None
) -> tuple[pa.Table, pa.Table]:
    """Split records into kept and dropped by one verdict a row, and check that the counts add up.

    Args:
        records: `RECORD` rows.
        verdicts: one per row; None keeps it.
        stage: the stage's name, written into the ledger.
        read: how many rows the stage read, when `records` is not all of them.

    Returns:
        The kept rows (`RECORD`) and the dropped rows (`LEDGER`), both in input order.

    Raises:
        RecordError: kept + dropped is not what was read.
    """
    if len(verdicts) != records.num_rows:
        raise RecordError(f"{stage}: {len(verdicts)} verdicts for {records.num_rows} rows")
    mask = pa.array([verdict is None for verdict in verdicts], type=pa.bool_())
    kept = records.filter(mask)
    drops = [verdict for verdict in verdicts if verdict is not None]
    dropped = records.filter(pa.compute.invert(mask))
    for name, values in (
        ("stage", [stage] * len(drops)),
        ("reason", [str(drop.reason) for drop in drops]),
        ("evidence", [json.dumps(drop.evidence, ensure_ascii=False, sort_keys=True) for drop in drops]),
    ):
        dropped = dropped.append_column(pa.field(name, pa.string()), pa.array(values, type=pa.string()))
    check_counts(stage, read=records.num_rows if read is None else read, kept=kept, dropped=dropped)
    return kept, dropped


def check_counts(stage: str, *, read: int, kept: pa.Table, dropped: pa.Table) -> None:
    """Raise `RecordError` unless every row that was read is kept or dropped."""
    if kept.num_rows + dropped.num_rows != read:
        raise RecordError(
            f"{stage}: read {read} rows but kept {kept.num_rows} and dropped {dropped.num_rows}; "
            "a row was lost or counted twice"
        )


def read_records(path: str | Path) -> pa.Table:
    """Read a parquet file of records or of dropped records.

    Raises:
        RecordError: the file is missing, truncated, or lacks a column.
    """
    path = Path(path)
    try:
        found = pq.read_table(path)
    except FileNotFoundError:
        raise RecordError(f"{path}: no such file; run the stage that writes it (`dvc repro`)") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise RecordError(f"{path}: not a whole parquet file ({error}); delete it and run its stage again") from None
    if missing := [name for name in RECORD.names if name not in found.column_names]:
        raise RecordError(
            f"{path}: lacks the columns {missing}; it was written by another version, run its stage again"
        )
    return found


def write_records(path: str | Path, records: pa.Table) -> None:
    """Write records whole or not at all, byte for byte the same for the same rows."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        pq.write_table(records.combine_chunks(), temporary, compression="zstd", row_group_size=50_000)


class atomic_path:
    """A temporary path beside `path` that takes its place when the block ends without an error, and vanishes otherwise."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __enter__(self) -> Path:
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.", suffix=".part")
        os.close(handle)
        self.temporary = Path(name)
        return self.temporary

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.temporary.unlink(missing_ok=True)
            return
        with open(self.temporary, "rb") as written:
            os.fsync(written.fileno())
        self.temporary.chmod(0o644)
        self.temporary.replace(self.path)


def count_reasons(dropped: Iterable[str]) -> dict[str, int]:
    """How often each reason occurs, most frequent first."""
    counts: dict[str, int] = {}
    for reason in dropped:
        counts[reason] = counts.get(reason, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
