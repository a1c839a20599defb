"""Deduplication of records: one row of each problem survives, the others go to the ledger with their twin.

`duplicates.py` decides which rows are alike, `survivor.py` which of those are one problem and which row of it survives.
Both compare problems as the words of `problem_words.py`; decontamination does so too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from compass.curation.duplicates import Duplicates, find_duplicates
from compass.curation.problem_words import similarity
from compass.curation.survivor import settle
from compass.ledger import Drop, split
from compass.progress import reported
from compass.records import with_column
from compass.settings import Dedup

NEEDED = ("id", "source", "problem", "answer", "alternatives", "solution", "solve_rate")
"""The columns that decide which row of a cluster survives."""

BATCH = 2_000
"""Clusters whose rows are held as Python objects at a time."""


def dedup(records: pa.Table, settings: Dedup, sources: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    """Keep one row of each problem.

    Args:
        records: `RECORD` rows.
        settings: the section `dedup`.
        sources: names of the sources, the preferred one first.

    Returns:
        Kept and dropped rows; both carry `cluster` (the id of the problem's survivor; of a dropped problem its preferred
        row's) and `cluster_size`.
    """
    duplicates = find_duplicates(records.column("problem"), settings)
    survivors, drops = settle_clusters(records, duplicates, settings, sources)
    sizes = np.bincount(survivors, minlength=records.num_rows)[survivors]
    records = with_column(records, "cluster", records.column("id").take(pa.array(survivors)))
    records = with_column(records, "cluster_size", pa.array(sizes))
    return split(records, drops, "dedup")


def settle_clusters(
    records: pa.Table, duplicates: Duplicates, settings: Dedup, sources: Sequence[str]
) -> tuple[np.ndarray, list[Drop | None]]:
    """For each record the row number of its problem's survivor, and its verdict.

    Args:
        records: the columns `NEEDED` of records.
        duplicates: which of them are the same.
        settings: the section `dedup`.
        sources: names of the sources, the preferred one first.
    """
    drops: list[Drop | None] = [None] * records.num_rows
    survivors = np.arange(records.num_rows)
    rank = {name: number for number, name in enumerate(sources)}
    alike = partial(similarity, n=settings.ngram)
    clusters = _several(duplicates.cluster)
    settling = reported(_with_rows(records, clusters), total=len(clusters), unit="clusters", phase="choosing survivors")
    for members, rows in settling:
        heads, settled = settle(rows, duplicates.exact[members].tolist(), alike, rank, settings.conflicts)
        survivors[members] = members[heads]
        for member, drop in zip(members.tolist(), settled, strict=True):
            drops[member] = drop
    return survivors, drops


def _several(cluster: np.ndarray) -> list[np.ndarray]:
    """The row numbers of each cluster of two rows or more."""
    order = np.argsort(cluster, kind="stable")
    begins = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    sizes = np.diff(begins, append=order.size)
    return [order[begin : begin + size] for begin, size in zip(begins, sizes, strict=True) if size > 1]


def _with_rows(records: pa.Table, clusters: Sequence[np.ndarray]) -> Iterator[tuple[np.ndarray, list[dict[str, Any]]]]:
    """Each cluster's row numbers and records."""
    # Large strings in one chunk: each `take` from many chunks would copy all of them.
    types = {"solve_rate": pa.float64(), "alternatives": pa.large_list(pa.large_string())}
    wide = [(name, types.get(name, pa.large_string())) for name in NEEDED]
    columns = records.select(NEEDED).cast(pa.schema(wide)).combine_chunks()
    for low in range(0, len(clusters), BATCH):
        chosen = clusters[low : low + BATCH]
        rows = iter(columns.take(pa.array(np.concatenate(chosen))).to_pylist())
        for members in chosen:
            yield members, [next(rows) for _ in members]
