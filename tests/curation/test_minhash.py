from __future__ import annotations

import numpy as np
import pytest
from datasketch import MinHash

from compass.curation import minhash
from compass.curation.minhash import band_keys, bands, ngram_sets, signatures
from compass.curation.problem_words import ngrams, words


@pytest.fixture(autouse=True, params=["interpreted", "compiled"])
def few_and_many(request, monkeypatch):
    """Every test runs as for few texts and, compiled, as for many."""
    monkeypatch.setattr(minhash, "FEW", minhash.FEW if request.param == "interpreted" else -1)


def test_signatures_are_datasketchs_of_the_low_halves_of_the_hashes():
    hashes = np.random.default_rng(0).integers(0, 1 << 64, 50, dtype=np.uint64)
    sets, sizes = np.concatenate([hashes[:40], hashes[10:]]), np.array([40, 0, 40])
    made = signatures(sets, sizes, permutations=64, seed=7)
    assert made.shape == (3, 64)
    for row, own in ((made[0], hashes[:40]), (made[2], hashes[10:])):
        peer = MinHash(num_perm=64, seed=7, hashfunc=lambda value: value & 0xFFFFFFFF)
        peer.update_batch(own.tolist())
        assert (row == peer.hashvalues).all()
    assert (made[1] == np.iinfo(np.uint32).max).all()
    shared = 30 / 50
    assert abs((made[0] == made[2]).mean() - shared) < 0.25  # 4 standard deviations of 64 permutations


@pytest.mark.parametrize(
    ("threshold", "count", "recall", "expected"),
    [
        (0.8, 128, 0.995, (21, 6)),
        (0.5, 128, 0.995, (42, 3)),
        (0.9, 128, 0.995, (14, 9)),
        (0.3, 128, 0.995, (64, 2)),
        (1.0, 128, 0.995, (1, 128)),
        (0.5, 2, 0.75, (2, 1)),  # exactly the asked recall
        (0.1, 4, 0.995, (4, 1)),  # out of reach: the shortest bands
    ],
)
def test_bands_are_the_longest_that_find_the_asked_share(threshold, count, recall, expected):
    assert bands(threshold, count, recall) == expected


def test_texts_share_a_band_when_its_rows_and_their_salt_are_equal():
    made = np.arange(24, dtype=np.uint32).reshape(2, 12) % 12
    made[1, 3:6] += 1  # of four bands of three rows the second differs
    salt = np.array([5, 5], dtype=np.uint64)
    keys = band_keys(made, salt, 4, 3)
    assert keys.shape == (4, 2)
    assert (keys[:, 0] == keys[:, 1]).tolist() == [True, False, True, True]
    assert len(set(keys[:, 0].tolist())) == 4
    assert salt.tolist() == [5, 5]
    other = band_keys(made, np.array([5, 6], dtype=np.uint64), 4, 3)
    assert not (other[:, 0] == other[:, 1]).any()
    assert (other[:, 0] == keys[:, 0]).all()


@pytest.mark.parametrize("row", range(6))
def test_every_row_of_a_band_counts(row):
    made = np.zeros((2, 12), dtype=np.uint32)
    made[1, 6 + row] = 1
    keys = band_keys(made, np.zeros(2, np.uint64), 2, 6)
    assert (keys[:, 0] == keys[:, 1]).tolist() == [True, False]


TEXTS = [["a", "b", "+", "c", "a", "b", "c"], [], ["a", "b"], ["=", "("], ["b", "a"], ["a", "b", "c"]]


def sets(texts, n):
    hashes, sizes = ngram_sets(texts, n)
    return [set(part.tolist()) for part in np.split(hashes, np.cumsum(sizes)[:-1])]


def test_a_text_has_a_hash_for_each_of_its_distinct_ngrams_and_operators_count_for_none():
    for n in (1, 2, 3):
        by_name = [set(ngrams(words(text), n)) for text in TEXTS]
        by_hash = sets(TEXTS, n)
        assert [len(one) for one in by_hash] == [len(one) for one in by_name]
        for first in range(len(TEXTS)):
            for second in range(len(TEXTS)):
                assert len(by_hash[first] & by_hash[second]) == len(by_name[first] & by_name[second])


def test_hashes_are_in_rising_order_and_depend_on_the_words_alone(monkeypatch):
    hashes, sizes = ngram_sets(TEXTS[:1], 3)
    assert hashes.dtype == np.uint64
    assert sizes.tolist() == [3]  # a b c (twice), b c a, c a b
    assert (np.diff(hashes.astype(object)) > 0).all()
    monkeypatch.setattr(minhash, "REMEMBERED", 1)
    assert (ngram_sets(TEXTS[:1], 3)[0] == hashes).all()
    assert ngram_sets([], 3)[0].size == 0
