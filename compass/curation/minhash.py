"""From the words of texts to the bands in which similar texts meet: hashed n-grams, MinHash signatures, bands.

Each word is hashed once, by xxHash, to 64 bits, and n-grams are mixed from their words. The signatures have datasketch's values;
its own index is not used: it holds a Python set per band and row, several kilobytes per row, where an array of keys takes 8 bytes
per band. For many texts all of it is compiled: a text has some sixty n-grams.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import xxhash

from compass.curation.compiled import FEW, compiled
from compass.curation.problem_words import OPERATORS

REMEMBERED = 1 << 18
"""Words whose hashes are kept at a time."""


class _WordHashes(dict[str, int]):
    """The hash of each word; 0 for the operators, which no n-gram counts."""

    def __missing__(self, token: str) -> int:
        if len(self) >= REMEMBERED:
            self.clear()
        return self.setdefault(token, 0 if token in OPERATORS else xxhash.xxh3_64_intdigest(token.encode()) or 1)


_word_hash = _WordHashes().__getitem__


def ngram_sets(texts: Sequence[Sequence[str]], n: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct n-gram hashes of texts.

    Args:
        texts: for each text its tokens (`problem_words.tokens`).
        n: words in an n-gram; a shorter text is one n-gram, one without words has none.

    Returns:
        The hashes `uint64`, in rising order per text and one text after the other, and `(texts,)` how many each has.
    """
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    total = int(ends[-1]) if len(texts) else 0
    hashes = np.fromiter(map(_word_hash, chain.from_iterable(texts)), np.uint64, total)
    if len(texts) > FEW:
        return compiled(_sets)(hashes, ends, n)
    with np.errstate(over="ignore"):  # the products are meant to wrap
        return _sets(hashes, ends, n)


def _sets(hashes, ends, n):
    sets = np.empty(hashes.size, dtype=np.uint64)
    sizes = np.zeros(ends.size, dtype=np.int64)
    filled, begin = 0, 0
    for text in range(ends.size):
        words = hashes[begin : ends[text]]
        words = words[words != 0]
        begin = ends[text]
        if words.size == 0:
            continue
        length = min(n, words.size)
        grams = np.empty(words.size - length + 1, dtype=np.uint64)
        for place in range(grams.size):
            mixed = np.uint64(0)
            for word in words[place : place + length]:
                mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xFF51AFD7ED558CCD) + word  # MurmurHash3's
            mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
            grams[place] = mixed ^ (mixed >> np.uint64(33))
        grams.sort()
        for place in range(grams.size):
            if place == 0 or grams[place] != grams[place - 1]:
                sets[filled] = grams[place]
                filled += 1
                sizes[text] += 1
    return sets[:filled].copy(), sizes


def signatures(sets: np.ndarray, sizes: np.ndarray, permutations: int, seed: int) -> np.ndarray:
    """MinHash signatures `(texts, permutations)` of what `ngram_sets` returned."""
    # The values of datasketch's scheme affine32: its object and hash list per text take longer than the minima, and
    # importing it, with scipy behind it, takes each process a second.
    draw = np.random.RandomState(seed).randint
    scale = draw(0, 1 << 31, permutations, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    shift = draw(0, 1 << 32, permutations, dtype=np.uint32)
    minima = compiled(_minima) if sizes.size > FEW else _minima_of_few
    return minima(sets.astype(np.uint32), np.cumsum(sizes), scale, shift)


def _minima_of_few(values, ends, scale, shift):
    """`_minima` by numpy: its innermost loop is too long to interpret, and this is too slow for many."""
    values = (values ^ (values >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    values = (values ^ (values >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    values ^= values >> np.uint32(16)
    made = np.full((ends.size, scale.size), np.uint32(0xFFFFFFFF), dtype=np.uint32)
    for text, own in enumerate(np.split(values, ends[:-1]) if ends.size else ()):
        for value in own:
            np.minimum(made[text], value * scale + shift, out=made[text])
    return made


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
