"""collect: read every source and benchmark into records.

    python -m stages.collect

Writes `data/collect/kept.parquet`, `dropped.parquet` and `benchmarks.parquet`, last and whole: a source that cannot be
read leaves what stands from an earlier run as it was.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from compass.curation.odd_sources import OddSources
from compass.evaluation.benchmarks import check_benchmarks, find_benchmarks
from compass.records import write_records
from compass.settings import Settings
from compass.sources.collect import Reading, collect_benchmarks
from stages._marked_rows import MarkedRows
from stages._stage import Summary, main, write_pieces

FOLDER = Path("data/collect")


def run(settings: Settings, folder: Path = FOLDER) -> Summary:
    """Collect as `settings.collect` says.

    Returns:
        The summary; `metrics` has each source's origin, rows and drops, each benchmark's size, and whether its copy is the published one.

    Raises:
        BenchmarkError: a benchmark is not known, not here, or not what its name says.
        SourceError: a source or benchmark cannot be read; names file and row.
    """
    published = folder / "published"
    if settings.collect.generate:
        from compass.sources.tiny import generate

        generate(settings.collect.generate, seed=settings.seed, folder=published)
    held_out = settings.collect.benchmarks
    benchmarks = collect_benchmarks(find_benchmarks(held_out), settings.collect, GENERATED=published)
    copies = check_benchmarks(held_out, benchmarks.kept)
    odd = OddSources("collect", settings.curation.warn_share)
    marked = MarkedRows("collect", settings.curation.labels)
    reading = Reading(settings.collect.sources, settings.collect, GENERATED=published)
    summary = write_pieces(folder, "collect", read=lambda: reading.read, pieces=odd.watch(marked.overrule(reading)))
    write_records(folder / "benchmarks.parquet", benchmarks.kept)
    facts = {**reading.sources, **benchmarks.sources}
    warnings = [fact["warning"] for fact in facts.values() if "warning" in fact]
    for warning in warnings:
        print(f"collect: warning: {warning}", flush=True)
    measured = {
        "sources": reading.sources,
        "benchmarks": {name: fact["kept"] for name, fact in benchmarks.sources.items()},
        "benchmark_copies": copies,
        "warnings": [*warnings, *odd.warnings(), *marked.warnings()],
    }
    return replace(summary, metrics=measured)


if __name__ == "__main__":
    main("collect", run)
