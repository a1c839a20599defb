"""Which rows `pipeline.py` and `compass curate` do not both keep, and why.

compass curate shards/*.jsonl --benchmark bench.jsonl --out curated
python -m examples.datatrove.compare OUT curated
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

COLUMNS = ["id", "source", "source_id", "reason", "evidence"]


def differences(out: Path, curated: Path) -> list[dict[str, Any]]:
    """Rows that one side keeps and the other drops: who keeps it, and the other's reason and evidence."""
    kept = [ids((out / "kept").glob("*.parquet")), ids([curated / "verify" / "kept.parquet"])]
    dropped = [rows((out / "ledger").rglob("*.parquet")), rows(curated.glob("*/dropped.parquet"))]
    names = ("datatrove", "compass curate")
    return [
        {"kept_by": names[side], **dropped[1 - side].get(id_, {"id": id_, "reason": "absent", "evidence": ""})}
        for side in (0, 1)
        for id_ in sorted(kept[side] - kept[1 - side])
    ]


def ids(files: Iterable[Path]) -> set[str]:
    """The ids of the rows in files."""
    return {id_ for path in files for id_ in pq.read_table(path, columns=["id"])["id"].to_pylist()}


def rows(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """The dropped rows in files by their ids."""
    return {row["id"]: row for path in files for row in pq.read_table(path, columns=COLUMNS).to_pylist()}


def main() -> None:
    """List the differences between the two folders of the command line."""
    out, curated = map(Path, sys.argv[1:])
    found = differences(out, curated)
    for row in found:
        print(f"{row['kept_by']} alone keeps {row['id']}; the other drops it: {row['reason']} {row['evidence']}")
    print(f"{len(found)} of {len(ids((out / 'kept').glob('*.parquet')))} kept rows differ")


if __name__ == "__main__":
    main()
