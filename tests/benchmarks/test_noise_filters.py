"""The filters hold on the labelled real rows: precision and recall of 0.95 for each reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from noise_filters import Counts, Label, count_agreement, read_labels

from compass.settings import Denoise, load_settings
from compass.sources.collect import collect

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
LABELS = ROOT / "tests/data/noise_labels.csv"


@pytest.mark.skipif(not SHARED.exists(), reason=f"real data is not beside the repository ({SHARED})")
def test_precision_and_recall_on_the_labelled_rows(monkeypatch):
    monkeypatch.setenv("COMPASS_DATA", str(SHARED))
    settings = load_settings(ROOT / "profiles/small.yaml")
    labels = read_labels(LABELS)
    wanted = {label.id for label in labels}
    as_published = settings.collect.model_copy(update={"repair": False})
    collected = collect(settings.collect.sources, as_published).kept.to_pylist()
    rows = {row["id"]: row for row in collected if row["id"] in wanted}
    counts, missing = count_agreement(rows, labels, settings.denoise)
    assert not missing
    for reason, count in counts.items():
        if count.hits + count.misses + count.false_hits:
            assert count.precision >= 0.95, (reason, count)
            assert count.recall >= 0.95, (reason, count)


def test_counts_are_of_the_filter_against_the_label():
    rows = {
        "a": {"problem": "See https://example.org for the sum 3+4, please.", "answer": "7"},
        "b": {"problem": "What is the sum of 3 and 4 in base ten?", "answer": "7"},
    }
    labels = [
        Label("a", frozenset({"link"}), frozenset(), "1"),
        Label("b", frozenset({"link"}), frozenset({"image"}), "1"),
        Label("c", frozenset(), frozenset(), "1"),
    ]
    counts, missing = count_agreement(rows, labels, Denoise())
    assert counts["link"] == Counts(hits=1, false_hits=0, misses=1)
    assert (counts["link"].precision, counts["link"].recall) == (1.0, 0.5)
    assert counts["image"].precision is None
    assert missing == ["c"]


def test_labels_name_known_reasons_only(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("source,source_id,id,reasons,sample\ns,1,x,ugly,1\n")
    with pytest.raises(ValueError, match="row x: no reason 'ugly'"):
        read_labels(path)
