"""The word n-grams of texts as sets of 64-bit hashes: each word is hashed once, by xxHash, and n-grams are mixed from their words.

Compiled, as the signatures are (`minhash.py`): a text has some sixty n-grams.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numba
import numpy as np
import xxhash

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
    return _sets(hashes, ends, n)


@numba.njit(cache=True, nogil=True)
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
