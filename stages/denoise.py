"""denoise: noise and quality filters, then decontamination against every benchmark.

    python -m stages.denoise

Reads `data/dedup/kept.parquet` and `data/collect/benchmarks.parquet`; writes `data/denoise/kept.parquet` and
`dropped.parquet`.
"""

from __future__ import annotations

from pathlib import Path

from compass.curation.denoise import denoise
from compass.records import read_records
from compass.settings import Settings
from stages._stage import Summary, main, write_split

RECORDS = Path("data/dedup/kept.parquet")
BENCHMARKS = Path("data/collect/benchmarks.parquet")
FOLDER = Path("data/denoise")


def run(settings: Settings, records: Path = RECORDS, benchmarks: Path = BENCHMARKS, folder: Path = FOLDER) -> Summary:
    """Filter the deduplicated records as `settings.denoise` says.

    Returns:
        The summary; `metrics` has the number of benchmark items that were compared.

    Raises:
        RecordError: records or benchmarks cannot be read.
    """
    read, items = read_records(records), read_records(benchmarks)
    kept, dropped = denoise(read, items, settings.denoise)
    return write_split(
        folder, "denoise", read=read.num_rows, kept=kept, dropped=dropped, benchmark_items=items.num_rows
    )


if __name__ == "__main__":
    main("denoise", run)
