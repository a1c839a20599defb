from __future__ import annotations

import gzip
import json

import pytest

from compass.curation.decontamination import BenchmarkIndex, Match, contaminated
from compass.ledger import Drop, Reason
from compass.records import table
from compass.settings import Denoise

LONG = (
    "Let $ABC$ be a triangle with $AB = 13$, $BC = 14$ and $CA = 15$. Let $M$ be the midpoint of $BC$. "
    "The length of $AM$ can be written as $\\sqrt{m}$. Find $m$."
)
SHORT = "What is the sum of the first 20 odd numbers?"
BOILERPLATE = (
    "where $m$ and $n$ are relatively prime positive integers. Find $m+n$ and give your answer as a three digit integer"
)
CIRCLE = f"A circle of radius 7 is tangent to two lines at an angle of 40 degrees in a box of 9 by 11, {BOILERPLATE}"
ITEMS = (
    (LONG, "148", "aime"),
    (SHORT, "400", "tiny"),
    (CIRCLE, "1", "aime"),
    ("Determine the number of ways to arrange the letters of the word ELLIPSE.", "1260", "tiny"),
)


@pytest.fixture
def index(records):
    return BenchmarkIndex(records(*ITEMS), Denoise())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LONG, ("aime", "0", "exact")),
        (LONG.replace("$", "").upper(), ("aime", "0", "exact")),
        (f"Task 7, worth 2 points. {LONG} Hint: use Stewart's theorem.", ("aime", "0", "coverage")),
        (SHORT, ("tiny", "1", "exact")),
        ("So what is the sum of the first 20 odd numbers?", ("tiny", "1", "reworded")),
        (f"Anna asks her class of 25 pupils on Monday: {SHORT} Only 12 of them know.", ("tiny", "1", "coverage")),
        ("What is the sum of the first 30 odd numbers?", None),
        (f"The ratio of two areas in a square of side 3 is $m/n$, {BOILERPLATE}.", None),
        ("Determine the number of ways to arrange the letters of the word BANANA.", None),
        ("", None),
        (None, None),
    ],
)
def test_rules(index, text, expected):
    found = [(match.benchmark, match.item, match.rule) for match in index.search(text)]
    assert found == ([expected] if expected else [])


def test_scores_are_coverage_and_similarity(index):
    whole = index.search(f"Task 7: {LONG}")[0]
    assert (whole.rule, whole.score) == ("coverage", 1.0)
    assert index.search(LONG)[0].score == 1.0
    text = "so what is the sum of the first 20 odd numbers"  # 9 trigrams, of which the item has 8
    assert index.search(text)[0].score == round(8 / 9, 4)


