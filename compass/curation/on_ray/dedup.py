"""Deduplication from file to file: clusters are settled partition by partition, by `curation/dedup.py`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from compass.curation.dedup import NEEDED, settle_clusters
from compass.curation.duplicates import Duplicates
from compass.curation.on_ray.duplicates import find_duplicates
from compass.curation.on_ray.tasks import deal, gather, no_larger
from compass.ledger import Drop, Reason, split
from compass.records import with_column
from compass.settings import Dedup

ROW_BYTES = 4_096
"""Memory for a short record with its features while a task is at work on it, about."""

TEXT_BYTES = 16
"""Memory for a byte of text while its words and n-grams are made, about: a word is a Python object of some 60 bytes."""

Read = Callable[[int, Sequence[str] | None], Iterator[pa.Table]]
"""Reads the records from the beginning: at most so many rows at a time, some columns or all."""

_VERDICT = pa.schema(
    [
        ("row", pa.int64()),
        ("cluster", pa.string()),
        ("size", pa.int64()),
        ("reason", pa.string()),  # null: the row is kept
        ("evidence", pa.string()),
    ]
)


def dedup(
    read: Read, count: int, settings: Dedup, sources: Sequence[str], *, memory: int, workers: int
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Keep one row of each problem, as `compass.curation.dedup.dedup` does.

    Args:
        read: reads the records.
        count: how many there are.
        settings: the section `dedup`.
        sources: names of the sources, the preferred one first.
        memory: bytes of heap that a task may take.
        workers: tasks that run at a time.

    Returns:
        Kept and dropped rows, piece by piece, in the records' order.
    """
    rows = max(1, memory // 4 // ROW_BYTES)
    sizes = {"all": 0, "problem": 0}
    for piece in read(rows, NEEDED):
        sizes["all"] += piece.nbytes
        sizes["problem"] += piece.column("problem").nbytes
    # Records are held four times at most while clusters are settled: as they come, in one chunk, and as Python objects.
    partitions = max(
        workers, -(-count // rows), -(-4 * sizes["all"] // memory), -(-TEXT_BYTES * sizes["problem"] // memory)
    )
    blocks = no_larger(read(rows, ["problem"]), memory // TEXT_BYTES)
    found = find_duplicates((piece.column("problem") for piece in blocks), settings, partitions, memory)
    several = np.bincount(found.cluster, minlength=1)[found.cluster] > 1
    span = max(1, -(-count // partitions))

    def clustered() -> Iterator[tuple]:
        begin = 0
        for piece in no_larger(read(rows, NEEDED), memory // 4):
            here = begin + np.flatnonzero(several[begin : begin + piece.num_rows])
            yield piece.take(pa.array(here - begin)), here, found.cluster[here], found.exact[here]
            begin += piece.num_rows

    shards = deal(partial(_by_cluster, partitions), clustered(), partitions, memory=memory)
    settle = partial(_settle, settings, sources, span, partitions)
    settled = deal(settle, _transposed(shards), partitions, memory=memory)
    verdicts = gather(_in_order, settled, memory=memory)
    pieces = read(span, None)
    for number, piece in enumerate(pieces):
        yield _split(piece, number * span, next(verdicts) if settled else _VERDICT.empty_table())


def _transposed(shards: list[list]) -> Iterator[tuple]:
    for _ in range(len(shards[0]) if shards else 0):
        yield tuple(piece.pop(0) for piece in shards)


def _by_cluster(
    partitions: int, records: pa.Table, rows: np.ndarray, cluster: np.ndarray, exact: np.ndarray
) -> Sequence[object]:
    """Records with their numbers, clusters and first equals, for each partition those of its clusters."""
    shards = []
    for number in range(partitions):
        mine = np.flatnonzero(cluster % partitions == number)
        shards.append((records.take(pa.array(mine)).combine_chunks(), rows[mine], cluster[mine], exact[mine]))
    return shards if partitions > 1 else shards[0]


def _settle(settings: Dedup, sources: Sequence[str], span: int, partitions: int, *shards: tuple) -> Sequence[pa.Table]:
    """The verdicts on the rows of a partition's clusters, dealt out by spans of rows."""
    tables, *numbers = zip(*shards, strict=True)
    records = pa.concat_tables(tables)
    rows, cluster, exact = (np.concatenate(parts) for parts in numbers)
    survivors, drops = settle_clusters(records, Duplicates(exact, cluster), settings, sources)
    verdicts = pa.table(
        {
            "row": rows,
            "cluster": records.column("id").take(pa.array(survivors)),
            "size": np.bincount(survivors, minlength=1)[survivors],
            "reason": [drop and str(drop.reason) for drop in drops],
            "evidence": [drop and json.dumps(drop.evidence) for drop in drops],
        },
        schema=_VERDICT,
    )
    dealt = [verdicts.filter(pa.array(rows // span == number)) for number in range(partitions)]
    return dealt if partitions > 1 else dealt[0]


def _in_order(*shards: pa.Table) -> pa.Table:
    return pa.concat_tables(shards).sort_by("row").combine_chunks()


def _split(records: pa.Table, begin: int, verdicts: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Kept and dropped rows of a span of records; a row without a verdict is alone in its cluster, and stays."""
    cluster, sizes = records.column("id").to_pylist(), [1] * records.num_rows
    drops: list[Drop | None] = [None] * records.num_rows
    for row in verdicts.to_pylist():
        place = row["row"] - begin
        cluster[place], sizes[place] = row["cluster"], row["size"]
        if row["reason"]:
            drops[place] = Drop(Reason(row["reason"]), json.loads(row["evidence"]))
    records = with_column(records, "cluster", cluster)
    return split(with_column(records, "cluster_size", sizes), drops, "dedup")
