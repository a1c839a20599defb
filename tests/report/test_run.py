"""What is read of a run's folder, and of an evaluation's."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from compass.evaluation.labels import distinct_responses, write_label
from compass.report.run import read_run
from tests.report.conftest import sample_rows, write_evaluation


def test_labels_in_the_folder_of_an_evaluation_are_counted(tmp_path: Path) -> None:
    write_evaluation(tmp_path, sample_rows())
    assert read_run(tmp_path).verifier == {}
    responses = distinct_responses(pq.read_table(tmp_path / "samples.parquet"))
    write_label(tmp_path / "labels" / "labels.jsonl", responses[0], True, "person")
    assert read_run(tmp_path).verifier["labelled"] == 1
