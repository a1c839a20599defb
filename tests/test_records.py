from pathlib import Path

import pyarrow as pa
import pytest

from compass.records import RECORD, RecordError, read_records, record_id, table, with_column, write_records


def rows(count: int) -> pa.Table:
    return table([{"id": str(n), "source": "s", "problem": f"problem {n}", "answer": str(n)} for n in range(count)])


def test_an_id_is_stable_and_differs_by_source() -> None:
    assert record_id("gsm8k", "1") == record_id("gsm8k", "1") != record_id("math", "1")
    assert record_id("a", "b1") != record_id("ab", "1")
    assert record_id("gsm8k", "1") == "08d7feee689c34e8"  # ids stand in published files: they never change


def test_an_unknown_column_is_an_error() -> None:
    with pytest.raises(RecordError, match=r"record '1': unknown columns \['anwser'\]; known: \['id', 'source'"):
        table([{"id": "1", "anwser": "2"}])
    assert table([{"id": "1"}]).to_pylist()[0]["answer"] is None
    assert table([]).schema.equals(RECORD)


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
    with pytest.raises(RecordError, match=r"foreign\.parquet: lacks the columns \['id', 'source'"):
        read_records(tmp_path / "foreign.parquet")


def test_a_replaced_column_keeps_its_place_and_type() -> None:
    filled = with_column(rows(2), "level", [3, None])
    assert filled.schema.equals(RECORD)
    assert filled.column("level").to_pylist() == [3, None]
    assert filled.drop_columns("level").equals(rows(2).drop_columns("level"))
    assert with_column(rows(2), "level", pa.array([3, 4], pa.int64())).schema.equals(RECORD)
    assert with_column(rows(2), "level", pa.chunked_array([[3], [4]])).column("level").to_pylist() == [3, 4]
