from __future__ import annotations

import numpy as np
import pytest
from datasketch import MinHash, MinHashLSH

from compass.curation.minhash import as_minhash, band_keys, bands, hash_ngrams, ngrams, permutations, signatures
from compass.curation.words import split_words

TEXTS = [
    "Tom has 8 books and buys 3 more. How many books does Tom have?",
    "short one",
    "",
    r"Let \(f(x)=x^2+1\) and \(g(x)=2x\). Compute \(f(g(3))\) — café, π, 芳芳.",
    " ".join(f"word{number}" for number in range(300)),
    "a" * 400 + " " + "b" * 200 + " c",  # an n-gram of many SHA-1 blocks
]


@pytest.mark.parametrize(("count", "seed", "n"), [(128, 1, 3), (64, 7, 1), (16, 0, 13)])
def test_signatures_are_datasketchs_own(count, seed, n):
    words = split_words(TEXTS)
    made = signatures(*hash_ngrams(words, n), permutations(count, seed))
    for number in range(len(TEXTS)):
        peer = MinHash(num_perm=count, seed=seed)
        peer.update_batch(ngrams(words.of(number), n))
        assert (made[number] == peer.hashvalues).all()


@pytest.mark.parametrize("length", [54, 55, 56, 57, 63, 64, 65, 119, 120, 121])
def test_sha1_is_right_at_the_edges_of_its_blocks(length):
    words = split_words(["a" * length])
    hashes, _ = hash_ngrams(words, 1)
    from datasketch.hashfunc import sha1_hash64

    assert int(hashes[0]) == sha1_hash64(b"a" * length)


def test_signatures_work_in_datasketchs_index():
    words = split_words([TEXTS[0], TEXTS[0].replace("more", "again"), TEXTS[4]])
    made = signatures(*hash_ngrams(words, 1), permutations(128, 1))
    index = MinHashLSH(threshold=0.7, num_perm=128)
    index.insert("first", as_minhash(made[0], seed=1))
    assert index.query(as_minhash(made[1], seed=1)) == ["first"]
    assert index.query(as_minhash(made[2], seed=1)) == []


def test_bands_find_the_asked_share_at_the_threshold():
    for threshold in (0.5, 0.7, 0.8, 0.9):
        count, rows = bands(threshold, 128, 0.995)
        assert count * rows <= 128
        assert 1 - (1 - threshold**rows) ** count >= 0.995


def test_texts_of_other_numbers_share_no_band():
    words = split_words([TEXTS[0], TEXTS[0].replace("8", "9")])
    made = signatures(*hash_ngrams(words, 3), permutations(128, 1))
    made[1] = made[0]
    assert not np.isin(*band_keys(made, words.numbers, 21, 6).T).any()
    assert np.isin(*band_keys(made, np.zeros(2, np.uint64), 21, 6).T).all()
