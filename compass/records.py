"""The problem record: its schema, and reading and writing it. One row is one problem through the whole pipeline."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.errors import UserError
from compass.files import atomic_path

RECORD = pa.schema(
    [
        ("id", pa.string()),  # stable: a hash of source and source_id
        ("source", pa.string()),
        ("source_id", pa.string()),
        ("problem", pa.string()),
        ("original", pa.string()),  # the problem before it was repaired or recast; null where it was not
        ("answer", pa.string()),  # gold as published; empty when none was
        (
            "published_answer",
            pa.string(),
        ),  # the gold before its decimal comma was read or a choice recast as an open question; null where neither happened
        ("alternatives", pa.list_(pa.string())),  # other golds, any of which is right; null where there are none
        ("tolerance", pa.string()),  # how far a number may be off: `0.01`, or `5%` of the gold; null asks for equality
        (
            "other_answer",
            pa.string(),
        ),  # gold of other copies of a benchmark, scored beside and never paid; null where none
        ("solution", pa.string()),
        ("licence", pa.string()),
        ("source_level", pa.string()),  # the source's own difficulty, as published; a rate behind SOLVE_RATE
        ("cluster", pa.string()),  # dedup: id of the cluster's survivor; of a benchmark's item its stem or template
        ("cluster_size", pa.int32()),
        ("findings", pa.string()),  # denoise: what noise filters found, a JSON list of reason, strength and evidence
        ("n_rollouts", pa.int32()),  # grade
        ("solve_rate", pa.float64()),
        ("level", pa.int32()),  # 1 (easy) to 5 (hard)
        ("answer_type", pa.string()),  # verify
        ("stages", pa.string()),  # curriculum: RL stages that train on it; `split_stages` reads it
    ]
)
"""Columns of a record, in the order of the file. A column that no stage has filled yet is null."""

SOLVE_RATE = "solve rate "
"""Before a `source_level` that is a share of right solutions, by which more is easier."""


ROW_NUMBERS = "row numbers"
"""What a source's summary says of its rows' ids where no field has them: they are row numbers, the first 0."""


class RecordError(UserError):
    """Records that cannot be used; the message names the file and the row."""


def record_id(source: str, source_id: str) -> str:
    """The stable id of a problem: 16 hex digits of a hash over its source and the source's own id."""
    return hashlib.blake2b(f"{source}\x00{source_id}".encode(), digest_size=8).hexdigest()


def join_stages(stages: Sequence[str]) -> str | None:
    """RL stages as the column `stages` holds them: names with commas between, null for none."""
    return ",".join(stages) or None


def split_stages(column: str | None) -> list[str]:
    """The RL stages that a value of the column `stages` names."""
    return column.split(",") if column else []


def table(rows: Sequence[dict[str, Any]], schema: pa.Schema = RECORD) -> pa.Table:
    """Rows as a table of `schema`; missing columns are null, unknown ones an error."""
    names = set(schema.names)
    for row in rows:
        if unknown := row.keys() - names:
            raise RecordError(f"record {row.get('id')!r}: unknown columns {sorted(unknown)}; known: {schema.names}")
    return pa.Table.from_pylist(list(rows), schema=schema)


def with_column(records: pa.Table, name: str, values: Sequence[Any] | pa.Array | pa.ChunkedArray) -> pa.Table:
    """The records with the values of one column replaced; its place and type stay.

    Args:
        records: any table.
        name: a column of it.
        values: one per row, in the rows' order.
    """
    field = records.schema.field(name)
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        values = pa.array(values, type=field.type)
    return records.set_column(records.schema.get_field_index(name), field, values.cast(field.type))


def read_records(path: str | Path) -> pa.Table:
    """Read a parquet file of records or of dropped records.

    Raises:
        RecordError: the file is missing, truncated, or lacks a column.
    """
    with _opened(Path(path)) as file:
        return file.read()


def record_batches(path: str | Path, rows: int, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """A file of records piece by piece, so many rows at a time; fewer in the last piece.

    Raises:
        RecordError: as `read_records`.
    """
    with _opened(Path(path)) as file:
        held: list[pa.RecordBatch] = []
        for batch in file.iter_batches(batch_size=rows, columns=columns):  # fewer where a row group ends
            held.append(batch)
            if sum(one.num_rows for one in held) >= rows:
                table = pa.Table.from_batches(held)
                yield table.slice(0, rows)
                held = table.slice(rows).to_batches()
        if held:
            yield pa.Table.from_batches(held)


def count_records(path: str | Path) -> int:
    """The rows of a file of records.

    Raises:
        RecordError: as `read_records`.
    """
    with _opened(Path(path)) as file:
        return file.metadata.num_rows


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(path) as file:
            if missing := [name for name in RECORD.names if name not in file.schema_arrow.names]:
                raise RecordError(
                    f"{path}: lacks the columns {missing}; it was written by another version, run its stage again"
                )
            yield file
    except FileNotFoundError:
        raise RecordError(f"{path}: no such file; run the stage that writes it (`dvc repro`)") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise RecordError(f"{path}: not a whole parquet file ({error}); delete it and run its stage again") from None


def write_records(path: str | Path, records: pa.Table) -> None:
    """Write records whole or not at all, byte for byte the same for the same rows."""
    with records_writer(path, records.schema) as write:
        write(records)


ROW_GROUP = 50_000
"""Rows of a row group: what a writer holds at a time."""


@contextmanager
def records_writer(path: str | Path, schema: pa.Schema) -> Iterator[Callable[[pa.Table], None]]:
    """A function that adds rows to a file, which appears, whole, when the block ends without an error.

    The bytes depend on the rows alone, not on the pieces in which they come.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    held, begun = schema.empty_table(), False

    def write(rows: pa.Table) -> None:
        nonlocal held, begun
        held = pa.concat_tables([held, rows])
        begun = begun or held.num_rows >= ROW_GROUP
        while held.num_rows >= ROW_GROUP:
            file.write_table(held.slice(0, ROW_GROUP).combine_chunks(), row_group_size=ROW_GROUP)
            held = held.slice(ROW_GROUP)
        held = held.combine_chunks()  # lets go of what was written

    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as file:
        yield write
        if held.num_rows or not begun:  # a file without rows has one empty row group
            file.write_table(held, row_group_size=ROW_GROUP)
