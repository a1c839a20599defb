"""dedup: exact and near-duplicates, one row of each cluster survives.

    python -m stages.dedup

Reads `data/collect/kept.parquet`; writes `data/dedup/kept.parquet` and `dropped.parquet`. The survivor rule and what
counts as a duplicate are in `compass/curation/dedup.py` and `duplicates.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.curation.dedup import dedup_pieces
from compass.curation.duplicates import CHUNK
from compass.curation.odd_sources import OddSources
from compass.ledger import most_first
from compass.records import RECORD, count_records, record_batches, with_column
from compass.settings import Settings
from stages._marked_rows import MarkedRows
from stages._stage import Summary, main, write_pieces

RECORDS = Path("data/collect/kept.parquet")
FOLDER = Path("data/dedup")


def run(settings: Settings, records: Path = RECORDS, folder: Path = FOLDER) -> Summary:
    """Deduplicate the collected records as `settings.dedup` says.

    Returns:
        The summary; `metrics` has the number of clusters with more than one row, with `keep_all` the duplicates that were kept, by reason
        (`kept_duplicates`), and `warnings` of sources that lose an odd share.

    Raises:
        RecordError: the records cannot be read.
    """
    sources = [source.name for source in settings.collect.sources]
    metrics: dict[str, Any] = {"clusters": 0}
    odd = OddSources("dedup", settings.curation.warn_share)
    marked = MarkedRows("dedup", settings.curation.labels)
    duplicates = Counter[str]()

    def counted(pieces: Iterable[tuple[pa.Table, pa.Table]]) -> Iterator[tuple[pa.Table, pa.Table]]:
        for kept, dropped in pieces:
            metrics["clusters"] += sum(size > 1 for size in kept.column("cluster_size").to_pylist())
            if settings.dedup.keep_all:
                duplicates.update(dropped.column("reason").to_pylist())
                kept, dropped = keep_duplicates(kept, dropped)
            yield kept, dropped

    read = count_records(records)
    pieces = dedup_pieces(partial(record_batches, records, CHUNK), read, settings.dedup, sources)
    summary = write_pieces(folder, "dedup", read=read, pieces=odd.watch(marked.overrule(counted(pieces))))
    note = ""
    if settings.dedup.keep_all:
        metrics["kept_duplicates"] = most_first(duplicates)
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in most_first(duplicates).items())
        note = f"`dedup.keep_all` kept {reasons or 'no duplicate, as there is none'}"
    return replace(summary, metrics={**metrics, **odd.metrics(), **marked.metrics()}, note=note)


def keep_duplicates(kept: pa.Table, dropped: pa.Table) -> tuple[pa.Table, pa.Table]:
    """All rows as kept ones, those that would be dropped last, and none as dropped. No row stands for others, so that `cluster_size` is null."""
    rows = pa.concat_tables([table.select(RECORD.names).cast(RECORD) for table in (kept, dropped)])
    return with_column(rows, "cluster_size", [None] * rows.num_rows), dropped.slice(0, 0)


if __name__ == "__main__":
    main("dedup", run)
