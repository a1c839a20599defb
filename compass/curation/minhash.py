"""MinHash signatures of n-gram sets by datasketch, and the bands in which similar signatures meet.

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
    low = (hashes.astype(np.uint32).tolist() for hashes in sets)
    made = np.empty((len(sets), permutations), dtype=np.uint32)
    for row, minhash in enumerate(MinHash.generator(low, num_perm=permutations, seed=seed, hashfunc=int)):
        made[row] = minhash.hashvalues
    return made


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
