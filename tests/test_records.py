import errno
from pathlib import Path

import pyarrow as pa
import pytest

from compass.records import (
    LEDGER,
    RECORD,
    Drop,
    Reason,
    RecordError,
    atomic_path,
    check_counts,
    read_records,
    record_id,
    split,
    table,
    write_records,
)


def rows(count: int) -> pa.Table:
    return table([{"id": str(n), "source": "s", "problem": f"problem {n}", "answer": str(n)} for n in range(count)])


def test_an_id_is_stable_and_differs_by_source() -> None:
    assert record_id("gsm8k", "1") == record_id("gsm8k", "1") != record_id("math", "1")
    assert record_id("a", "b1") != record_id("ab", "1")


def test_split_keeps_drops_and_says_why() -> None:
    kept, dropped = split(rows(3), [None, Drop(Reason.LINK, {"match": "http://x"}), None], "denoise")
    assert kept["id"].to_pylist() == ["0", "2"]
    assert dropped.schema.names == LEDGER.names
    assert dropped.to_pylist()[0]["reason"] == "link"
    assert dropped.to_pylist()[0]["evidence"] == '{"match": "http://x"}'


def test_a_lost_row_is_an_error() -> None:
    with pytest.raises(RecordError, match="2 verdicts for 3 rows"):
        split(rows(3), [None, None], "denoise")
    with pytest.raises(RecordError, match="read 4 rows but kept 3 and dropped 0"):
        check_counts("denoise", read=4, kept=rows(3), dropped=rows(0))


def test_an_unknown_column_is_an_error() -> None:
    with pytest.raises(RecordError, match="anwser"):
        table([{"id": "1", "anwser": "2"}])


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    write_records(tmp_path / "a.parquet", rows(1000))
    write_records(tmp_path / "b.parquet", pa.concat_tables([rows(1000).slice(0, 300), rows(1000).slice(300)]))
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert read_records(tmp_path / "a.parquet").select(RECORD.names).equals(rows(1000))


def test_a_missing_a_truncated_and_a_foreign_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"none\.parquet: no such file"):
        read_records(tmp_path / "none.parquet")
    write_records(tmp_path / "a.parquet", rows(10))
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:100])
    with pytest.raises(RecordError, match=r"cut\.parquet: not a whole parquet file"):
        read_records(tmp_path / "cut.parquet")
    pa.parquet.write_table(pa.table({"x": [1]}), tmp_path / "foreign.parquet")
    with pytest.raises(RecordError, match=r"foreign\.parquet: lacks the columns"):
        read_records(tmp_path / "foreign.parquet")


def write_half_and_run_out_of_space(path: Path) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(OSError, match="No space"):
        write_half_and_run_out_of_space(path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
