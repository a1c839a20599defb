"""dedup: exact and near-duplicates, one row of each cluster survives.

    python -m stages.dedup

Reads `data/collect/kept.parquet`; writes `data/dedup/kept.parquet` and `dropped.parquet`. The survivor rule and what
counts as a duplicate are in `compass/curation/dedup.py` and `duplicates.py`.
"""

from __future__ import annotations

from pathlib import Path

from compass.curation.dedup import dedup
from compass.records import read_records
from compass.settings import Settings
from stages._stage import Summary, main, write_split

RECORDS = Path("data/collect/kept.parquet")
FOLDER = Path("data/dedup")


def run(settings: Settings, records: Path = RECORDS, folder: Path = FOLDER) -> Summary:
    """Deduplicate the collected records as `settings.dedup` says.

    Returns:
        The summary; `metrics` has the number of clusters with more than one row.

    Raises:
        RecordError: the records cannot be read.
    """
    read = read_records(records)
    kept, dropped = dedup(read, settings.dedup, [source.name for source in settings.collect.sources])
    clusters = sum(size > 1 for size in kept.column("cluster_size").to_pylist())
    return write_split(folder, "dedup", read=read.num_rows, kept=kept, dropped=dropped, clusters=clusters)


if __name__ == "__main__":
    main("dedup", run)
