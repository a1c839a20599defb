from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from compass.curation import clusters, duplicates, minhash
from compass.curation.duplicates import find_duplicates
from compass.curation.problem_words import ngrams, numbers, tokens, words
from compass.settings import Dedup

BOOKS = "Tom has 8 books. Then Tom buys 3 more of them in the shop. How many books does Tom have now?"
NAMES = [
    "Anna",
    "Boris",
    "Clara",
    "David",
    "Elena",
    "Felix",
    "Greta",
    "Henry",
    "Irene",
    "Jacob",
    "Karen",
    "Louis",
    "Maria",
    "Nadia",
    "Oscar",
    "Paula",
]
THINGS = [
    "apple",
    "bottle",
    "candle",
    "drum",
    "engine",
    "feather",
    "garden",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "mirror",
    "needle",
    "orange",
]


def problems(count: int) -> list[str]:
    """Made-up problems; every other one is a rewording of an earlier one, by one word or more."""
    rng = random.Random(0)
    texts: list[str] = []
    for number in range(count):
        if number % 2:
            reworded = rng.choice(texts).split(" ")
            for _ in range(rng.randrange(1, 4)):
                reworded[rng.randrange(len(reworded))] = rng.choice(["thing", "x"])
            texts.append(" ".join(reworded))
        else:
            sold = " and ".join(f"{rng.randrange(2, 99)} {rng.choice(THINGS)}s" for _ in range(rng.randrange(2, 9)))
            who = " with ".join(rng.sample(NAMES, 3))
            texts.append(f"Today {who} sold {sold} near the old {rng.choice(THINGS)}. What was left in the evening?")
    return texts


def test_exact_and_near_duplicates_share_a_cluster():
    found = find_duplicates(["What is 2 + 2?", BOOKS, BOOKS.upper(), f"{BOOKS} Explain.", "What is 2 - 2?"], Dedup())
    assert found.exact.tolist() == [0, 1, 1, 3, 4]
    assert found.cluster.tolist() == [0, 1, 1, 1, 4]


def test_a_copy_of_a_joined_text_is_in_its_cluster():
    reworded = f"{BOOKS} Explain."
    found = find_duplicates([BOOKS, reworded, reworded], Dedup())
    assert found.exact.tolist() == [0, 1, 1]
    assert found.cluster.tolist() == [0, 0, 0]


def test_problems_that_differ_in_a_number_are_different():
    texts = [BOOKS * 3, BOOKS * 3 + " So?", (BOOKS * 3).replace("buys 3", "buys 4", 1)]
    assert find_duplicates(texts, Dedup()).cluster.tolist() == [0, 0, 2]
    assert find_duplicates(texts, Dedup(numbers_must_match=False)).cluster.tolist() == [0, 0, 0]


def test_a_chain_of_near_duplicates_is_one_cluster():
    first = [f"w{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"[:24]]
    texts = [" ".join([*first, *extra]) for extra in ([], ["one"], ["one", "other"], ["one", "other", "more"])]
    assert find_duplicates(texts[::-1], Dedup(threshold=0.9)).cluster.tolist() == [0, 0, 0, 0]
    assert find_duplicates([texts[0], texts[3]], Dedup(threshold=0.9)).cluster.tolist() == [0, 1]


@pytest.mark.parametrize(("threshold", "cluster"), [(0.5, [0, 0]), (0.51, [0, 1])])
@pytest.mark.parametrize("few", [True, False], ids=["interpreted", "compiled"])
def test_the_threshold_itself_is_similar_enough(monkeypatch, few, threshold, cluster):
    """Of four words in all the two texts have two in common."""
    for module in (clusters, minhash):
        monkeypatch.setattr(module, "FEW", module.FEW if few else -1)
    assert find_duplicates(["wa wb wc", "wb wc wd"], Dedup(threshold=threshold, ngram=1)).cluster.tolist() == cluster


def test_nothing_and_texts_without_words():
    assert find_duplicates([], Dedup()).cluster.size == find_duplicates([], Dedup()).exact.size == 0
    assert find_duplicates(["", "?", None, "+"], Dedup()).cluster.tolist() == [0, 0, 0, 3]


def test_the_form_of_the_input_does_not_matter():
    texts = ["other", BOOKS, None, f"{BOOKS} So?"]
    for form in (texts, pa.array(texts), pa.chunked_array([texts[:2], texts[2:]])):
        assert find_duplicates(form, Dedup()).cluster.tolist() == [0, 1, 2, 1]


def test_the_result_does_not_depend_on_chunks(monkeypatch):
    texts = problems(2_500)
    whole = find_duplicates(texts, Dedup())
    monkeypatch.setattr(duplicates, "CHUNK", 37)
    monkeypatch.setattr(duplicates, "SETS", 1_000)
    parts = find_duplicates(texts, Dedup())
    assert (whole.exact == parts.exact).all()
    assert (whole.cluster == parts.cluster).all()


@pytest.mark.slow
def test_the_result_does_not_depend_on_processes(monkeypatch):
    texts = problems(600)
    alone = find_duplicates(texts, Dedup())
    monkeypatch.setattr(duplicates, "SMALL", 10)
    monkeypatch.setattr(duplicates, "CHUNK", 100)
    assert (find_duplicates(texts, Dedup()).cluster == alone.cluster).all()


@pytest.mark.parametrize("numbers_must_match", [True, False])
def test_recall_and_precision_against_all_pairs(numbers_must_match):
    """Every pair of 800 problems, half of them reworded, against its true similarity."""
    settings = Dedup(numbers_must_match=numbers_must_match)
    texts = problems(800)
    cluster = find_duplicates(texts, settings).cluster
    sets = [frozenset(ngrams(words(tokens(text)), settings.ngram)) for text in texts]
    decisive = [numbers(tokens(text)) for text in texts]
    pairs = found = 0
    linked = set()
    for one in range(len(texts)):
        for other in range(one):
            if len(sets[one] & sets[other]) < settings.threshold * len(sets[one] | sets[other]):
                continue
            if numbers_must_match and decisive[one] != decisive[other]:
                continue
            pairs += 1
            found += cluster[one] == cluster[other]
            linked |= {one, other}
    assert pairs > 90
    assert found >= 0.99 * pairs
    joined = [number for number in range(len(texts)) if np.sum(cluster == cluster[number]) > 1]
    assert set(joined) <= linked  # precision 1.0: each has a true near-duplicate
