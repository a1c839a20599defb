"""denoise: noise and quality filters, then decontamination against every benchmark.

    python -m stages.denoise

Reads `data/dedup/kept.parquet` and `data/collect/benchmarks.parquet`; writes `data/denoise/kept.parquet` and
`dropped.parquet`.
"""

from __future__ import annotations

from pathlib import Path

from compass.curation.denoise import denoise
from compass.records import count_records, read_records
from compass.settings import Settings
from stages._stage import Summary, main, write_pieces

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
    items = read_records(benchmarks)
    if settings.curation.engine == "ray":
        from compass.curation.on_ray.cluster import ray_cluster

        with ray_cluster(settings.curation):
            from compass.curation.on_ray.stages import denoise_file

            pieces = denoise_file(records, items, settings.denoise, settings.curation)
            read = count_records(records)
            return write_pieces(folder, "denoise", read=read, pieces=pieces, benchmark_items=items.num_rows)
    rows = read_records(records)
    pieces = [denoise(rows, items, settings.denoise)]
    return write_pieces(folder, "denoise", read=rows.num_rows, pieces=pieces, benchmark_items=items.num_rows)


if __name__ == "__main__":
    main("denoise", run)
