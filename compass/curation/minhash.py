"""MinHash signatures of n-gram sets with datasketch's values, and the bands in which similar signatures meet.

datasketch's own index is not used: it holds a Python set per band and row, several kilobytes per row, where an array of
keys takes 8 bytes per band.
"""

from __future__ import annotations

import numba
import numpy as np


def signatures(sets: np.ndarray, sizes: np.ndarray, permutations: int, seed: int) -> np.ndarray:
    """MinHash signatures `(texts, permutations)` of what `ngram_sets` returned."""
    # The values of datasketch's scheme affine32: its object and hash list per text take longer than the minima, and
    # importing it, with scipy behind it, takes each process a second.
    draw = np.random.RandomState(seed).randint
    scale = draw(0, 1 << 31, permutations, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    shift = draw(0, 1 << 32, permutations, dtype=np.uint32)
    return _minima(sets.astype(np.uint32), np.cumsum(sizes), scale, shift)


@numba.njit(cache=True, nogil=True)
def _minima(values, ends, scale, shift):
    made = np.full((ends.size, scale.size), np.uint32(0xFFFFFFFF), dtype=np.uint32)
    begin = 0
    for text in range(ends.size):
        least = made[text]
        for place in range(begin, ends[text]):
            value = values[place]  # mixed as datasketch does, by MurmurHash3's 32-bit finaliser
            value = np.uint32((value ^ (value >> np.uint32(16))) * np.uint32(0x85EBCA6B))
            value = np.uint32((value ^ (value >> np.uint32(13))) * np.uint32(0xC2B2AE35))
            value = np.uint32(value ^ (value >> np.uint32(16)))
            for number in range(scale.size):
                least[number] = min(least[number], np.uint32(value * scale[number] + shift[number]))
        begin = ends[text]
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
