"""The search of `curation/duplicates.py`, partitioned by hash: the same clusters from texts that no one machine holds.

1. Texts are read in blocks, which stay where they were made. Hashes of tokens go to partitions: of equal ones the first
   text is looked at further.
2. Band keys go to partitions; texts that share one are joined to candidate groups.
3. The n-gram sets of texts in candidate groups, group by group, go to partitions, where candidates are confirmed.

This process holds two numbers per text and joins groups by union-find, over the edges alone. A near-duplicate pair is in
one candidate group by construction, and a cluster is what confirmed pairs connect, so that neither the partitions nor the
order of tasks decide anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from compass.curation.clusters import first_equal, join, roots, unite
from compass.curation.duplicates import Duplicates, Features, read_in_chunks
from compass.curation.on_ray.tasks import deal, gather
from compass.curation.spill import spill
from compass.settings import Dedup

_BAND = np.uint64(0x9E3779B97F4A7C15)
"""Times its number, a band's mark on its keys: keys of different bands may meet in one group of candidates, rarely."""

Pairs = tuple[np.ndarray, np.ndarray]


def find_duplicates(pieces: Iterable[pa.ChunkedArray], settings: Dedup, partitions: int, memory: int) -> Duplicates:
    """Group the problems that are the same.

    Args:
        pieces: all problems, in order.
        settings: the section `dedup`.
        partitions: parts in which they are compared.
        memory: bytes of heap that a task may take.
    """
    begins = [0]

    def numbered() -> Iterable[tuple[pa.ChunkedArray, int]]:
        for texts in pieces:
            begins.append(begins[-1] + len(texts))
            yield texts, begins[-2]

    read = deal(partial(_read, settings, partitions), numbered(), 1 + partitions, memory=memory)
    blocks = [results.pop(0) for results in read]
    exact = np.arange(begins[-1])
    for rows, first in gather(_same_tokens, read, memory=memory):
        exact[rows] = first
    unique = exact == np.arange(exact.size)

    def to_blocks(values: np.ndarray) -> Iterable[tuple]:
        for block, begin, end in zip(blocks, begins, begins[1:], strict=False):
            yield block, begin, values[begin:end]

    candidates = np.arange(exact.size)
    keys = deal(partial(_keys, partitions), to_blocks(unique), partitions, memory=memory)
    for pairs in gather(_same_keys, keys, memory=memory):
        unite(candidates, *pairs)
    candidates = roots(candidates)
    grouped = unique & (np.bincount(candidates, minlength=1)[candidates] > 1)
    group = np.where(grouped, candidates % partitions, -1)
    cluster = np.arange(exact.size)
    members = deal(partial(_members, partitions), to_blocks(group), partitions, memory=memory)
    for pairs in gather(partial(_confirmed, settings.threshold, memory // 4), members, memory=memory):
        unite(cluster, *pairs)
    return Duplicates(exact, roots(cluster)[exact])


def _read(settings: Dedup, partitions: int, texts: pa.ChunkedArray, begin: int) -> Sequence[object]:
    """The features of a block of texts, and for each partition (hashes of tokens, text numbers)."""
    features = read_in_chunks(texts, settings)
    rows = np.arange(begin, begin + len(texts))
    place = features.tokens[:, 0] % np.uint64(partitions)
    shards = [(features.tokens[place == number], rows[place == number]) for number in range(partitions)]
    return replace(features, tokens=np.zeros((0, 2), dtype=np.uint64)), *shards


def _same_tokens(*shards: Pairs) -> Pairs:
    """The texts that have the tokens of an earlier one, and the first such text of each."""
    tokens, rows = (np.concatenate(parts) for parts in zip(*shards, strict=True))
    first = first_equal(tokens)
    again = first != np.arange(first.size)
    return rows[again], rows[first[again]]


def _keys(partitions: int, features: Features, begin: int, unique: np.ndarray) -> Sequence[Pairs]:
    """For each partition (band keys, text numbers) of the unique texts of a block."""
    marks = (np.arange(len(features.bands), dtype=np.uint64) + np.uint64(1)) * _BAND
    keys = (features.bands[:, unique] ^ marks[:, None]).reshape(-1)
    rows = np.tile(begin + np.flatnonzero(unique), len(features.bands))
    place = keys % np.uint64(partitions)
    shards = [(keys[place == number], rows[place == number]) for number in range(partitions)]
    return shards if partitions > 1 else shards[0]


def _same_keys(*shards: Pairs) -> Pairs:
    """Pairs that join all texts with a common key."""
    keys, rows = (np.concatenate(parts) for parts in zip(*shards, strict=True))
    order = np.argsort(keys, kind="stable")
    keys, rows = keys[order], rows[order]
    same = keys[1:] == keys[:-1]
    pairs = np.unique(np.stack([rows[:-1][same], rows[1:][same]]), axis=1)
    return pairs[0], pairs[1]


def _members(partitions: int, features: Features, begin: int, group: np.ndarray) -> Sequence[object]:
    """For each partition the texts of a block whose candidate group it has: (numbers, band keys, sets, sizes)."""
    shards = []
    for number in range(partitions):
        chosen = group == number
        sets = features.sets[np.repeat(chosen, features.sizes)]
        rows = begin + np.flatnonzero(chosen)
        shards.append((rows, features.bands[:, chosen].T, sets, features.sizes[chosen]))
    return shards if partitions > 1 else shards[0]


def _confirmed(threshold: float, limit: int, *shards: tuple[np.ndarray, ...]) -> Pairs:
    """The texts that are near-duplicates of others, and for each the first text of its cluster.

    A group of candidates is not divided, however large it is: keys and sets of more than `limit` bytes go to files.
    """
    with spill(limit) as held:
        for _, keys, sets, _ in shards:
            held.append("sets", sets)
            for band in range(keys.shape[1]):
                held.append(f"band-{band}", np.ascontiguousarray(keys[:, band]))
        rows = np.concatenate([shard[0] for shard in shards])
        start = np.concatenate([[0], *(shard[3] for shard in shards)]).cumsum()
        everyone = np.arange(rows.size)
        parent = everyone.copy()
        sets = held.read("sets")
        for band in range(shards[0][1].shape[1]):
            join(parent, held.read(f"band-{band}"), everyone, sets, start, threshold)
    first = roots(parent)
    again = first != everyone
    return rows[again], rows[first[again]]
