"""Clusters by union-find: texts that share a band key and whose exact Jaccard similarity reaches the threshold.

Compiled for many texts: a million of them have some million candidate pairs.
"""

from __future__ import annotations

import numpy as np

from compass.curation.compiled import FEW, compiled


def first_equal(keys: np.ndarray) -> np.ndarray:
    """For each row of `keys` the index of the first equal row."""
    order = np.lexsort(keys.T)  # stable: of equal rows the first comes first
    begins = np.ones(order.size, dtype=bool)
    begins[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
    first = np.empty_like(order)
    first[order] = order[begins][np.cumsum(begins) - 1]
    return first


def shared(keys: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Those of the rows whose key another of them has.

    Args:
        keys: one band's key of each text.
        rows: the texts that count.
    """
    rows = rows[np.argsort(keys[rows], kind="stable")]
    equal = keys[rows[1:]] == keys[rows[:-1]]
    return rows[np.append(equal, False) | np.insert(equal, 0, False)] if rows.size else rows


def join(
    parent: np.ndarray, keys: np.ndarray, rows: np.ndarray, sets: np.ndarray, start: np.ndarray, threshold: float
) -> None:
    """Join, in `parent`, all texts that share a band key and whose exact similarity reaches the threshold.

    Args:
        parent: union-find forest over all texts, changed in place; the root of a cluster is its lowest index.
        keys: one band's key of each text.
        rows: the texts to compare, in rising order.
        sets: distinct n-gram hashes of each text in rising order, one text after the other; a text without any is joined
            to none.
        start: where each text's hashes begin in `sets`, and one entry past the end.
        threshold: the least similarity of near-duplicates.
    """
    run = compiled(_join, _root, _similar) if parent.size > FEW else _join
    run(parent, keys, rows[np.argsort(keys[rows], kind="stable")], sets, start, threshold)


def roots(parent: np.ndarray) -> np.ndarray:
    """The root of each text's cluster: the lowest index in it."""
    return (compiled(_roots, _root) if parent.size > FEW else _roots)(parent)


def _roots(parent):
    first = np.empty_like(parent)
    for text in range(parent.size):
        first[text] = _root(parent, text)
    return first


def _root(parent, text):
    while parent[text] != text:
        parent[text] = parent[parent[text]]
        text = parent[text]
    return text


def _join(parent, keys, order, sets, start, threshold):
    begin = 0
    while begin < order.size:
        end = begin + 1
        while end < order.size and keys[order[end]] == keys[order[begin]]:
            end += 1
        for place in range(begin, end):
            for later in range(place + 1, end):
                one, other = order[place], order[later]
                root, other_root = _root(parent, one), _root(parent, other)
                if root != other_root and _similar(sets, start, one, other, threshold):
                    parent[max(root, other_root)] = min(root, other_root)
        begin = end


def _similar(sets, start, one, other, threshold):
    """Whether the Jaccard similarity of two texts' sets is the threshold or more."""
    left, left_end = start[one], start[one + 1]
    right, right_end = start[other], start[other + 1]
    size, other_size = left_end - left, right_end - right
    if min(size, other_size) < threshold * max(size, other_size):
        return False  # even if the smaller set lies within the larger
    shared = 0
    while left < left_end and right < right_end:
        if sets[left] == sets[right]:
            shared += 1
            left += 1
            right += 1
        elif sets[left] < sets[right]:
            left += 1
        else:
            right += 1
    return shared > 0 and shared / (size + other_size - shared) >= threshold
