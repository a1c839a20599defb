import pyarrow as pa
import pytest

from compass.ledger import LEDGER, Drop, check_counts, count_reasons, split
from compass.records import RecordError, table
from compass.settings.denoise import NoiseReason


def rows(count: int) -> pa.Table:
    return table([{"id": str(n), "source": "s", "problem": f"problem {n}", "answer": str(n)} for n in range(count)])


def test_split_keeps_drops_and_says_why() -> None:
    kept, dropped = split(rows(3), [None, Drop(NoiseReason.LINK, {"match": "http://x"}), None], "denoise")
    assert kept["id"].to_pylist() == ["0", "2"]
    assert dropped.schema.names == LEDGER.names
    assert dropped.to_pylist()[0]["reason"] == "link"
    assert dropped.to_pylist()[0]["evidence"] == '{"match": "http://x"}'
    assert dropped.to_pylist()[0]["stage"] == "denoise"
    assert dropped.to_pylist()[0]["id"] == "1"
    assert kept.schema == rows(1).schema


def test_evidence_is_json_that_people_can_read_and_that_does_not_depend_on_order() -> None:
    _, dropped = split(rows(1), [Drop(NoiseReason.LINK, {"b": "½", "a": 1})], "denoise")
    assert dropped["evidence"].to_pylist() == ['{"a": 1, "b": "½"}']


def test_a_stage_that_read_more_than_the_records_loses_rows() -> None:
    assert split(rows(3), [None] * 3, "denoise", read=3)[0].num_rows == 3
    with pytest.raises(RecordError, match="read 5 rows but kept 2 and dropped 1"):
        split(rows(3), [None, None, Drop(NoiseReason.LINK)], "denoise", read=5)
    with pytest.raises(RecordError, match="read 0 rows but kept 1"):
        split(rows(1), [None], "denoise", read=0)


def test_reasons_are_counted_the_most_frequent_first_and_equal_ones_by_name() -> None:
    counted = count_reasons(["link", "proof", "image", "proof"])
    assert list(counted.items()) == [("proof", 2), ("image", 1), ("link", 1)]


def test_a_lost_row_is_an_error() -> None:
    with pytest.raises(RecordError, match="2 decisions for 3 rows"):
        split(rows(3), [None, None], "denoise")
    with pytest.raises(RecordError, match="read 4 rows but kept 3 and dropped 0"):
        check_counts("denoise", read=4, kept=3, dropped=0)