WORDS = [f"w{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


@pytest.mark.parametrize(("held", "expected"), [(18, []), (19, [("coverage", 0.5)]), (20, [("coverage", 0.5714)])])
def test_half_of_the_items_ngrams_are_contamination(records, held, expected):
    """An item of 26 words has 14 13-grams; 19 of its words hold 7 of them."""
    index = BenchmarkIndex(records((" ".join(WORDS), "1", "bench")), Denoise())
    found = [(match.rule, match.score) for match in index.search(" ".join([*WORDS[:held], "other", "words"]))]
    assert found == expected


def test_an_ngram_that_stands_twice_counts_once(records):
    index = BenchmarkIndex(records((" ".join(WORDS), "1", "bench")), Denoise())
    text = " ".join([*WORDS[:18], "then", *WORDS[:18]])
    assert index.search(text) == []


@pytest.mark.parametrize(("length", "found"), [(7, False), (8, True), (9, True), (12, True), (13, True)])
def test_items_of_eight_words_or_more_are_found_inside_a_text(records, length, found):
    item = " ".join(WORDS[-length:])
    index = BenchmarkIndex(records((item, "1", "bench")), Denoise())
    assert [match.rule for match in index.search(f"First comes this, {item}, and that 5")] == ["coverage"] * found
    assert index.search(f"First comes this, x{item}, and that 5") == []
    assert index.search(f"First comes this, {item}x, and that 5") == []


def test_shorter_ngrams_shorten_what_is_looked_for(records):
    index = BenchmarkIndex(records(("wa wb wc", "1", "bench")), Denoise(contamination_ngram=3))
    assert [match.rule for match in index.search("so wa wb wc it is")] == ["coverage"]


@pytest.mark.parametrize(("similarity", "rules"), [(8 / 9, ["reworded"]), (0.89, [])])
def test_the_similarity_at_which_a_rewording_counts(records, similarity, rules):
    index = BenchmarkIndex(records((SHORT, "400", "tiny")), Denoise(contamination_similarity=similarity))
    assert [match.rule for match in index.search(f"So {SHORT}") if match.rule == "reworded"] == rules


def test_the_strongest_rule_names_an_item_and_ties_follow_the_items(records):
    index = BenchmarkIndex(records((SHORT, "1", "b"), (f"{SHORT} Explain it.", "2", "c"), (SHORT, "3", "a")), Denoise())
    found = [(match.benchmark, match.rule) for match in index.search(SHORT)]
    assert found == [("b", "exact"), ("a", "exact"), ("c", "reworded")]
    assert [match.is_whole_item for match in index.search(f"{LONG} {SHORT}")] == [False, False]
    assert all(match.is_whole_item for match in index.search(SHORT))


def test_a_better_score_comes_first(records):
    index = BenchmarkIndex(records((" ".join(WORDS), "1", "part"), (" ".join(WORDS[:22]), "2", "whole")), Denoise())
    found = [(match.benchmark, match.score) for match in index.search(" ".join(["so", *WORDS[:22], "ends"]))]
    assert found == [("whole", 1.0), ("part", round(10 / 14, 4))]


def test_an_n_gram_of_three_items_is_boilerplate(records):
    reminder = "(Reminder: the number n! is the product of the integers from 1 to n, and 0! is 1.)"
    items = [
        f"{task} {reminder}" for task in ("Find the last digit of 9!.", "How many zeros end 30!?", "Divide 7! by 5!.")
    ]
    problem = f"Which primes divide 12!? {reminder}"
    for count, rules in ((2, ["coverage", "coverage"]), (3, [])):
        index = BenchmarkIndex(records(*((item, "1", "tiny") for item in items[:count])), Denoise())
        assert [match.rule for match in index.search(problem)] == rules
        assert index.search(items[0])[0].rule == "exact"


def test_no_benchmarks_find_nothing():
    assert BenchmarkIndex(table([]), Denoise()).search(LONG) == []


def test_evidence_names_items_rule_score_and_both_answers():
    part = Match("aime", "7", "coverage", 0.75, "148")
    assert contaminated([part], "7") == Drop(
        Reason.CONTAMINATED,
        {
            "benchmark": "aime",
            "item": "7",
            "rule": "coverage",
            "coverage": 0.75,
            "answer": "7",
            "item_answer": "148",
        },
    )
    reworded = Match("amc", "2", "reworded", 0.9, "")
    evidence = contaminated([reworded, part, Match("b", "3", "coverage", 0.5, "")], None).evidence
    assert evidence["similarity"] == 0.9
    assert "coverage" not in evidence
    assert evidence["other_items"] == ["aime:7", "b:3"]


def test_the_published_contamination_is_found_and_boilerplate_is_not(shared):
    items = []
    for name in ("aime2024", "amc", "math500", "minerva_math", "olympiad_bench"):
        for line in (shared / "benchmarks" / f"{name}.jsonl").read_text().splitlines():
            row = json.loads(line)
            items.append(
                {"source": name, "source_id": row["id"], "problem": row["problem"], "answer": str(row["answer"])}
            )
    index = BenchmarkIndex(table(items), Denoise())
    listed = [json.loads(line) for line in (shared / "benchmarks" / "contamination.jsonl").read_text().splitlines()]
    hits = {"exact": 0, "near": 0}
    for source in sorted({row["source"] for row in listed}):
        texts = _problems(shared / "raw" / f"{source}.jsonl.gz")
        rows = [row for row in listed if row["source"] == source]
        for row, matches in ((row, index.search(texts[row["row"]])) for row in rows):
            hits[row["kind"]] += any(
                (match.benchmark, match.item) == (row["bench"], row["bench_id"]) for match in matches
            )
    total = {kind: sum(row["kind"] == kind for row in listed) for kind in hits}
    assert hits["exact"] == total["exact"]
    assert hits["near"] >= 0.97 * total["near"]

    known = {row["row"] for row in listed if row["source"] == "aime_1983_2023_deepscaler"}
    texts = _problems(shared / "raw" / "aime_1983_2023_deepscaler.jsonl.gz")
    innocent = [text for number, text in enumerate(texts) if number not in known]
    assert sum(bool(index.search(text)) for text in innocent) <= 0.002 * len(innocent)


def _problems(path):
    texts = []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            text = row.get("problem") or row.get("question") or row["prompt"]
            texts.append(text if isinstance(text, str) else text[-1]["content"])
    return texts
