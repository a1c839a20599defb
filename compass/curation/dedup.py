"""Deduplication of records: one row of each problem survives, the others go to the ledger with their twin.

Which rows are duplicates is decided in `duplicates.py`, which of them survives in `survivor.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from compass.curation.clusters import jaccard, sorted_sets
from compass.curation.duplicates import Groups, find
from compass.curation.minhash import hash_ngrams
from compass.curation.survivor import settle
from compass.curation.words import split_words
from compass.ledger import Drop, split
from compass.records import with_column
from compass.settings import Dedup

_NEEDED = ("id", "source", "problem", "answer", "solution", "solve_rate")

BATCH = 2_000
"""Clusters whose rows are held as Python objects at a time."""


def dedup(
    records: pa.Table, settings: Dedup, sources: Sequence[str], groups: Groups | None = None
) -> tuple[pa.Table, pa.Table]:
    """Keep one row of each problem.

    Args:
        records: `RECORD` rows.
        settings: the section `dedup`.
        sources: names of the sources, the preferred one first.
        groups: which rows are the same, where that is known already; found here when None.

    Returns:
        Kept and dropped rows; both carry `cluster` (the id of the problem's survivor; of a dropped problem its preferred
        row's) and `cluster_size`.
    """
    groups = groups or find(records.column("problem"), settings)
    verdicts: list[Drop | None] = [None] * records.num_rows
    heads = np.arange(records.num_rows)
    rank = {name: number for number, name in enumerate(sources)}
    for members, rows, similarity in _clusters(records, _several(groups.cluster), settings.ngram):
        found, drops = settle(rows, groups.exact[members].tolist(), similarity, rank, settings.conflicts)
        heads[members] = members[found]
        for member, drop in zip(members.tolist(), drops, strict=True):
            verdicts[member] = drop
    sizes = np.bincount(heads, minlength=records.num_rows)[heads]
    records = with_column(records, "cluster", records.column("id").take(pa.array(heads)))
    records = with_column(records, "cluster_size", pa.array(sizes))
    return split(records, verdicts, "dedup")


def _several(cluster: np.ndarray) -> list[np.ndarray]:
    """The row numbers of each cluster of two rows or more."""
    order = np.argsort(cluster, kind="stable")
    begins = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    sizes = np.diff(begins, append=order.size)
    return [order[begin : begin + size] for begin, size in zip(begins, sizes, strict=True) if size > 1]


def _clusters(
    records: pa.Table, clusters: Sequence[np.ndarray], n: int
) -> Iterator[tuple[np.ndarray, list[dict[str, Any]], Callable[[int, int], float]]]:
    """Each cluster's row numbers, records and similarity."""
    # Large strings in one chunk: each `take` from many chunks would copy all of them.
    wide = [(name, pa.large_string() if name != "solve_rate" else pa.float64()) for name in _NEEDED]
    columns = records.select(_NEEDED).cast(pa.schema(wide)).combine_chunks()
    for low in range(0, len(clusters), BATCH):
        chosen = clusters[low : low + BATCH]
        part = columns.take(pa.array(np.concatenate(chosen)))
        rows = part.to_pylist()
        sets, start = sorted_sets(*hash_ngrams(split_words(part.column("problem")), n))
        at = 0
        for members in chosen:
            own = start[at : at + len(members) + 1]
            yield members, rows[at : at + len(members)], partial(jaccard, sets, own)
            at += len(members)
