"""Rows of a curation, kept or dropped, as a file that other programs open: CSV or JSON lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.files import atomic_path
from compass.library.output_folder import check_file

COLUMNS = (
    "source", "source_id", "problem", "answer", "alternatives", "tolerance", "solution", "answer_type", "source_level",
    "licence", "id",
)  # fmt: skip
"""Columns of `RECORD` that say something of a curated row."""


def check_export(path: Path, out: Path) -> None:
    """Refuse a file that could not be written, before anything runs.

    Args:
        path: the file.
        out: the folder that the run writes, which is replaced whole.

    Raises:
        UserError: its name ends otherwise than in `.csv` or `.jsonl`, it lies in `out`, or as `check_file`.
    """
    if path.suffix not in (".csv", ".jsonl"):
        raise UserError(f"--export {path}: name a file that ends in .csv or .jsonl")
    check_file(path, "--export")
    if path.resolve().is_relative_to(out.resolve()):
        raise UserError(f"--export {path}: {out} holds the run's own files alone; name a file outside of it")


def export_rows(kept: Path, path: Path) -> None:
    """Write the rows of a parquet file as CSV or as JSON lines without what is null."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(kept) as read:
        names = [name for name in COLUMNS if name in read.schema_arrow.names]
        batches = (batch.to_pylist() for batch in read.iter_batches(columns=names))
        known = ({name: value for name, value in row.items() if value is not None} for rows in batches for row in rows)
        write_rows(known, path, names)


def write_rows(rows: Iterable[Mapping[str, Any]], path: Path, names: Sequence[str]) -> None:
    """Write rows as CSV where the file's name ends in `.csv`, with lists and mappings as JSON; else as JSON lines.

    Args:
        rows: each with some of `names`.
        path: the file; it appears whole or not at all.
        names: the columns of a CSV file, in order.
    """
    with atomic_path(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            table = csv.writer(file, lineterminator="\n")
            table.writerow(names)
            table.writerows([_cell(row.get(name)) for name in names] for row in rows)
        else:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
