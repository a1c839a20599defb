"""dedup: exact and near-duplicates, one row of each cluster survives.

    python -m stages.dedup

Reads `data/collect/kept.parquet`; writes `data/dedup/kept.parquet` and `dropped.parquet`. The survivor rule and what
counts as a duplicate are in `compass/curation/dedup.py` and `duplicates.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from compass.curation.dedup import dedup_pieces
from compass.curation.duplicates import CHUNK
from compass.curation.odd_sources import OddSources
from compass.records import count_records, record_batches
from compass.settings import Settings
from stages._marked_rows import MarkedRows
from stages._stage import Summary, main, write_pieces

RECORDS = Path("data/collect/kept.parquet")
FOLDER = Path("data/dedup")


def run(settings: Settings, records: Path = RECORDS, folder: Path = FOLDER) -> Summary:
    """Deduplicate the collected records as `settings.dedup` says.

    Returns:
        The summary; `metrics` has the number of clusters with more than one row, and `warnings` of sources that lose an odd share.

    Raises:
        RecordError: the records cannot be read.
    """
    sources = [source.name for source in settings.collect.sources]
    metrics = {"clusters": 0}
    odd = OddSources("dedup", settings.curation.warn_share)
    marked = MarkedRows("dedup", settings.curation)

    def counted(pieces: Iterable[tuple[pa.Table, pa.Table]]) -> Iterator[tuple[pa.Table, pa.Table]]:
        for kept, dropped in pieces:
            metrics["clusters"] += sum(size > 1 for size in kept.column("cluster_size").to_pylist())
            yield kept, dropped

    read = count_records(records)
    pieces = dedup_pieces(partial(record_batches, records, CHUNK), read, settings.dedup, sources)
    summary = write_pieces(folder, "dedup", read=read, pieces=odd.watch(marked.overrule(counted(pieces))))
    return replace(summary, metrics={**metrics, **odd.metrics(), **marked.metrics()}, note=marked.note)


if __name__ == "__main__":
    main("dedup", run)
