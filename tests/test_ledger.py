import pyarrow as pa
import pytest

from compass.ledger import LEDGER, Drop, Reason, check_counts, split
from compass.records import RecordError, table


def rows(count: int) -> pa.Table:
    return table([{"id": str(n), "source": "s", "problem": f"problem {n}", "answer": str(n)} for n in range(count)])


def test_split_keeps_drops_and_says_why() -> None:
    kept, dropped = split(rows(3), [None, Drop(Reason.LINK, {"match": "http://x"}), None], "denoise")
    assert kept["id"].to_pylist() == ["0", "2"]
    assert dropped.schema.names == LEDGER.names
    assert dropped.to_pylist()[0]["reason"] == "link"
    assert dropped.to_pylist()[0]["evidence"] == '{"match": "http://x"}'


def test_a_lost_row_is_an_error() -> None:
    with pytest.raises(RecordError, match="2 decisions for 3 rows"):
        split(rows(3), [None, None], "denoise")
    with pytest.raises(RecordError, match="read 4 rows but kept 3 and dropped 0"):
        check_counts("denoise", read=4, kept=rows(3), dropped=rows(0))
