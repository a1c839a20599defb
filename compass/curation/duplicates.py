"""Which problems are the same: exact duplicates by a hash of their tokens, near-duplicates by MinHash LSH.

1. Texts with equal tokens (`problem_words.py`) are exact duplicates; one of each is looked at further.
2. MinHash signatures of word n-grams, cut into bands; texts that share a band are candidates. With `numbers_must_match`
   a band's key holds the text's numbers too: problems that differ in a number never meet.
3. A candidate pair whose exact Jaccard similarity reaches the threshold is joined (union-find).

Texts are read in chunks by several processes. The result is the same for any number of processes and any chunk size. What the
search compares lies in temporary files, about 700 bytes per text; memory holds some 80 bytes per text, and the n-grams of those
texts that share a band with another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import xxhash

from compass.curation.clusters import first_equal, join, roots, shared
from compass.curation.minhash import band_keys, bands, ngram_sets, signatures
from compass.curation.problem_words import numbers, tokens
from compass.curation.spill import Spill, spill
from compass.parallel import in_processes
from compass.progress import report
from compass.settings import Dedup

CHUNK = 2_000
"""Texts one process reads at a time."""

SMALL = 10_000
"""Fewer texts are read in this process: starting others takes longer."""

SETS = 1 << 22
"""N-gram hashes that are read back at a time."""

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
    chunks = (problems[low : low + CHUNK] for low in range(0, len(problems), CHUNK))
    return search(
        (chunk if isinstance(chunk, list) else chunk.to_pylist() for chunk in chunks), len(problems), settings
    )


def search(chunks: Iterable[Sequence[str | None]], total: int, settings: Dedup) -> Duplicates:
    """`find_duplicates`, of texts that come in chunks.

    Args:
        chunks: texts; few are held at a time.
        total: how many texts there are.
        settings: the section `dedup`.
    """
    if not total:
        return Duplicates(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    count, _ = bands(settings.threshold, settings.permutations, RECALL)
    with spill() as held:
        done = 0
        for features in in_processes(partial(_reader, settings), chunks, workers=1 if total < SMALL else 0):
            done += features.sizes.size
            report(done, total, "rows", "comparing words")
            held.append("tokens", features.tokens)
            held.append("sets", features.sets)
            held.append("sizes", features.sizes)
            for band in range(count):
                held.append(f"band-{band}", features.bands[band])
        exact = first_equal(held.read("tokens").reshape(-1, 2))
        unique = np.flatnonzero(exact == np.arange(exact.size))
        met = np.zeros(exact.size, dtype=bool)
        for band in range(count):
            report(band, 2 * count, "bands", "joining near-duplicates")
            met[shared(held.read(f"band-{band}"), unique)] = True
        sets, start = _sets_of(met, held)
        parent = np.arange(exact.size)
        for band in range(count):
            report(count + band, 2 * count, "bands", "joining near-duplicates")
            join(parent, held.read(f"band-{band}"), np.flatnonzero(met), sets, start, settings.threshold)
    return Duplicates(exact, roots(parent)[exact])


def _sets_of(met: np.ndarray, held: Spill) -> tuple[np.ndarray, np.ndarray]:
    """The n-grams of the texts that share a band with another, one text after the other, and where each text's begin: the
    others' are never compared.
    """
    sizes = held.read("sizes")
    ends, kept = np.cumsum(sizes), np.where(met, sizes, 0)
    sets = np.empty(kept.sum(), dtype=np.uint64)
    begin = filled = 0
    for chunk in held.chunks("sets", SETS):
        low, high = np.searchsorted(ends, (begin, begin + chunk.size), side="right")
        texts = np.arange(low, min(high + 1, sizes.size))  # those of which the chunk holds a part, or all
        firsts = np.maximum(ends[texts] - sizes[texts] - begin, 0)
        lengths = np.minimum(ends[texts] - begin, chunk.size) - firsts
        chosen = chunk[np.repeat(met[texts], lengths)]
        sets[filled : filled + chosen.size] = chosen
        filled += chosen.size
        begin += chunk.size
    return sets, np.concatenate([[0], np.cumsum(kept)])


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
