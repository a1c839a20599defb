"""MinHash signatures of word n-grams: datasketch's own values, computed by compiled code.

`signatures` gives for each text exactly what `datasketch.MinHash(num_perm, seed)` holds after `update_batch` with the
text's n-grams (the default scheme of datasketch 2: SHA-1's first 32 bits, MurmurHash3's finalizer, affine permutations
modulo 2^32). `as_minhash` turns a row into a datasketch object, for its `MinHashLSH` and friends.

A text shorter than an n-gram has one n-gram: the whole text. A text without words has none, and datasketch's empty
signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np

from compass.curation.words import Words

if TYPE_CHECKING:
    from datasketch import MinHash


def ngrams(words: list[str], n: int) -> list[bytes]:
    """The n-grams of a text as datasketch is given them: words joined by spaces, as UTF-8. The plain definition."""
    if not words:
        return []
    return [" ".join(words[at : at + n]).encode() for at in range(max(1, len(words) - n + 1))]


def permutations(count: int, seed: int) -> np.ndarray:
    """datasketch's permutations: `(2, count)`, multipliers and addends, of the type of its default scheme."""
    from datasketch import MinHash

    made = MinHash(num_perm=count, seed=seed)
    if made.scheme != "affine32":
        raise RuntimeError(f"datasketch's default scheme is {made.scheme!r}, this module computes affine32; use 2.x")
    return np.ascontiguousarray(made.permutations, dtype=np.uint32)


def hash_ngrams(words: Words, n: int) -> tuple[np.ndarray, np.ndarray]:
    """SHA-1's first 64 bits of every n-gram, little-endian.

    Returns:
        The hashes of all texts one after the other, in the order of the text, repeats included; and for each text the
        index of its first, one entry more than there are texts.
    """
    counts = np.diff(words.first)
    grams = np.where(counts > 0, np.maximum(counts - n + 1, 1), 0)
    first = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(grams)])
    hashes = np.empty(int(first[-1]), dtype=np.uint64)
    _hash_ngrams(words.data, words.starts, words.first, first, n, hashes)
    return hashes, first


def signatures(hashes: np.ndarray, first: np.ndarray, permuted: np.ndarray) -> np.ndarray:
    """MinHash signatures `(texts, permutations)` of what `hash_ngrams` returned."""
    made = np.empty((first.size - 1, permuted.shape[1]), dtype=np.uint32)
    _signatures(hashes, first, permuted[0], permuted[1], made)
    return made


def as_minhash(signature: np.ndarray, seed: int) -> MinHash:
    """A datasketch `MinHash` that holds this signature."""
    from datasketch import MinHash

    return MinHash(num_perm=len(signature), seed=seed, hashvalues=signature, scheme="affine32")


