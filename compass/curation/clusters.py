"""Candidate pairs from LSH bands, their exact Jaccard similarity, and clusters by union-find."""

from __future__ import annotations

import numba
import numpy as np


def sorted_sets(hashes: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each text's distinct n-gram hashes in rising order, packed one after the other, and where each begins."""
    packed = hashes.copy()
    start = np.empty_like(first)
    used = _pack_sets(packed, first, start)
    return packed[:used].copy(), start


def jaccard(sets: np.ndarray, start: np.ndarray, one: int, other: int) -> float:
    """Exact Jaccard similarity of two texts' n-gram sets; two empty sets have similarity 0."""
    return float(jaccard_between(sets, start, one, sets, start, other))


def join(
    parent: np.ndarray, keys: np.ndarray, order: np.ndarray, sets: np.ndarray, start: np.ndarray, threshold: float
) -> None:
    """Join, in `parent`, all texts that share a band key and whose exact similarity reaches the threshold.

    Args:
        parent: union-find forest, changed in place; the root of a cluster is its lowest index.
        keys: one band's key of each text.
        order: `argsort(keys)`.
        sets: distinct n-gram hashes, as `sorted_sets` gives them.
        start: where each text's set begins in `sets`.
        threshold: the least similarity of near-duplicates.
    """
    _join(parent, keys, order, sets, start, threshold)


def roots(parent: np.ndarray) -> np.ndarray:
    """The root of each text's cluster: the lowest index in it."""
    return _roots(parent)


@numba.njit(cache=True, nogil=True)
def _pack_sets(packed, first, start):
    used = 0
    for text in range(first.size - 1):
        low = first[text]
        values = np.sort(packed[low : first[text + 1]])
        start[text] = used
        for place in range(values.size):
            if place == 0 or values[place] != values[place - 1]:
                packed[used] = values[place]
                used += 1
    start[first.size - 1] = used
    return used


@numba.njit(cache=True, nogil=True)
def jaccard_between(sets, start, one, other_sets, other_start, other):
    """Exact Jaccard similarity of a text's n-gram set to one of another collection."""
    left, left_end = start[one], start[one + 1]
    right, right_end = other_start[other], other_start[other + 1]
    total = (left_end - left) + (right_end - right)
    shared = 0
    while left < left_end and right < right_end:
        if sets[left] == other_sets[right]:
            shared += 1
            left += 1
            right += 1
        elif sets[left] < other_sets[right]:
            left += 1
        else:
            right += 1
    return shared / (total - shared) if total else 0.0


@numba.njit(cache=True, nogil=True)
def _root(parent, text):
    while parent[text] != text:
        parent[text] = parent[parent[text]]
        text = parent[text]
    return text


@numba.njit(cache=True, nogil=True)
def _join(parent, keys, order, sets, start, threshold):
    size = order.size
    begin = 0
    while begin < size:
        end = begin + 1
        while end < size and keys[order[end]] == keys[order[begin]]:
            end += 1
        for place in range(begin, end):
            one = order[place]
            if start[one + 1] == start[one]:
                continue
            length = start[one + 1] - start[one]
            for later in range(place + 1, end):
                other = order[later]
                long = start[other + 1] - start[other]
                if min(length, long) < threshold * max(length, long):
                    continue
                root, other_root = _root(parent, one), _root(parent, other)
                if root != other_root and jaccard_between(sets, start, one, sets, start, other) >= threshold:
                    parent[max(root, other_root)] = min(root, other_root)
        begin = end


@numba.njit(cache=True, nogil=True)
def _roots(parent):
    found = np.empty_like(parent)
    for text in range(parent.size):
        found[text] = _root(parent, text)
    return found
