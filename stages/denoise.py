"""denoise: noise and quality filters, then decontamination against every benchmark.

    python -m stages.denoise

Reads `data/dedup/kept.parquet` and `data/collect/benchmarks.parquet`; writes `data/denoise/kept.parquet` and
`dropped.parquet`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from compass.curation.denoise import BATCH, denoise_pieces
from compass.curation.noise.own_filter import filter_digests
from compass.curation.odd_sources import OddSources
from compass.records import count_records, read_records, record_batches
from compass.settings import Settings
from stages._marked_rows import MarkedRows
from stages._stage import Summary, main, write_pieces

RECORDS = Path("data/dedup/kept.parquet")
BENCHMARKS = Path("data/collect/benchmarks.parquet")
FOLDER = Path("data/denoise")


def run(settings: Settings, records: Path = RECORDS, benchmarks: Path = BENCHMARKS, folder: Path = FOLDER) -> Summary:
    """Filter the deduplicated records as `settings.denoise` says.

    Returns:
        The summary; `metrics` has the number of benchmark items that were compared, the SHA-256 of the source file of each filter of the
        user's (`filters`), and `warnings` of sources that lose an odd share.

    Raises:
        RecordError: records or benchmarks cannot be read.
        FilterError: a filter of the user's cannot be used.
    """
    digests = filter_digests(settings.denoise.filters)
    items = read_records(benchmarks)
    odd = OddSources("denoise", settings.curation.warn_share)
    marked = MarkedRows("denoise", settings.curation.labels)
    read = count_records(records)
    pieces = denoise_pieces(record_batches(records, BATCH), read, items, settings.denoise)
    summary = write_pieces(folder, "denoise", read=read, pieces=odd.watch(marked.overrule(pieces)))
    own = {"filters": digests} if digests else {}
    return replace(summary, metrics={"benchmark_items": items.num_rows, **own, **odd.metrics(), **marked.metrics()})


if __name__ == "__main__":
    main("denoise", run)
