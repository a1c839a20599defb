"""MinHash signatures of n-gram sets with datasketch's values, and the bands in which similar signatures meet.

n-grams are hashed once, by xxHash, for the signatures and for the exact comparison of sets. datasketch's own index is
not used: it holds a Python set per band and row, several kilobytes per row, where an array of keys takes 8 bytes per band.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import xxhash
from datasketch import MinHash


def hash_ngrams(ngrams: Iterable[str]) -> np.ndarray:
    """The distinct 64-bit hashes of n-grams, in rising order."""
    return np.unique(np.array([xxhash.xxh3_64_intdigest(ngram.encode()) for ngram in ngrams], dtype=np.uint64))


def signatures(sets: Sequence[np.ndarray], permutations: int, seed: int) -> np.ndarray:
    """MinHash signatures `(sets, permutations)` of what `hash_ngrams` returned for each text."""
    # datasketch's values (scheme affine32) without its object and hash list per text, which take longer than the minima.
    scale, shift = MinHash(num_perm=permutations, seed=seed, scheme="affine32").permutations
    made = np.full((len(sets), permutations), np.iinfo(np.uint32).max, dtype=np.uint32)
    for row, hashes in enumerate(sets):
        if hashes.size:
            mixed = _finalised(hashes.astype(np.uint32))
            np.min(mixed[:, None] * scale + shift, axis=0, out=made[row])
    return made


def _finalised(values: np.ndarray) -> np.ndarray:
    """MurmurHash3's 32-bit finaliser, by which datasketch mixes hashes."""
    values = (values ^ (values >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    values = (values ^ (values >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return values ^ (values >> np.uint32(16))


def bands(threshold: float, count: int, recall: float) -> tuple[int, int]:
    """How many bands of how many rows: the longest bands that still find `recall` of the pairs at the threshold.

    A pair of similarity s shares a band with probability 1 - (1 - s^rows)^bands (Leskovec, Rajaraman, Ullman, "Mining
    of Massive Datasets", 3.4). datasketch's own choice balances false positives against false negatives (9 bands of 13
    at 0.8: 40% of the pairs at the threshold); here candidates are confirmed, so only recall matters.
    """
    for rows in range(count, 1, -1):
        if 1 - (1 - threshold**rows) ** (count // rows) >= recall:
            return count // rows, rows
    return count, 1


def band_keys(signatures: np.ndarray, salt: np.ndarray, count: int, rows: int) -> np.ndarray:
    """A 64-bit key for each band of each signature, `(count, texts)`; texts of different `salt` never share one."""
    keys = np.empty((count, len(signatures)), dtype=np.uint64)
    for band in range(count):
        key = salt.copy()
        for values in signatures[:, band * rows : (band + 1) * rows].T:
            key = (key ^ values) * np.uint64(0xFF51AFD7ED558CCD)  # MurmurHash3's multiplier
            key ^= key >> np.uint64(32)
        keys[band] = key
    return keys
