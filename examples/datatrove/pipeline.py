"""Curation of more rows than one machine holds, by datatrove: its executors and its MinHash, our readers, filters and ledger.

    python -m examples.datatrove.pipeline OUT shards/*.jsonl --benchmark bench.jsonl

Every step goes from files to files, task by task; a killed run goes on with the tasks that have not ended.

1. `Collect` and `Signatures`, a task per source file: rows become records or ledger rows, and datatrove signs the records' n-grams.
2. `MinhashDedupBuckets`, tasks by bucket, and `MinhashDedupCluster`, one task: which records may be the same problem.
3. `Deal`, a task per source file: records that may be the same go to one file per part, whichever source they are from.
4. `Settle`, a task per part: `compass.curation.dedup` decides there, as `compass curate` does, what is a duplicate and what survives.
5. `Filter`, a task per file of records: noise, benchmarks, golds.

`OUT/kept/` then holds the curated rows, `OUT/ledger/` the dropped ones by stage. Two things need all rows and are not done: an id
that comes twice in two source files, and shares per source that are odd.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash
from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.utils.word_tokenizers import WhitespaceTokenizer

from compass.curation.dedup import dedup
from compass.curation.denoise import BATCH, denoise_pieces
from compass.curation.duplicates import RECALL
from compass.curation.minhash import bands
from compass.curation.problem_words import ngrams, numbers, tokens, words
from compass.curation.verify_golds import verify_pieces
from compass.ledger import LEDGER, check_counts
from compass.library.curate import CurateOptions, curate_settings
from compass.library.curate_stages import CurateSettings
from compass.parallel import processes
from compass.records import (
    RECORD,
    count_records,
    read_records,
    record_batches,
    records_writer,
    with_column,
    write_records,
)
from compass.sources.collect import Reading, collect_benchmarks

PARTS = 16
"""Files that records which may be the same are dealt to: each is settled by one task, in memory."""

Pieces = Iterable[tuple[pa.Table, pa.Table]]


class Collect(PipelineStep):
    """Source file number `rank` as records; each goes on as a document with its problem as text."""

    name, type = "collect", "READER"

    def __init__(self, settings: CurateSettings, out: Path) -> None:
        super().__init__()
        self.settings, self.out = settings, out

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        reading = Reading([self.settings.collect.sources[rank]], self.settings.collect)
        with processes(1):
            write(self.out, "collect", f"{rank:05d}", reading)
        for piece in record_batches(self.out / "collect" / f"{rank:05d}.parquet", BATCH, ["id", "problem"]):
            for row in piece.to_pylist():
                yield Document(text=row["problem"], id=row["id"])


class Signatures(MinhashDedupSignature):
    """Datatrove's signatures of the n-grams that `compass curate` compares; with `numbers_must_match` of n-grams and numbers together."""

    def __init__(self, settings: CurateSettings, out: Path) -> None:
        # Its own words are never asked for; the default reader of words would need spaCy.
        super().__init__(str(out / "signatures"), config=minhash(settings), language=WhitespaceTokenizer())
        self.settings = settings.dedup

    def get_shingles(self, text: str) -> np.ndarray:
        read = tokens(text)
        grams = ngrams(words(read), self.settings.ngram) or [" ".join(read)]
        salt = " ".join(numbers(read)) if self.settings.numbers_must_match else ""
        hashes = {xxhash.xxh3_64_intdigest(f"{gram}\0{salt}".encode()) for gram in grams}
        return np.array(sorted(hashes), dtype=np.uint64).reshape(-1, 1)


class Deal(PipelineStep):
    """Records that share a bucket with others, by cluster to the parts, and the others to a file of their own."""

    name, type = "deal", "DEDUP"

    def __init__(self, out: Path) -> None:
        super().__init__()
        self.out = out

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> None:
        records = self.out / "collect" / f"{rank:05d}.parquet"
        cluster = np.full(count_records(records), -1)
        found = self.out / "clusters" / f"{rank:06d}.clusters"
        if found.exists():
            row, number = np.fromfile(found, dtype="<u4").reshape(-1, 2).T
            cluster[row] = number
        deal(records, cluster, self.out, f"{rank:05d}")


def deal(records: Path, cluster: np.ndarray, out: Path, name: str) -> None:
    """Write the records of clusters to `together/PART/NAME.parquet`, and those of none to `dedup/NAME.parquet`."""
    for part in range(-1, PARTS):
        mine = cluster < 0 if part < 0 else (cluster >= 0) & (cluster % PARTS == part)
        path = out / "dedup" / f"{name}.parquet" if part < 0 else out / "together" / f"{part:05d}" / f"{name}.parquet"
        begin = 0
        with records_writer(path, RECORD) as write_rows:
            for piece in record_batches(records, BATCH):
                rows = piece.filter(pa.array(mine[begin : begin + piece.num_rows]))
                begin += piece.num_rows
                if part < 0:
                    rows = with_column(rows, "cluster", rows["id"])
                    rows = with_column(rows, "cluster_size", [1] * rows.num_rows)
                write_rows(rows)


