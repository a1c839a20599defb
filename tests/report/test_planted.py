from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stages.collect
from compass.curation.dedup import dedup
from compass.curation.denoise import denoise
from compass.records import RecordError
from compass.report.planted import measure, measure_folder
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


def test_a_folder_is_measured_up_to_the_choice_of_problems(pipeline):
    folder, _ = pipeline
    assert measure_folder(folder) is None
    rows = [("web", "0", "link", "denoise", "link"), ("book", "5", "unreadable_gold", "verify", "unreadable_gold")]
    rows += [("web", "1", "clean", "", ""), ("web", "2", "clean", "", "")]  # curriculum drops the first of these
    pq.write_table(_truth(*rows), folder / "collect" / "truth.parquet")
    planted = measure_folder(folder)
    assert {kind: facts["right"] for kind, facts in planted["kinds"].items()} == {"link": 1, "unreadable_gold": 1}
    assert planted["clean"] == {"rows": 2, "dropped": 0, "by_reason": {}, "lost": 0.0}


def test_what_is_planted_in_the_tiny_profile_is_found(tmp_path):
    settings = load_settings(Path(__file__).parents[2] / "profiles" / "tiny.yaml")
    stages.collect.run(settings, tmp_path / "collect")
    records = pq.read_table(tmp_path / "collect" / "kept.parquet")
    names = [source.name for source in settings.collect.sources]
    unique, duplicates = dedup(records, settings.dedup, names)
    _, noisy = denoise(unique, pq.read_table(tmp_path / "collect" / "benchmarks.parquet"), settings.denoise)
    found = measure(pq.read_table(tmp_path / "collect" / "truth.parquet"), {"dedup": duplicates, "denoise": noisy})
    for name, kind in found["kinds"].items():
        if name != "unreadable_gold":  # the verify stage's
            assert kind["recall"] >= (0.95 if name == "near_duplicate" else 1.0), name
    assert found["clean"]["lost"] <= 0.01
