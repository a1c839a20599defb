from __future__ import annotations

import numpy as np

from compass.curation import ngram_hashes
from compass.curation.ngram_hashes import ngram_sets
from compass.curation.problem_words import ngrams, words

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
    monkeypatch.setattr(ngram_hashes, "REMEMBERED", 1)
    assert (ngram_sets(TEXTS[:1], 3)[0] == hashes).all()
    assert ngram_sets([], 3)[0].size == 0
