from __future__ import annotations

import numpy as np
import pytest

from compass.curation import clusters
from compass.curation.clusters import first_equal, join, roots


@pytest.fixture(autouse=True, params=["interpreted", "compiled"])
def few_and_many(request, monkeypatch):
    """Every test runs as for few texts and, compiled, as for many."""
    monkeypatch.setattr(clusters, "FEW", clusters.FEW if request.param == "interpreted" else -1)


def joined(sets: list[list[int]], keys: list[int], threshold: float, rows: list[int] | None = None) -> list[int]:
    """The root of each text after joining one band."""
    parent = np.arange(len(sets))
    start = np.concatenate([[0], np.cumsum([len(one) for one in sets])])
    packed = np.array([value for one in sets for value in one], dtype=np.uint64)
    chosen = np.array(range(len(sets)) if rows is None else rows)
    join(parent, np.array(keys, dtype=np.uint64), chosen, packed, start, threshold)
    return roots(parent).tolist()


def test_first_equal_row():
    keys = np.array([[1, 2], [2, 1], [1, 2], [2, 2], [2, 1], [1, 2]], dtype=np.uint64)
    assert first_equal(keys).tolist() == [0, 1, 0, 3, 1, 0]
    assert first_equal(keys[:1]).tolist() == [0]


def test_texts_of_one_band_and_enough_similarity_are_joined():
    sets = [[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 4], [6, 7], [6, 7]]
    assert joined(sets, [9, 9, 9, 9, 9], 0.6) == [0, 0, 0, 3, 3]
    assert joined(sets, [9, 9, 9, 8, 7], 0.7) == [0, 1, 0, 3, 4]


@pytest.mark.parametrize(
    ("one", "other", "similarity"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4, 5], 0.8),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4], 0.8),
        ([1, 2, 3], [2, 3, 4], 0.5),
        ([1, 9], [1, 2], 1 / 3),
        ([2, 9], [1, 9], 1 / 3),
        ([1, 2, 4, 8], [4, 9, 10, 11], 1 / 7),
        ([3], [3], 1.0),
    ],
)
def test_the_threshold_itself_is_similar_enough(one, other, similarity):
    assert joined([one, other], [0, 0], similarity) == [0, 0]
    assert joined([one, other], [0, 0], similarity + 1e-9) == [0, 1]


def test_texts_without_ngrams_are_joined_to_none():
    assert joined([[], [], [1]], [0, 0, 0], 0.5) == [0, 1, 2]
    assert joined([[], []], [0, 0], 0.0) == [0, 1]


def test_only_the_given_rows_are_compared():
    assert joined([[1], [1], [1], [1]], [0, 0, 0, 0], 1.0, rows=[0, 2]) == [0, 1, 0, 3]


def test_bands_add_up_and_the_root_is_the_lowest_index():
    parent = np.arange(5)
    sets, start = np.array([1, 1, 1, 1, 1], dtype=np.uint64), np.arange(6)
    for keys in ([1, 2, 3, 4, 3], [1, 2, 3, 2, 4], [1, 5, 6, 7, 5], [1, 8, 8, 9, 10]):
        join(parent, np.array(keys, dtype=np.uint64), np.arange(5), sets, start, 0.5)
    assert roots(parent).tolist() == [0, 1, 1, 1, 1]


def test_keys_beyond_the_sign_of_64_bits_are_compared_whole():
    keys = [2**63, 2**63 + 1, 0, 2**63]
    assert joined([[1]] * 4, keys, 1.0) == [0, 1, 2, 0]
