from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from compass.curation import duplicates
from compass.curation.duplicates import find
from compass.curation.minhash import ngrams
from compass.curation.words import split_words
from compass.settings import Dedup

BOOKS = "Tom has 8 books. Then Tom buys 3 more of them in the shop. How many books does Tom have now?"


def test_exact_and_near_duplicates_share_a_cluster():
    groups = find([BOOKS, BOOKS.upper(), f"{BOOKS} Explain.", "What is 2 + 2?"], Dedup())
    assert groups.exact.tolist() == [0, 0, 2, 3]
    assert groups.cluster.tolist() == [0, 0, 0, 3]


def test_problems_that_differ_in_a_number_are_different():
    texts = [BOOKS * 3, BOOKS * 3 + "".replace("8", "9"), (BOOKS * 3).replace("buys 3", "buys 4", 1)]
    assert find(texts, Dedup()).cluster.tolist() == [0, 0, 2]
    assert find(texts, Dedup(numbers_must_match=False)).cluster.tolist() == [0, 0, 0]


def test_a_chain_of_near_duplicates_is_one_cluster():
    words = [f"w{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    texts = [" ".join([*words[:24], *extra]) for extra in ([], ["one"], ["one", "other"], ["one", "other", "more"])]
    assert find(texts[::-1], Dedup(threshold=0.9)).cluster.tolist() == [0, 0, 0, 0]


def test_nothing_and_texts_without_words():
    assert find([], Dedup()).cluster.size == 0
    assert find(["", "?", ""], Dedup()).cluster.tolist() == [0, 0, 0]


def test_the_result_does_not_depend_on_chunks_threads_and_memory(monkeypatch, shared):
    with gzip.open(shared / "raw" / "deepscaler_by_difficulty.jsonl.gz", "rt") as lines:
        texts = [json.loads(line)["prompt"] for _, line in zip(range(4_000), lines, strict=False)]
    whole = find(texts, Dedup())
    monkeypatch.setattr(duplicates, "CHUNK", 37)
    parts = find(texts, Dedup(memory_mb=1))  # more than 1 MiB of keys and sets: on disk
    assert (whole.exact == parts.exact).all()
    assert (whole.cluster == parts.cluster).all()


@pytest.mark.parametrize("numbers_must_match", [True, False])
def test_recall_and_precision_against_all_pairs(shared, numbers_must_match):
    """Every pair of 3,000 real problems, some of them reworded, against its true similarity."""
    with gzip.open(shared / "raw" / "deepscaler_by_difficulty.jsonl.gz", "rt") as lines:
        texts = [json.loads(line)["prompt"] for _, line in zip(range(2_000), lines, strict=False)]
    rng = np.random.default_rng(0)
    for text in list(texts[:1_000]):
        words = text.split(" ")
        for _ in range(max(1, len(words) // 20)):
            words[rng.integers(len(words))] = "thing"
        texts.append(" ".join(words))
    settings = Dedup(numbers_must_match=numbers_must_match)
    cluster = find(texts, settings).cluster
    words = split_words(texts)
    sets = [frozenset(ngrams(words.of(number), settings.ngram)) for number in range(len(texts))]
    true = found = 0
    linked = {}
    for one in range(len(texts)):
        for other in range(one):
            shared_grams = len(sets[one] & sets[other])
            if shared_grams < settings.threshold * len(sets[one] | sets[other]) or not sets[one]:
                continue
            if numbers_must_match and words.numbers[one] != words.numbers[other]:
                continue
            true += 1
            found += cluster[one] == cluster[other]
            linked.setdefault(one, set()).add(other)
            linked.setdefault(other, set()).add(one)
    assert true > 400
    assert found >= 0.99 * true
    joined = [number for number in range(len(texts)) if np.sum(cluster == cluster[number]) > 1]
    assert all(number in linked for number in joined)  # precision 1.0: each has a true near-duplicate
