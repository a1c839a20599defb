from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import compass
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


def test_duplicates_that_are_kept_are_counted_and_the_card_says_so(tmp_path):
    source = tmp_path / "mine.jsonl"
    rows = [(TEXT.format(5), "8"), (TEXT.format(5).upper(), "8"), (TEXT.format(6), "9"), (TEXT.format(6), "10")]
    source.write_text("".join(json.dumps({"problem": text, "answer": answer}) + "\n" for text, answer in rows))
    params = tmp_path / "params.yaml"
    params.write_text("dedup: {keep_all: true}\n")

    curated = compass.curate(source, params=params, out=tmp_path / "out")

    assert sorted(zip(*curated.kept.select(["problem", "answer"]).to_pydict().values(), strict=True)) == sorted(rows)
    assert curated.kept["cluster_size"].null_count == 4, "no row stands for another"
    measured = json.loads((tmp_path / "out" / "summary.json").read_text())["stages"]["dedup"]["metrics"]
    assert measured["kept_duplicates"] == {"answer_conflict": 2, "exact_duplicate": 1}
    assert "Duplicates were found and kept, as the setting dedup" in (tmp_path / "out" / "card.md").read_text()


def test_a_missing_input_names_the_file(settings, tmp_path):
    with pytest.raises(RecordError, match=r"nothing\.parquet"):
        stages.dedup.run(settings, tmp_path / "nothing.parquet", tmp_path / "dedup")
    assert not (tmp_path / "dedup").exists()
