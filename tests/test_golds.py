"""The golds of records, with what else their sources accept."""

import pyarrow as pa

from compass.golds import gold_of, golds
from compass.records import table
from compass.verifier import Gold


def test_a_gold_without_extras_is_its_text() -> None:
    assert gold_of("5") == gold_of("5", [], "") == gold_of("5", None, None) == "5"
    assert gold_of(None) == ""


def test_alternatives_and_tolerance_come_with_the_gold() -> None:
    rows = [
        {"id": "a", "answer": "5"},
        {"id": "b", "answer": "1", "alternatives": ["2", "3"]},
        {"id": "c", "answer": "2.5", "tolerance": "1%"},
    ]
    expected = {"a": "5", "b": Gold("1", ("2", "3")), "c": Gold("2.5", (), "1%")}
    assert golds(table(rows)) == expected
    assert table(rows).schema.field("alternatives").type == pa.list_(pa.string())