def bands(threshold: float, count: int, recall: float) -> tuple[int, int]:
    """How many bands of how many rows: the longest bands that still find `recall` of the pairs at the threshold.

    A pair of similarity s shares a band with probability 1 - (1 - s^rows)^bands (Leskovec, Rajaraman, Ullman, "Mining
    of Massive Datasets", 3.4). datasketch's own choice balances false positives against false negatives (9 bands of 13
    at 0.8: 40% of the pairs at the threshold); here candidates are confirmed, so only recall matters.
    """
    for rows in range(count, 0, -1):
        if 1 - (1 - threshold**rows) ** (count // rows) >= recall:
            return count // rows, rows
    return count, 1


def band_keys(made: np.ndarray, salt: np.ndarray, count: int, rows: int) -> np.ndarray:
    """A 64-bit key for each band of each signature, `(count, texts)`; texts of different `salt` never share one."""
    keys = np.empty((count, made.shape[0]), dtype=np.uint64)
    _band_keys(made, salt, rows, keys)
    return keys


@numba.njit(cache=True, nogil=True, inline="always")
def _rotate(value, places):
    # Shifts of 32-bit numbers give 64-bit ones in numba; the casts keep the high half clean.
    return np.uint32(np.uint32(value << np.uint32(places)) | np.uint32(value >> np.uint32(32 - places)))


@numba.njit(cache=True, nogil=True)
def _sha1(data, begin, end, block, schedule):
    """The first 64 bits of a message's SHA-1 (FIPS 180-4), read little-endian as datasketch does."""
    length = end - begin
    h0 = np.uint32(0x67452301)
    h1 = np.uint32(0xEFCDAB89)
    h2 = np.uint32(0x98BADCFE)
    h3 = np.uint32(0x10325476)
    h4 = np.uint32(0xC3D2E1F0)
    blocks = (length + 8) // 64 + 1
    for number in range(blocks):
        low = begin + 64 * number
        for place in range(64):
            at = low + place
            block[place] = data[at] if at < end else 0
        if low <= end < low + 64:
            block[end - low] = 0x80
        if number == blocks - 1:
            bits = np.uint64(length) * np.uint64(8)
            for place in range(8):
                block[63 - place] = (bits >> np.uint64(8 * place)) & np.uint64(255)
        for place in range(16):
            schedule[place] = (
                (np.uint32(block[4 * place]) << np.uint32(24))
                | (np.uint32(block[4 * place + 1]) << np.uint32(16))
                | (np.uint32(block[4 * place + 2]) << np.uint32(8))
                | np.uint32(block[4 * place + 3])
            )
        for place in range(16, 80):
            schedule[place] = _rotate(
                schedule[place - 3] ^ schedule[place - 8] ^ schedule[place - 14] ^ schedule[place - 16], 1
            )
        a, b, c, d, e = h0, h1, h2, h3, h4
        for place in range(20):
            f = d ^ (b & (c ^ d))
            t = np.uint32(_rotate(a, 5) + f + e + np.uint32(0x5A827999) + schedule[place])
            a, b, c, d, e = t, a, _rotate(b, 30), c, d
        for place in range(20, 40):
            f = b ^ c ^ d
            t = np.uint32(_rotate(a, 5) + f + e + np.uint32(0x6ED9EBA1) + schedule[place])
            a, b, c, d, e = t, a, _rotate(b, 30), c, d
        for place in range(40, 60):
            f = (b & c) | (d & (b | c))
            t = np.uint32(_rotate(a, 5) + f + e + np.uint32(0x8F1BBCDC) + schedule[place])
            a, b, c, d, e = t, a, _rotate(b, 30), c, d
        for place in range(60, 80):
            f = b ^ c ^ d
            t = np.uint32(_rotate(a, 5) + f + e + np.uint32(0xCA62C1D6) + schedule[place])
            a, b, c, d, e = t, a, _rotate(b, 30), c, d
        h0 = np.uint32(h0 + a)
        h1 = np.uint32(h1 + b)
        h2 = np.uint32(h2 + c)
        h3 = np.uint32(h3 + d)
        h4 = np.uint32(h4 + e)
    return np.uint64(_swap(h0)) | (np.uint64(_swap(h1)) << np.uint64(32))


@numba.njit(cache=True, nogil=True, inline="always")
def _swap(value):
    return np.uint32(
        (value << np.uint32(24))
        | ((value & np.uint32(0xFF00)) << np.uint32(8))
        | ((value >> np.uint32(8)) & np.uint32(0xFF00))
        | (value >> np.uint32(24))
    )


@numba.njit(cache=True, nogil=True)
def _hash_ngrams(data, starts, words, first, n, hashes):
    block = np.empty(64, dtype=np.uint8)
    schedule = np.empty(80, dtype=np.uint32)
    for text in range(first.size - 1):
        for place in range(first[text + 1] - first[text]):
            low = words[text] + place
            high = min(low + n, words[text + 1])
            hashes[first[text] + place] = _sha1(data, starts[low], starts[high] - 1, block, schedule)


@numba.njit(cache=True, nogil=True)
def _signatures(hashes, first, multiply, add, made):
    count = multiply.size
    for text in range(first.size - 1):
        row = made[text]
        row[:] = np.uint32(0xFFFFFFFF)
        for place in range(first[text], first[text + 1]):
            value = np.uint32(hashes[place])
            value ^= value >> np.uint32(16)
            value = np.uint32(value * np.uint32(0x85EBCA6B))
            value ^= value >> np.uint32(13)
            value = np.uint32(value * np.uint32(0xC2B2AE35))
            value ^= value >> np.uint32(16)
            for number in range(count):
                row[number] = min(row[number], np.uint32(value * multiply[number] + add[number]))


@numba.njit(cache=True, nogil=True)
def _band_keys(made, salt, rows, keys):
    for text in range(made.shape[0]):
        for band in range(keys.shape[0]):
            value = salt[text] + np.uint64(band + 1) * np.uint64(0x9E3779B97F4A7C15)
            for row in range(rows):
                value = (value ^ np.uint64(made[text, band * rows + row])) * np.uint64(0xFF51AFD7ED558CCD)
                value ^= value >> np.uint64(32)
            keys[band, text] = value
