"""What is read of a run's folder, and of an evaluation's."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import yaml

from compass.evaluation.labels import distinct_responses, write_label
from compass.report.headline import conclude
from compass.report.run import read_run
from tests.report.conftest import sample_rows, write_evaluation


def test_labels_in_the_folder_of_an_evaluation_are_counted(tmp_path: Path) -> None:
    write_evaluation(tmp_path, sample_rows())
    assert read_run(tmp_path).verifier == {}
    responses = distinct_responses(pq.read_table(tmp_path / "samples.parquet"))
    write_label(tmp_path / "labels" / "labels.jsonl", responses[0], True, "person")
    assert read_run(tmp_path).verifier["labelled"] == 1


def test_the_comparison_that_the_parameters_declare_decides(finished_run: Path) -> None:
    assert read_run(finished_run).comparisons["primary"] == ["rl-2", "base"]
    path = finished_run / "params.yaml"
    parameters = yaml.safe_load(path.read_text()) if path.exists() else {}
    path.write_text(yaml.safe_dump(parameters | {"report": {"primary": ["rl-2", "rl-1"]}}))
    run = read_run(finished_run)
    declared = run.pair("rl-2", "rl-1")
    assert declared is not None
    assert declared["average"]["p_corrected"] <= 1.25 * declared["average"]["p"]
    assert any(line.startswith("The comparison that decides, rl-2 against rl-1: ") for line in conclude(run).more)
