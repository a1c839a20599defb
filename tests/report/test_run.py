"""What is read of a run's folder, and of an evaluation's."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from compass.evaluation.label_files import write_label
from compass.evaluation.labels import distinct_responses
from compass.files import file_digest, write_json
from compass.records import RecordError
from compass.report.headline import conclude
from compass.report.results import Results
from compass.report.run import Run, read_run
from compass.report.run_sections import cost_section, ran_section
from tests.report.conftest import sample_rows, write_evaluation


def test_labels_in_the_folder_of_an_evaluation_are_counted(tmp_path: Path) -> None:
    write_evaluation(tmp_path, sample_rows())
    assert read_run(tmp_path).verifier == {}
    responses = distinct_responses(pq.read_table(tmp_path / "samples.parquet"))
    write_label(tmp_path / "labels" / "labels.jsonl", responses[0].key, True, "person")
    assert read_run(tmp_path).verifier["labelled"] == 1


def test_responses_without_a_column_that_pages_need_are_named(finished_run: Path) -> None:
    path = finished_run / "data" / "evaluate" / "samples.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["response", "setup"]), path)
    with pytest.raises(RecordError, match=r"samples\.parquet: lacks the columns response, setup; evaluate again"):
        read_run(finished_run)


def test_the_comparison_that_the_parameters_declare_decides(finished_run: Path) -> None:
    assert read_run(finished_run).comparisons["primary"] == ["rl-2", "base"]
    path = finished_run / "params.yaml"
    parameters = yaml.safe_load(path.read_text()) if path.exists() else {}
    path.write_text(yaml.safe_dump(parameters | {"report": {"primary": ["rl-2", "rl-1"]}}))
    run = read_run(finished_run)
    declared = run.pair("rl-2", "rl-1")
    assert declared is not None
    assert declared["average"]["p_corrected"] <= 1.25 * declared["average"]["p"]
    assert conclude(run).headline.startswith("rl-2 has an accuracy of ")
    assert "On the same problems rl-2 against rl-1" in conclude(run).headline


def test_commit_and_time_are_those_that_the_runs_own_stages_recorded(finished_run: Path) -> None:
    def record(stage: str, hour: int, commit: str, dirty: str = "false") -> None:
        facts = {"stage": stage, "started": f"2026-01-01T0{hour}", "seconds": 60, "machine": {"cores": 1}}
        write_json(finished_run / "work" / "times" / f"{stage}.json", {**facts, "commit": commit, "dirty": dirty})

    assert read_run(finished_run).commit == {}, "nothing recorded one"
    record("evaluate", 3, "aaa")
    record("rl-1", 1, "aaa")
    record("another-profiles", 2, "ccc", "true")
    write_json(finished_run / "metrics" / "report.json", {})
    record("report", 4, "ddd", "true")  # of an earlier report, which decides no score
    run = read_run(finished_run)
    assert run.commit == {"commit": "aaa", "dirty": "false"}
    assert "Together 3 min 00 s" in cost_section(run).parts[0].text
    record("rl-1", 1, "bbb", "true")
    run = read_run(finished_run)
    assert run.commit == {"commit": "bbb (rl-1); aaa (evaluate)", "dirty": "true"}
    assert ("commit", "bbb (rl-1); aaa (evaluate) with uncommitted changes") in ran_section(run).parts[0].rows


def test_what_a_stage_took_for_another_result_is_not_told_of_this_one(finished_run: Path) -> None:
    path = finished_run / "work" / "times" / "rl-1.json"
    facts = {"stage": "rl-1", "seconds": 60, "machine": {"cores": 1}}
    write_json(path, facts | {"result": file_digest(finished_run / "metrics" / "rl-1.json")})
    assert read_run(finished_run).times["rl-1"]["seconds"] == 60
    write_json(path, facts | {"result": "0" * 64})  # a later run, before this result came back from the cache
    assert "rl-1" not in read_run(finished_run).times
    write_json(finished_run / "work" / "times" / "evaluate.json", facts | {"result": "0" * 64})
    (finished_run / "metrics" / "evaluate.json").unlink()  # as DVC does before it evaluates again
    assert "evaluate" not in read_run(finished_run).times


def test_a_figure_that_is_spoken_of_and_missing_is_marked() -> None:
    texts = [
        "The diagram below shows a rectangle with side lengths 4 and 8. What is the area of the shaded part?",
        "In the diagram below, what is the area? [asy] draw((0,0)--(4,0)--(4,8)--cycle); [/asy]",
        "Anna draws a figure with four sides of length 3. What is its perimeter?",
    ]
    rows = [{"id": f"x{n}", "problem": text, "answer": "1"} for n, text in enumerate(texts)]
    run = Run(Path("x"), Results(), problems=pa.Table.from_pylist(rows))
    assert list(run.missing_figures) == ["x0"]
    assert run.missing_figures["x0"].startswith("The diagram below")
