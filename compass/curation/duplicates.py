"""Which problems are the same: exact duplicates by a hash of their tokens, near-duplicates by MinHash LSH.

1. Texts with equal tokens (`problem_words.py`) are exact duplicates; one of each is looked at further.
2. MinHash signatures of word n-grams, cut into bands; texts that share a band are candidates. With `numbers_must_match`
   a band's key holds the text's numbers too: problems that differ in a number never meet.
3. A candidate pair whose exact Jaccard similarity reaches the threshold is joined (union-find).

Texts are read in chunks by several processes. The result is the same for any number of processes and any chunk size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import xxhash

from compass.curation.clusters import first_equal, join, roots
from compass.curation.minhash import band_keys, bands, ngram_sets, signatures
from compass.curation.problem_words import numbers, tokens
from compass.curation.spill import spill
from compass.parallel import in_processes
from compass.progress import report
from compass.settings import Dedup

CHUNK = 2_000
"""Texts one process reads at a time."""

SMALL = 10_000
"""Fewer texts are read in this process: starting others takes longer."""

RECALL = 0.995
"""Least share of the pairs at the threshold that share a band; more similar pairs are found more often."""


@dataclass(frozen=True)
class Duplicates:
    """For each text the index of the first text with the same tokens, and of the first text of its cluster."""

    exact: np.ndarray
    cluster: np.ndarray


@dataclass(frozen=True)
class Features:
    """What the search compares, of n texts: `tokens` `(n, 2)` 128-bit hashes of their tokens, `bands` `(bands, n)` keys,
    `sets` the texts' distinct n-gram hashes one after the other, and `sizes` `(n,)` how many each has.
    """

    tokens: np.ndarray
    bands: np.ndarray
    sets: np.ndarray
    sizes: np.ndarray


def find_duplicates(problems: pa.Array | pa.ChunkedArray | Sequence[str | None], settings: Dedup) -> Duplicates:
    """Group the problems that are the same; a null is an empty text."""
    if not len(problems):
        return Duplicates(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    chunks = (problems[low : low + CHUNK] for low in range(0, len(problems), CHUNK))
    texts = (chunk if isinstance(chunk, list) else chunk.to_pylist() for chunk in chunks)
    count, _ = bands(settings.threshold, settings.permutations, RECALL)
    with spill(settings.memory_mb << 20) as held:
        read = in_processes(partial(_reader, settings), texts, workers=1 if len(problems) < SMALL else 0)
        done = 0
        for features in read:
            done += features.sizes.size
            report(done, len(problems), "rows", "comparing words")
            held.append("tokens", features.tokens.reshape(-1))
            held.append("sets", features.sets)
            held.append("sizes", features.sizes)
            for band in range(count):
                held.append(f"band-{band}", features.bands[band])
        exact = first_equal(held.read("tokens").reshape(-1, 2))
        unique = np.flatnonzero(exact == np.arange(exact.size))
        sets = held.read("sets")
        start = np.concatenate([[0], np.cumsum(held.read("sizes"))])
        parent = np.arange(exact.size)
        for band in range(count):
            report(band, count, "bands", "joining near-duplicates")
            join(parent, held.read(f"band-{band}"), unique, sets, start, settings.threshold)
    return Duplicates(exact, roots(parent)[exact])


def _reader(settings: Dedup) -> Callable[[Sequence[str | None]], Features]:
    return partial(read_features, settings=settings)


def read_features(texts: Sequence[str | None], settings: Dedup) -> Features:
    """What the search compares, of some texts."""
    read = [tokens(text) for text in texts]
    keys = b"".join(xxhash.xxh3_128_digest(" ".join(one).encode()) for one in read)
    sets, sizes = ngram_sets(read, settings.ngram)
    salt = np.zeros(len(read), dtype=np.uint64)
    if settings.numbers_must_match:
        salt[:] = [xxhash.xxh3_64_intdigest(" ".join(numbers(one)).encode()) for one in read]
    signed = signatures(sets, sizes, settings.permutations, settings.seed)
    return Features(
        tokens=np.frombuffer(keys, dtype=np.uint64).reshape(-1, 2),
        bands=band_keys(signed, salt, *bands(settings.threshold, settings.permutations, RECALL)),
        sets=sets,
        sizes=sizes,
    )
