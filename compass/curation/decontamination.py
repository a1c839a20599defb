"""Training problems that are benchmark items: exact, covering an item's n-grams, or a rewording of it.

A problem is contaminated when one of these rules finds a benchmark item in it:

- `exact`: both have the same tokens (`words.py`).
- `coverage`: it holds at least `contamination_coverage` of the item's word n-grams (13 words by default). A share of the
  *item*, not a single hit: "any shared 13-gram" flags every AIME-style problem for "where m and n are relatively prime
  positive integers". An item shorter than an n-gram, but of eight words or more, must be there whole.
- `reworded`: its numbers and signs are the item's, in the same order, and the Jaccard similarity of word trigrams is at
  least `contamination_similarity`. It finds rewordings of short items, which have few long n-grams or none, and leaves
  problems of the same template with other numbers alone. An item without numbers and signs is left to the other rules:
  there a changed word may be all the difference ("arrange the letters of the word BANANA").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import pyarrow as pa

from compass.curation.clusters import jaccard_between, sorted_sets
from compass.curation.minhash import hash_ngrams
from compass.curation.words import NO_NUMBERS, Words, split_words
from compass.ledger import Drop, Reason
from compass.settings import Denoise

CHUNK = 10_000
"""Problems compared at a time."""

TRIGRAM = 3

SHORTEST = 8
"""Words of the shortest item that is looked for inside longer problems."""

RULES = ("exact", "reworded", "coverage")
"""Strongest first; an item that several rules find is named with the strongest."""


@dataclass(frozen=True)
class Match:
    """A benchmark item found in a problem; `score` is the coverage or the similarity, 1 for an exact match."""

    benchmark: str
    item: str
    rule: str
    score: float
    answer: str


class Benchmarks:
    """The benchmark items, indexed once, and the search for them in problems."""

    def __init__(self, items: pa.Table, settings: Denoise) -> None:
        """Index items.

        Args:
            items: `RECORD` rows; `source` is the benchmark's name, `source_id` the item's id in it.
            settings: the section `denoise`.
        """
        self.settings = settings
        self.items = items.select(["source", "source_id", "answer"]).to_pylist()
        words = split_words(items.column("problem"))
        self._exact: dict[tuple[int, int], list[int]] = {}
        self._numbers: dict[int, list[int]] = {}
        self._short: dict[int, list[tuple[int, str]]] = {}
        shortest = min(SHORTEST, settings.contamination_ngram)
        heads, head_of = _long_ngrams(words, shortest)
        for item in range(len(words)):
            self._exact.setdefault(_key(words, item), []).append(item)
            if words.numbers[item] != NO_NUMBERS:
                self._numbers.setdefault(int(words.numbers[item]), []).append(item)
            if shortest <= len(found := words.of(item)) < settings.contamination_ngram:
                self._short.setdefault(int(heads[head_of[item]]), []).append((item, f" {' '.join(found)} "))
        self._heads = np.array(sorted(self._short), dtype=np.uint64)
        self._sets, self._set_start = sorted_sets(*hash_ngrams(words, TRIGRAM))
        hashes, first = _long_ngrams(words, settings.contamination_ngram)
        owner = np.repeat(np.arange(len(words)), np.diff(first))
        pairs = np.unique(np.stack([hashes, owner.astype(np.uint64)]), axis=1)  # distinct n-grams of each item
        self._grams, self._posting = np.unique(pairs[0], return_index=True)
        self._owners = pairs[1].astype(np.int64)
        self._posting = np.append(self._posting, pairs.shape[1])
        self._size = np.bincount(self._owners, minlength=len(words))

    def find(self, problems: pa.Array | pa.ChunkedArray) -> list[list[Match]]:
        """The benchmark items found in each problem, best first: by rule, then by score."""
        found: list[list[Match]] = []
        for low in range(0, len(problems), CHUNK):
            found += self._find(split_words(problems.slice(low, CHUNK)))
        return found

    def check(self, records: pa.Table) -> list[Drop | None]:
        """A verdict for each record; the evidence names benchmark, item, rule and score."""
        answers = records.column("answer").to_pylist()
        return [
            _drop(matches, answer) if matches else None
            for matches, answer in zip(self.find(records.column("problem")), answers, strict=True)
        ]

    def _find(self, words: Words) -> list[list[Match]]:
        found: list[dict[int, Match]] = [{} for _ in range(len(words))]
        self._add_short(words, found)
        self._add_covered(words, found)
        self._add_reworded(words, found)
        for row in range(len(words)):
            for item in self._exact.get(_key(words, row), ()):
                found[row][item] = self._match(item, "exact", 1.0)
        return [sorted(row.values(), key=lambda match: (RULES.index(match.rule), -match.score)) for row in found]

    def _add_short(self, words: Words, found: list[dict[int, Match]]) -> None:
        """Short items that stand whole in a problem, looked up by their first words."""
        hashes, first = _long_ngrams(words, min(SHORTEST, self.settings.contamination_ngram))
        if not hashes.size or not self._heads.size:
            return
        places = np.minimum(np.searchsorted(self._heads, hashes), self._heads.size - 1)
        hits = np.flatnonzero(self._heads[places] == hashes)
        for hit, row in zip(hits, np.searchsorted(first, hits, side="right") - 1, strict=True):
            text = f" {' '.join(words.of(row))} "
            for item, whole in self._short[int(hashes[hit])]:
                if whole in text:
                    found[row][item] = self._match(item, "coverage", 1.0)

    def _add_covered(self, words: Words, found: list[dict[int, Match]]) -> None:
        hashes, first = _long_ngrams(words, self.settings.contamination_ngram)
        if not hashes.size or not self._grams.size:
            return
        places = np.minimum(np.searchsorted(self._grams, hashes), self._grams.size - 1)
        hits = np.flatnonzero(self._grams[places] == hashes)
        rows = np.searchsorted(first, hits, side="right") - 1
        hits_of: dict[tuple[int, int], int] = {}
        for row, place in np.unique(np.stack([rows, places[hits]]), axis=1).T.tolist():
            for item in self._owners[self._posting[place] : self._posting[place + 1]].tolist():
                hits_of[row, item] = hits_of.get((row, item), 0) + 1
        for (row, item), count in hits_of.items():
            coverage = count / int(self._size[item])
            if coverage >= self.settings.contamination_coverage:
                found[row][item] = self._match(item, "coverage", coverage)

    def _add_reworded(self, words: Words, found: list[dict[int, Match]]) -> None:
        rows = [row for row in range(len(words)) if int(words.numbers[row]) in self._numbers]
        if not rows:
            return
        hashes, first = hash_ngrams(words, TRIGRAM)
        sets, start = sorted_sets(hashes, first)
        for row in rows:
            for item in self._numbers[int(words.numbers[row])]:
                score = jaccard_between(sets, start, row, self._sets, self._set_start, item)
                if score >= self.settings.contamination_similarity:
                    found[row][item] = self._match(item, "reworded", score)

    def _match(self, item: int, rule: str, score: float) -> Match:
        row = self.items[item]
        return Match(row["source"], row["source_id"], rule, round(float(score), 4), row["answer"] or "")


def _drop(matches: list[Match], answer: str | None) -> Drop:
    best = matches[0]
    evidence: dict[str, Any] = {
        "benchmark": best.benchmark,
        "item": best.item,
        "rule": best.rule,
        "similarity" if best.rule == "reworded" else "coverage": best.score,
        "answer": answer,
        "item_answer": best.answer,
    }
    if len(matches) > 1:
        evidence["other_items"] = [f"{match.benchmark}:{match.item}" for match in matches[1:]]
    return Drop(Reason.CONTAMINATED, evidence)


def _key(words: Words, text: int) -> tuple[int, int]:
    return int(words.key[text, 0]), int(words.key[text, 1])


def _long_ngrams(words: Words, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Hashes of every n-gram, none for a text shorter than n; and where each text's begin."""
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.maximum(np.diff(words.first) - n + 1, 0))])
    hashes = np.empty(int(first[-1]), dtype=np.uint64)
    _hash_long(words.data, words.starts, words.first, first, n, hashes)
    return hashes, first


@numba.njit(cache=True, nogil=True)
def _hash_long(data, starts, words, first, n, hashes):
    for text in range(first.size - 1):
        count = first[text + 1] - first[text]
        if count == 0:
            continue
        low = words[text]
        each = np.empty(count + n - 1, dtype=np.uint64)
        for word in range(each.size):
            value = np.uint64(0xCBF29CE484222325)
            for place in range(starts[low + word], starts[low + word + 1]):
                value = (value ^ np.uint64(data[place])) * np.uint64(0x100000001B3)
            each[word] = value ^ (value >> np.uint64(32))
        for gram in range(count):
            value = np.uint64(0x243F6A8885A308D3)
            for word in range(gram, gram + n):
                value = (value ^ each[word]) * np.uint64(0x9E3779B97F4A7C15)
                value ^= value >> np.uint64(29)
            hashes[first[text] + gram] = value
