"""Training problems that are benchmark items: exact, covering an item's n-grams, or a rewording of it.

A problem is contaminated when one of these rules finds a benchmark item in it:

- `exact`: both have the same tokens (`problem_words.py`).
- `coverage`: it holds at least `contamination_coverage` of the item's word n-grams (13 words by default). A share of the
  *item*, not a single hit: "any shared 13-gram" flags every AIME-style problem for "where m and n are relatively prime
  positive integers". N-grams that stand in three items or more are boilerplate and count for none ("Let f(x) be defined …").
  An item shorter than an n-gram, but of eight words or more, must be there whole.
- `reworded`: its numbers and signs are the item's, in the same order, and the Jaccard similarity of word trigrams is at
  least `contamination_similarity`. It finds rewordings of short items, which have few long n-grams or none, and leaves
  problems of the same template with other numbers alone. An item without numbers and signs is left to the other rules:
  there a changed word may be all the difference ("arrange the letters of the word BANANA").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from compass.curation.problem_words import jaccard, ngrams, numbers, tokens, words
from compass.ledger import Drop, Reason
from compass.settings import Denoise

TRIGRAM = 3

SHORTEST = 8
"""Words of the shortest item that is looked for inside longer problems."""

BOILERPLATE = 3
"""Different items from which on an n-gram that they share is boilerplate."""

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

    @property
    def is_whole_item(self) -> bool:
        """Whether the problem is the item, not a text that holds a share of it."""
        return self.rule != "coverage"


class BenchmarkIndex:
    """The benchmark items, indexed once, and the search for them in problems."""

    def __init__(self, items: pa.Table, settings: Denoise) -> None:
        """Index items.

        Args:
            items: `RECORD` rows; `source` is the benchmark's name, `source_id` the item's id in it.
            settings: the section `denoise`.
        """
        self.settings = settings
        self.items = items.select(["source", "source_id", "answer", "problem"]).to_pylist()
        self._by_tokens: dict[tuple[str, ...], list[int]] = {}
        self._by_numbers: dict[tuple[str, ...], list[int]] = {}
        self._digits: set[tuple[str, ...]] = set()
        self._by_ngram: dict[str, list[int]] = {}
        self._by_beginning: dict[str, list[int]] = {}  # items shorter than an n-gram, by their first words
        self._ngram_marks: set[tuple[str, str, str]] = set()
        self._beginning_marks: set[tuple[str, str, str]] = set()
        self._words: list[list[str]] = []
        self._trigrams: list[set[str]] = []
        self._beginning = min(SHORTEST, settings.contamination_ngram)
        for number, item in enumerate(self.items):
            item_tokens = tokens(item["problem"])
            item_words = words(item_tokens)
            self._words.append(item_words)
            self._trigrams.append(set(ngrams(item_words, TRIGRAM)))
            self._by_tokens.setdefault(tuple(item_tokens), []).append(number)
            if decisive := tuple(numbers(item_tokens)):
                self._by_numbers.setdefault(decisive, []).append(number)
                self._digits.add(_digits(item_tokens))
            if len(item_words) >= settings.contamination_ngram:
                for ngram in set(ngrams(item_words, settings.contamination_ngram)):
                    self._by_ngram.setdefault(ngram, []).append(number)
                self._ngram_marks.update(_marks(item_words, settings.contamination_ngram))
            elif len(item_words) >= self._beginning:
                beginning = " ".join(item_words[: self._beginning])
                self._by_beginning.setdefault(beginning, []).append(number)
                self._beginning_marks.update(_marks(item_words[: self._beginning], self._beginning))

        self._drop_boilerplate()

    def _drop_boilerplate(self) -> None:
        """Forget n-grams of several different items, and count those that are left of each item."""
        for ngram, found in list(self._by_ngram.items()):
            if len(found) >= BOILERPLATE and len({tuple(self._words[item]) for item in found}) >= BOILERPLATE:
                del self._by_ngram[ngram]
        self._own_ngrams = Counter(item for found in self._by_ngram.values() for item in found)

    def search(self, problem: str | None) -> list[Match]:
        """The benchmark items found in a problem, best first: by rule, then by score, then in the items' order."""
        problem_tokens = tokens(problem)
        problem_words = words(problem_tokens)
        # The strongest rule comes last and replaces what weaker ones say of an item.
        scores = dict.fromkeys(self._short_items(problem_words), ("coverage", 1.0))
        scores |= {item: ("coverage", score) for item, score in self._covered(problem_words).items()}
        scores |= {item: ("reworded", score) for item, score in self._reworded(problem_tokens).items()}
        scores |= dict.fromkeys(self._by_tokens.get(tuple(problem_tokens), ()), ("exact", 1.0))
        matches = [self._match(item, *scores[item]) for item in sorted(scores)]
        return sorted(matches, key=lambda match: (RULES.index(match.rule), -match.score))

    def _short_items(self, problem: list[str]) -> list[int]:
        """Items shorter than an n-gram that stand whole in the problem."""
        if self._beginning_marks.isdisjoint(_marks(problem, self._beginning)):
            return []
        whole = f" {' '.join(problem)} "
        candidates = (item for gram in ngrams(problem, self._beginning) for item in self._by_beginning.get(gram, ()))
        return [item for item in candidates if f" {' '.join(self._words[item])} " in whole]

    def _covered(self, problem: list[str]) -> dict[int, float]:
        """Items of whose distinct n-grams the problem holds enough, each with that share."""
        n = self.settings.contamination_ngram
        if self._ngram_marks.isdisjoint(_marks(problem, n)):
            return {}
        held: dict[int, int] = {}
        for ngram in set(ngrams(problem, n)):
            for item in self._by_ngram.get(ngram, ()):
                held[item] = held.get(item, 0) + 1
        shares = {item: count / self._own_ngrams[item] for item, count in held.items()}
        return {item: share for item, share in shares.items() if share >= self.settings.contamination_coverage}

    def _reworded(self, problem: list[str]) -> dict[int, float]:
        """Items with the problem's numbers whose trigrams are similar enough, each with the similarity."""
        if _digits(problem) not in self._digits:  # as most: told without looking for brackets and words
            return {}
        candidates = self._by_numbers.get(tuple(numbers(problem)), ())
        trigrams = set(ngrams(words(problem), TRIGRAM)) if candidates else set()
        scores = {item: jaccard(trigrams, self._trigrams[item]) for item in candidates}
        return {item: score for item, score in scores.items() if score >= self.settings.contamination_similarity}

    def _match(self, item: int, rule: str, score: float) -> Match:
        row = self.items[item]
        return Match(row["source"], row["source_id"], rule, round(score, 4), row["answer"] or "")


def _digits(tokens: list[str]) -> tuple[str, ...]:
    """The numbers written in digits, which `numbers` holds among others."""
    return tuple([token for token in tokens if "0" <= token[0] <= "9"])


def _marks(words: list[str], n: int) -> Iterable[tuple[str, str, str]]:
    """Three words of each n-gram: most problems share none with any item, which is told without joining their n-grams."""
    return zip(words, words[n // 2 :], words[n - 1 :], strict=False)


def contaminated(matches: list[Match], answer: str | None) -> Drop:
    """The drop of a problem with this answer in which `BenchmarkIndex.search` found items."""
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
