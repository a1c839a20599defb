from __future__ import annotations

import json

from compass.curation.dedup import dedup
from compass.settings import Dedup

BOOKS = "Tom has 8 books. Then Tom buys 3 more of them in the shop. How many books does Tom have now?"
SOURCES = ["best", "good", "other"]


def outcome(table, settings=None):
    """Each row's fate by source_id: `kept`, or reason and evidence."""
    kept, dropped = dedup(table, settings or Dedup(), SOURCES)
    fate = dict.fromkeys(kept.column("source_id").to_pylist(), "kept")
    for row in dropped.to_pylist():
        fate[row["source_id"]] = (row["reason"], json.loads(row["evidence"]))
    return fate, kept.to_pylist(), dropped.to_pylist()


def test_the_preferred_sources_row_survives(records):
    fate, kept, dropped = outcome(records((BOOKS, "11", "other"), (BOOKS.upper(), "11", "best"), (BOOKS, "11", "good")))
    assert fate["1"] == "kept"
    assert fate["0"][0] == fate["2"][0] == "exact_duplicate"
    assert fate["0"][1]["twin"] == kept[0]["id"]
    assert fate["0"][1]["similarity"] == 1.0
    assert {row["cluster"] for row in dropped} == {kept[0]["id"]} == {kept[0]["cluster"]}
    assert kept[0]["cluster_size"] == 3


def test_a_near_duplicate_names_twin_and_similarity(records):
    fate, _, _ = outcome(records((BOOKS, "11", "best"), (f"{BOOKS} Explain.", "11", "other")))
    reason, evidence = fate["1"]
    assert reason == "near_duplicate"
    assert 0.8 <= evidence["similarity"] < 1
    assert evidence["answer"] == evidence["twin_answer"] == "11"


def test_pieces_and_batches_change_nothing(records, monkeypatch):
    texts = [f"{BOOKS.replace('8', str(8 + n // 4))}{' Explain.' * (n % 2)}" for n in range(40)]
    table = records(*[(text, str(11 + n // 4 + (n == 7)), SOURCES[n % 3]) for n, text in enumerate(texts)])
    whole = dedup(table, Dedup(), SOURCES)
    monkeypatch.setattr("compass.curation.dedup.CHUNK", 3)
    monkeypatch.setattr("compass.curation.dedup.BATCH", 2)
    parts = dedup(table, Dedup(), SOURCES)
    assert 0 < whole[0].num_rows < 40
    assert all(one.combine_chunks().equals(other.combine_chunks()) for one, other in zip(whole, parts, strict=True))


def test_counts_add_up_and_order_is_kept(records):
    table = records(*[(f"Problem about number {number // 2}", str(number // 2), "best") for number in range(100)])
    kept, dropped = dedup(table, Dedup(), SOURCES)
    assert kept.num_rows == dropped.num_rows == 50
    numbers = [int(number) for number in kept.column("source_id").to_pylist()]
    assert numbers == sorted(numbers)
