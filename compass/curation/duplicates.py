"""Which problems are the same: exact duplicates by a hash of their tokens, near-duplicates by MinHash LSH.

1. Texts with equal tokens (`words.py`) are exact duplicates; one of each goes on.
2. MinHash signatures of word n-grams, cut into bands; texts that share a band are candidates. With `numbers_must_match`
   a band's key holds the text's numbers too: problems that differ in a number never meet.
3. A candidate pair whose exact Jaccard similarity reaches the threshold is joined (union-find).

Texts are worked on in chunks on several threads. The result is the same for any number of threads and any chunk size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from compass.curation.clusters import join, roots, sorted_sets
from compass.curation.minhash import band_keys, bands, hash_ngrams, permutations, signatures
from compass.curation.parallel import in_threads
from compass.curation.spill import spill
from compass.curation.words import split_words
from compass.settings import Dedup

CHUNK = 10_000
"""Texts one thread works on at a time."""

RECALL = 0.995
"""Least share of the pairs at the threshold that share a band; more similar pairs are found more often."""


@dataclass(frozen=True)
class Groups:
    """What `find` returns, one entry a text: the first text with the same tokens, and the first text of its cluster."""

    exact: np.ndarray
    cluster: np.ndarray


def find(problems: pa.Array | pa.ChunkedArray | Sequence[str], settings: Dedup) -> Groups:
    """Group the problems that are the same."""
    if isinstance(problems, pa.ChunkedArray):
        # One array: each `take` from chunks would copy all of them.
        problems = problems.cast(pa.large_string()).combine_chunks()
    elif not isinstance(problems, pa.Array):
        problems = pa.array(list(problems), type=pa.large_string())
    exact = first_equal(np.concatenate([np.zeros((0, 2), np.uint64), *in_threads(_keys, _chunks(problems))]))
    unique = np.flatnonzero(exact == np.arange(exact.size))
    near = _near(problems, unique, settings)
    position = np.searchsorted(unique, exact)
    return Groups(exact, unique[near[position]] if unique.size else exact)


def _near(problems: pa.Array, unique: np.ndarray, settings: Dedup) -> np.ndarray:
    """The cluster of each unique text, as an index into `unique`."""
    count, rows = bands(settings.threshold, settings.permutations, RECALL)
    permuted = permutations(settings.permutations, settings.seed)

    def features(chunk: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        words = split_words(chunk)
        hashes, first = hash_ngrams(words, settings.ngram)
        salt = words.numbers if settings.numbers_must_match else np.zeros(len(words), dtype=np.uint64)
        keys = band_keys(signatures(hashes, first, permuted), salt, count, rows)
        sets, start = sorted_sets(hashes, first)
        return keys, sets, start

    parent = np.arange(unique.size, dtype=np.int64)
    if not unique.size:
        return parent
    with spill(settings.memory_mb << 20) as held:
        offset = 0
        for keys, sets, start in in_threads(features, _chunks(problems, unique)):
            for band in range(count):
                held.append(f"band-{band}", keys[band])
            held.append("sets", sets)
            held.append("start", start[:-1] + offset)
            offset += sets.size
        held.append("start", np.array([offset]))
        sets, start = held.read("sets"), held.read("start")
        for band in range(count):
            keys = held.read(f"band-{band}")
            join(parent, keys, np.argsort(keys, kind="stable"), sets, start, settings.threshold)
        return roots(parent)


def _keys(chunk: pa.Array) -> np.ndarray:
    return split_words(chunk).key


def first_equal(keys: np.ndarray) -> np.ndarray:
    """For each row of `keys` the index of the first equal row."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort((keys[:, 1], keys[:, 0]))  # stable: equal keys stay in the order of the rows
    ordered = keys[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    first = np.empty(len(keys), dtype=np.int64)
    first[order] = order[np.flatnonzero(new)][np.cumsum(new) - 1]
    return first


def _chunks(problems: pa.Array, rows: np.ndarray | None = None) -> Iterator[pa.Array]:
    size = len(problems) if rows is None else rows.size
    for low in range(0, size, CHUNK):
        yield problems.slice(low, CHUNK) if rows is None else problems.take(pa.array(rows[low : low + CHUNK]))
