from __future__ import annotations

import pyarrow as pa
import pytest

from compass.curation.dedup import dedup
from compass.curation.denoise import denoise
from compass.records import RecordError
from compass.report.planted import measure
from compass.settings import load_settings


def _truth(*rows):
    return pa.Table.from_pylist(
        [dict(zip(("source", "source_id", "kind", "stage", "reason"), row, strict=True)) for row in rows]
    )


def test_recall_counts_the_right_stage_and_reason_only():
    truth = _truth(
        ("s", "0", "clean", "", ""),
        ("s", "1", "clean", "", ""),
        ("s", "2", "link", "denoise", "link"),
        ("s", "3", "link", "denoise", "link"),
        ("s", "4", "link", "denoise", "link"),
    )
    dropped = {
        "dedup": pa.Table.from_pylist([{"source": "s", "source_id": "1", "reason": "near_duplicate"}]),
        "denoise": pa.Table.from_pylist(
            [{"source": "s", "source_id": "2", "reason": "link"}, {"source": "s", "source_id": "3", "reason": "image"}]
        ),
    }
    found = measure(truth, dropped)
    assert found["kinds"]["link"] == {"planted": 3, "dropped": 2, "right": 1, "recall": 1 / 3}
    assert found["clean"] == {"rows": 2, "dropped": 1, "by_reason": {"near_duplicate": 1}, "lost": 0.5}


def test_a_truth_without_labels_is_an_error():
    with pytest.raises(RecordError, match="kind"):
        measure(pa.table({"source": ["s"]}), {})


def test_what_is_planted_in_the_tiny_profile_is_found(tmp_path):
    from pathlib import Path

    import stages.collect

    settings = load_settings(Path(__file__).parents[2] / "profiles" / "tiny.yaml")
    stages.collect.run(settings, tmp_path / "collect")
    import pyarrow.parquet as pq

    records = pq.read_table(tmp_path / "collect" / "kept.parquet")
    names = [source.name for source in settings.collect.sources]
    unique, duplicates = dedup(records, settings.dedup, names)
    _, noisy = denoise(unique, pq.read_table(tmp_path / "collect" / "benchmarks.parquet"), settings.denoise)
    found = measure(pq.read_table(tmp_path / "collect" / "truth.parquet"), {"dedup": duplicates, "denoise": noisy})
    for name, kind in found["kinds"].items():
        if name != "unreadable_gold":  # the verify stage's
            assert kind["recall"] >= (0.95 if name == "near_duplicate" else 1.0), name
    assert found["clean"]["lost"] <= 0.01
