from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pytest

from compass.curation.decontamination import Benchmarks
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


@pytest.fixture
def benchmarks(records):
    return Benchmarks(
        records(
            (LONG, "148", "aime"),
            (SHORT, "400", "tiny"),
            (
                f"A circle of radius 7 is tangent to two lines at an angle of 40 degrees in a box of 9 by 11, {BOILERPLATE}",
                "1",
                "aime",
            ),
            ("Determine the number of ways to arrange the letters of the word ELLIPSE.", "1260", "tiny"),
        ),
        Denoise(),
    )


def found(benchmarks, text):
    matches = benchmarks.find(pa.array([text]))[0]
    return (matches[0].benchmark, matches[0].item, matches[0].rule) if matches else None


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
    ],
)
def test_rules(benchmarks, text, expected):
    assert found(benchmarks, text) == expected


def test_evidence_names_item_rule_and_both_answers(benchmarks, records):
    drop, none = benchmarks.check(records((f"{LONG} Good luck.", "7", "web"), ("What is 2+2?", "4", "web")))
    assert none is None
    assert drop.reason == "contaminated"
    assert drop.evidence["benchmark"] == "aime"
    assert drop.evidence["item"] == "0"
    assert drop.evidence["rule"] in ("coverage", "reworded")
    assert (drop.evidence["answer"], drop.evidence["item_answer"]) == ("7", "148")


def test_no_benchmarks_flag_nothing():
    nothing = Benchmarks(table([]), Denoise())
    assert nothing.find(pa.array([LONG])) == [[]]


def test_the_published_contamination_is_found_and_boilerplate_is_not(shared):
    items = []
    for name in ("aime2024", "amc", "math500", "minerva_math", "olympiad_bench"):
        for line in (shared / "benchmarks" / f"{name}.jsonl").read_text().splitlines():
            row = json.loads(line)
            items.append(
                {"source": name, "source_id": row["id"], "problem": row["problem"], "answer": str(row["answer"])}
            )
    benchmarks = Benchmarks(table(items), Denoise())
    listed = [json.loads(line) for line in (shared / "benchmarks" / "contamination.jsonl").read_text().splitlines()]
    hits = {"exact": 0, "near": 0}
    for source in sorted({row["source"] for row in listed}):
        texts = _problems(shared / "raw" / f"{source}.jsonl.gz")
        rows = [row for row in listed if row["source"] == source]
        for row, matches in zip(rows, benchmarks.find(pa.array([texts[row["row"]] for row in rows])), strict=True):
            hits[row["kind"]] += any(
                (match.benchmark, match.item) == (row["bench"], row["bench_id"]) for match in matches
            )
    total = {kind: sum(row["kind"] == kind for row in listed) for kind in hits}
    assert hits["exact"] == total["exact"]
    assert hits["near"] >= 0.97 * total["near"]

    known = {row["row"] for row in listed if row["source"] == "aime_1983_2023_deepscaler"}
    texts = _problems(shared / "raw" / "aime_1983_2023_deepscaler.jsonl.gz")
    innocent = pa.array([text for number, text in enumerate(texts) if number not in known])
    assert sum(bool(matches) for matches in benchmarks.find(innocent)) <= 0.002 * len(innocent)


def _problems(path):
    texts = []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            text = row.get("problem") or row.get("question") or row["prompt"]
            texts.append(text if isinstance(text, str) else text[-1]["content"])
    return texts
