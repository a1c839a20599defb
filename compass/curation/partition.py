"""Deduplication of what does not fit one machine: the same search, partitioned, on Ray Data.

The plan, for rows with a number each (`row`, in the order of preference):

1. **Exact.** Every row's 128-bit key goes to the partition that its key names; there the lowest row of each key is found.
2. **Near.** Of each distinct text, every band key goes, with the text's n-gram hashes, to the partition that it names. All
   rows that share a band key meet in one partition, which confirms and joins them as one process does, and returns one
   edge (row, root) for each row that is not a root: never more edges than rows.
3. **Clusters.** The driver joins all edges. It holds 24 bytes a row; nothing else on it grows with the input.
4. **Survivors.** Records go to the partition that their cluster names, and are settled there.

The clusters are those of `duplicates.find`, whatever the number of partitions and workers: both are the connected
components of the same confirmed pairs. Step 2 moves `bands` × (16 + 8 × n-grams) bytes a text, about 8 KB for a usual
problem; more partitions mean less memory for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from compass.curation.clusters import join, roots, sorted_sets
from compass.curation.duplicates import RECALL, Groups, first_equal
from compass.curation.minhash import band_keys, bands, hash_ngrams, permutations, signatures
from compass.curation.words import split_words
from compass.ledger import LEDGER
from compass.settings import Dedup

if TYPE_CHECKING:
    from ray.data import Dataset


def dedup_partitioned(records: Dataset, settings: Dedup, sources: Sequence[str], partitions: int) -> Dataset:
    """Deduplicate records on a Ray cluster.

    Args:
        records: `RECORD` columns and `row`, the number of each record, 0 to n - 1.
        settings: the section `dedup`.
        sources: names of the sources, the preferred one first.
        partitions: into how many parts each shuffle is split.

    Returns:
        `LEDGER` columns and `row`; rows that stay have a null `reason`. The rows are in no order.
    """
    import ray

    groups = ray.put(find_partitioned(records.select_columns(["row", "problem"]), settings, partitions))
    placed = records.map_batches(partial(_place, groups=groups, partitions=partitions), batch_format="pyarrow")
    return placed.groupby("partition", num_partitions=partitions).map_groups(
        partial(_settle, settings=settings, sources=list(sources)), batch_format="pyarrow"
    )


def find_partitioned(rows: Dataset, settings: Dedup, partitions: int) -> Groups:
    """`duplicates.find` on a Ray cluster.

    Args:
        rows: `row` (0 to n - 1) and `problem`.
        settings: the section `dedup`.
        partitions: into how many parts each shuffle is split.
    """
    import ray

    keyed = rows.map_batches(partial(_exact_keys, partitions=partitions), batch_format="pyarrow")
    firsts = keyed.groupby("partition", num_partitions=partitions).map_groups(_first_rows, batch_format="pyarrow")
    pairs = _gather(firsts, ("row", "first"))
    exact = np.empty(len(pairs), dtype=np.int64)
    exact[pairs[:, 0]] = pairs[:, 1]

    unique = ray.put(exact == np.arange(exact.size))
    featured = rows.map_batches(
        partial(_bands, settings=settings, unique=unique, partitions=partitions), batch_format="pyarrow"
    )
    edges = featured.groupby("partition", num_partitions=partitions).map_groups(
        partial(_edges, settings=settings), batch_format="pyarrow"
    )
    parent = np.arange(exact.size, dtype=np.int64)
    for one, other in _gather(edges, ("row", "root")).tolist():
        _unite(parent, one, other)
    return Groups(exact, roots(parent)[exact])


def _exact_keys(batch: pa.Table, partitions: int) -> pa.Table:
    key = split_words(batch.column("problem")).key
    return pa.table(
        {
            "partition": (key[:, 0] % np.uint64(partitions)).astype(np.int64),
            "row": batch.column("row"),
            "low": key[:, 0].view(np.int64),
            "high": key[:, 1].view(np.int64),
        }
    )


def _first_rows(group: pa.Table) -> pa.Table:
    group = group.sort_by("row")
    keys = np.stack([group.column(name).to_numpy().view(np.uint64) for name in ("low", "high")], axis=1)
    rows = group.column("row").to_numpy()
    return pa.table({"row": rows, "first": rows[first_equal(keys)]})


def _bands(batch: pa.Table, settings: Dedup, unique: Any, partitions: int) -> pa.Table:
    """One row for each band of each distinct text."""
    import ray

    batch = batch.filter(pa.array(ray.get(unique)[batch.column("row").to_numpy()]))
    count, rows = bands(settings.threshold, settings.permutations, RECALL)
    words = split_words(batch.column("problem"))
    hashes, first = hash_ngrams(words, settings.ngram)
    salt = words.numbers if settings.numbers_must_match else np.zeros(len(words), dtype=np.uint64)
    made = signatures(hashes, first, permutations(settings.permutations, settings.seed))
    keys = band_keys(made, salt, count, rows).reshape(-1)
    sets, start = sorted_sets(hashes, first)
    each = pa.LargeListArray.from_arrays(pa.array(start), pa.array(sets.view(np.int64)))
    return pa.table(
        {
            "partition": (keys % np.uint64(partitions)).astype(np.int64),
            "band": np.repeat(np.arange(count), len(words)),
            "key": keys.view(np.int64),
            "row": np.tile(batch.column("row").to_numpy(), count),
            "ngrams": each.take(pa.array(np.tile(np.arange(len(words)), count))),
        }
    )


def _edges(group: pa.Table, settings: Dedup) -> pa.Table:
    """Join the texts of one partition, and return its edges."""
    rows, where, place = np.unique(group.column("row").to_numpy(), return_index=True, return_inverse=True)
    each = group.column("ngrams").combine_chunks().take(pa.array(where))
    start = np.append(0, np.cumsum(each.value_lengths().to_numpy())).astype(np.int64)
    sets = each.flatten().to_numpy().view(np.uint64)
    band, key = group.column("band").to_numpy(), group.column("key").to_numpy().view(np.uint64)
    parent = np.arange(rows.size, dtype=np.int64)
    keys = np.zeros(rows.size, dtype=np.uint64)
    for number in np.unique(band):
        mine = np.flatnonzero(band == number)
        keys[place[mine]] = key[mine]
        order = place[mine[np.argsort(key[mine], kind="stable")]]
        join(parent, keys, order, sets, start, settings.threshold)
    root = roots(parent)
    moved = root != np.arange(rows.size)
    return pa.table({"row": rows[moved], "root": rows[root[moved]]})


def _place(batch: pa.Table, groups: Any, partitions: int) -> pa.Table:
    """Each record with its cluster, and the partition that settles it."""
    import ray

    found: Groups = ray.get(groups)
    rows = batch.column("row").to_numpy()
    cluster = found.cluster[rows]
    return (
        batch.append_column("found_exact", pa.array(found.exact[rows]))
        .append_column("found_cluster", pa.array(cluster))
        .append_column("partition", pa.array(cluster % partitions))
    )


def _settle(group: pa.Table, settings: Dedup, sources: list[str]) -> pa.Table:
    """Settle the clusters of one partition."""
    from compass.curation.dedup import dedup
    from compass.records import RECORD

    group = group.sort_by("row")
    local = [
        np.unique(group.column(name).to_numpy(), return_index=True, return_inverse=True)
        for name in ("found_exact", "found_cluster")
    ]
    exact, cluster = (index[inverse] for _, index, inverse in local)
    numbered = dict(zip(group.column("id").to_pylist(), group.column("row").to_pylist(), strict=True))
    kept, dropped = dedup(group.select(RECORD.names).cast(RECORD), settings, sources, Groups(exact, cluster))
    for name in ("stage", "reason", "evidence"):
        kept = kept.append_column(name, pa.nulls(kept.num_rows, pa.string()))
    both = pa.concat_tables([kept.cast(LEDGER), dropped.cast(LEDGER)])
    return both.append_column("row", pa.array([numbered[id_] for id_ in both.column("id").to_pylist()], pa.int64()))


def _gather(dataset: Dataset, names: tuple[str, str]) -> np.ndarray:
    """Two integer columns of a dataset as `(n, 2)`."""
    parts = [
        np.stack([batch.column(name).to_numpy() for name in names], axis=1)
        for batch in dataset.iter_batches(batch_format="pyarrow", batch_size=None)
        if batch.num_rows
    ]
    return np.concatenate(parts) if parts else np.zeros((0, 2), dtype=np.int64)


def _unite(parent: np.ndarray, one: int, other: int) -> None:
    while parent[one] != one:
        one = parent[one]
    while parent[other] != other:
        other = parent[other]
    parent[max(one, other)] = min(one, other)