class Settle(PipelineStep):
    """Which of the records of part `rank` are duplicates and which survive, as `compass curate` decides it."""

    name, type = "settle", "DEDUP"

    def __init__(self, settings: CurateSettings, out: Path) -> None:
        super().__init__()
        self.settings, self.out = settings, out

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> None:
        files = sorted((self.out / "together" / f"{rank:05d}").iterdir())
        records = pa.concat_tables([read_records(path) for path in files])
        names = [source.name for source in self.settings.collect.sources]
        with processes(1):
            write(self.out, "dedup", f"together-{rank:05d}", [dedup(records, self.settings.dedup, names)])


class Filter(PipelineStep):
    """Noise, benchmarks and golds of the file of records with the number `rank`."""

    name, type = "filter", "FILTER"

    def __init__(self, settings: CurateSettings, out: Path) -> None:
        super().__init__()
        self.settings, self.out = settings, out

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> None:
        read = sorted((self.out / "dedup").glob("*.parquet"))[rank]
        clean, items = self.out / "denoise" / read.name, read_records(self.out / "benchmarks.parquet")
        with processes(1):
            pieces = denoise_pieces(record_batches(read, BATCH), count_records(read), items, self.settings.denoise)
            write(self.out, "denoise", read.stem, pieces)
            pieces = verify_pieces(record_batches(clean, BATCH), count_records(clean), self.settings.verify)
            write(self.out, "verify", read.stem, pieces, kept="kept")


def write(out: Path, stage: str, name: str, pieces: Pieces, kept: str = "") -> None:
    """Write what a stage keeps to `STAGE/NAME.parquet`, or to the folder `kept`, and what it drops to `ledger/STAGE/NAME.parquet`."""
    with (
        records_writer(out / (kept or stage) / f"{name}.parquet", RECORD) as write_kept,
        records_writer(out / "ledger" / stage / f"{name}.parquet", LEDGER) as write_dropped,
    ):
        for rows, dropped in pieces:
            write_dropped(dropped.select(LEDGER.names).cast(LEDGER))
            write_kept(rows.select(RECORD.names).cast(RECORD))


def minhash(settings: CurateSettings) -> MinhashConfig:
    """Datatrove's settings for the bands that `compass curate` uses."""
    count, rows = bands(settings.dedup.threshold, settings.dedup.permutations, RECALL)
    return MinhashConfig(settings.dedup.ngram, num_buckets=count, hashes_per_bucket=rows, seed=settings.dedup.seed)


def steps(settings: CurateSettings, out: Path) -> list[tuple[str, list[PipelineStep], int]]:
    """The steps in their order: name, blocks, and how many tasks; any of datatrove's executors runs them."""
    files, config = len(settings.collect.sources), minhash(settings)
    buckets = MinhashDedupBuckets(str(out / "signatures"), str(out / "pairs"), config=config)
    cluster = MinhashDedupCluster(str(out / "pairs"), str(out / "clusters"), config=config, save_cluster_id=True)
    return [
        ("collect", [Collect(settings, out), Signatures(settings, out)], files),
        ("buckets", [buckets], config.num_buckets),
        ("cluster", [cluster], 1),
        ("deal", [Deal(out)], files),
        ("settle", [Settle(settings, out)], PARTS),
        ("filter", [Filter(settings, out)], files + PARTS),
    ]


def curate_in_steps(sources: Sequence[str], out: Path, *, benchmarks: Sequence[str] = (), workers: int = 1) -> int:
    """Run all steps on this machine; returns how many rows are kept.

    Raises:
        UserError: a source or benchmark cannot be read.
        RecordError: a row was lost.
    """
    # `out` itself stays from an earlier run, which this one goes on with; `compass curate` would refuse it.
    settings = curate_settings(sources, CurateOptions(benchmarks=list(benchmarks)), out / "new")
    write_records(out / "benchmarks.parquet", collect_benchmarks(settings.collect.benchmarks, settings.collect).kept)
    for name, blocks, tasks in steps(settings, out):
        LocalPipelineExecutor(
            blocks, tasks=tasks, workers=min(workers, tasks), logging_dir=str(out / "log" / name)
        ).run()
    count = partial(sum, start=0)
    kept = count(count_records(path) for path in (out / "kept").iterdir())
    dropped = count(pq.read_metadata(path).num_rows for path in (out / "ledger").rglob("*.parquet"))
    lost = count(pq.read_metadata(path).num_rows for path in (out / "ledger" / "collect").iterdir())
    read = lost + count(count_records(path) for path in (out / "collect").iterdir())
    check_counts("datatrove", read=read, kept=kept, dropped=dropped)
    return kept


def main() -> int:
    """Curate the files of the command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("out", type=Path, help="a folder of this project's own; a second run goes on in it")
    options.add_argument("sources", nargs="+", help="files, one per task")
    options.add_argument("--benchmark", nargs="+", default=[], help="files that no kept problem may come from")
    options.add_argument("--workers", type=int, default=1, help="tasks at a time")
    given = options.parse_args()
    print(curate_in_steps(given.sources, given.out, benchmarks=given.benchmark, workers=given.workers), "rows kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
