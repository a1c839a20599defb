from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import stages.dedup
import stages.denoise
from compass.ledger import LEDGER
from compass.records import RECORD, RecordError, record_id, table, write_records
from compass.settings import load_settings

TEXT = "Tom has {} books and buys 3 more of them. How many books does Tom have now?"


@pytest.fixture(scope="module")
def settings():
    return load_settings(Path(__file__).parents[2] / "profiles" / "tiny.yaml")


def _records(*rows):
    return table(
        [
            {"id": record_id(source, str(n)), "source": source, "source_id": str(n), "problem": text, "answer": answer}
            for n, (source, text, answer) in enumerate(rows)
        ]
    )


def test_the_stages_write_what_they_keep_and_drop(settings, tmp_path):
    rows = [("tiny-gsm", TEXT.format(5), "8"), ("tiny-chat", TEXT.format(5), "8"), ("tiny-chat", TEXT.format(6), "9")]
    write_records(tmp_path / "collected.parquet", _records(*rows))
    write_records(tmp_path / "benchmarks.parquet", _records(("level-1", TEXT.format(6), "9")))

    summary = stages.dedup.run(settings, tmp_path / "collected.parquet", tmp_path / "dedup")
    assert (summary.counts.read, summary.counts.kept, summary.counts.dropped) == (3, 2, {"exact_duplicate": 1})
    assert summary.metrics == {"clusters": 1}  # of the two rows kept one stands for another
    kept = pq.read_table(tmp_path / "dedup" / "kept.parquet")
    assert kept.schema.equals(RECORD)
    assert kept["source"].to_pylist() == ["tiny-chat", "tiny-chat"]  # the earlier source in `collect.sources`

    summary = stages.denoise.run(
        settings, tmp_path / "dedup" / "kept.parquet", tmp_path / "benchmarks.parquet", tmp_path / "denoise"
    )
    assert (summary.counts.read, summary.counts.kept, summary.counts.dropped) == (2, 1, {"contaminated": 1})
    assert summary.metrics == {"benchmark_items": 1}
    assert pq.read_table(tmp_path / "denoise" / "dropped.parquet").schema.equals(LEDGER)


def test_a_missing_input_names_the_file(settings, tmp_path):
    with pytest.raises(RecordError, match=r"nothing\.parquet"):
        stages.dedup.run(settings, tmp_path / "nothing.parquet", tmp_path / "dedup")
    assert not (tmp_path / "dedup").exists()
