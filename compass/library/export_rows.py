"""Kept rows of a curation as a file that other programs open: CSV or JSON lines."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.files import atomic_path
from compass.library.output_folder import check_file

COLUMNS = (
    "source", "source_id", "problem", "answer", "alternatives", "solution", "answer_type", "source_level", "licence", "id",
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
    """Write the rows of a parquet file as CSV (lists as JSON) or as JSON lines (without what is null)."""
    import pyarrow.parquet as pq

    with (
        pq.ParquetFile(kept) as read,
        atomic_path(path) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as file,
    ):
        names = [name for name in COLUMNS if name in read.schema_arrow.names]
        table = csv.writer(file, lineterminator="\n")
        if path.suffix == ".csv":
            table.writerow(names)
        for batch in read.iter_batches(columns=names):
            for row in batch.to_pylist():
                if path.suffix == ".csv":
                    table.writerow([_cell(row[name]) for name in names])
                else:
                    file.write(
                        json.dumps({name: row[name] for name in names if row[name] is not None}, ensure_ascii=False)
                        + "\n"
                    )


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
