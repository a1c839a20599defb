"""The golds of records, with what else their sources accept."""

import numpy as np
import pyarrow as pa
import pytest

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


def test_columns_of_other_types_are_read_or_named() -> None:
    assert gold_of("1/3", "2/3") == gold_of("1/3", np.array(["2/3"])) == Gold("1/3", ("2/3",))
    assert gold_of(5, "", 0.01) == gold_of(np.int64(5), None, np.float64(0.01)) == Gold("5", (), "0.01")
    with pytest.raises(TypeError, match="tolerance"):
        gold_of("5", None, ["1%"])  # type: ignore[arg-type]
