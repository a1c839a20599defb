"""Rows are found by stage, id and text in what a pipeline or `compass curate` wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.files import file_digest
from compass.ledger import LEDGER, Counts
from compass.records import RecordError
from compass.report.find import find_alike
from compass.report.outputs import (
    check_finished,
    choose,
    count_by_reason,
    find_outputs,
    open_outputs,
    read_table,
)

Pipeline = tuple[Path, list[str]]


def test_every_stage_that_ran_has_its_files_in_the_order_of_the_stages(pipeline: Pipeline) -> None:
    outputs = open_outputs(pipeline[0])
    assert list(outputs.kept) == ["collect", "dedup", "denoise", "grade", "verify", "curriculum"]
    assert list(outputs.dropped) == list(outputs.kept)
    assert outputs.last == pipeline[0] / "curriculum" / "kept.parquet"


def test_a_row_is_found_in_every_stage_that_had_it(pipeline: Pipeline) -> None:
    folder, ids = pipeline
    fates = open_outputs(folder).find(ids[5])
    assert {stage: fate for stage, (fate, _) in fates.items()} == {
        "collect": "kept",
        "dedup": "kept",
        "denoise": "kept",
        "grade": "kept",
        "verify": "dropped",
    }
    assert fates["verify"][1]["reason"] == "unreadable_gold"
    assert fates["collect"][1]["problem"] == "What is 5 plus 5?"
    assert open_outputs(folder).find("0" * 16) == {}


def test_rows_are_counted_by_stage_and_reason(pipeline: Pipeline) -> None:
    assert open_outputs(pipeline[0]).counts() == [
        Counts("collect", 6, {"missing_answer": 1}),
        Counts("dedup", 5, {"near_duplicate": 1}),
        Counts("denoise", 4, {"link": 1}),
        Counts("grade", 4, {}),
        Counts("verify", 3, {"unreadable_gold": 1}),
        Counts("curriculum", 2, {"solve_rate": 1}),
    ]
    (pipeline[0] / "denoise" / "dropped.parquet").unlink()
    assert find_outputs(pipeline[0]).counts()[2] == Counts("denoise", 4, {})


def test_the_ledger_holds_the_dropped_rows_of_all_stages_and_what_was_collected_all_rows(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    folder, ids = pipeline
    ledger = open_outputs(folder).ledger()
    assert ledger.schema.equals(LEDGER)
    assert ledger["id"].to_pylist() == [ids[6], ids[4], ids[0], ids[5], ids[1]]
    assert open_outputs(folder).collected(["id", "source"])["id"].to_pylist() == ids
    assert find_outputs(tmp_path / "none").ledger().equals(LEDGER.empty_table())


def test_files_are_published_under_names_of_their_stages(pipeline: Pipeline) -> None:
    folder, _ = pipeline
    files = open_outputs(folder).files()
    assert list(files) == ["kept.parquet", *(f"dropped-{name}.parquet" for name in open_outputs(folder).dropped)]
    assert files["kept.parquet"] == folder / "curriculum" / "kept.parquet"
    assert files["dropped-dedup.parquet"] == folder / "dedup" / "dropped.parquet"


def test_a_folder_without_collected_rows_is_refused(tmp_path: Path, pipeline: Pipeline) -> None:
    with pytest.raises(RecordError, match=r"none: holds no collected rows \(collect/kept\.parquet\)"):
        open_outputs(tmp_path / "none")
    (pipeline[0] / "collect" / "kept.parquet").unlink()
    with pytest.raises(RecordError, match="holds no collected rows"):
        open_outputs(pipeline[0])


def test_a_folder_of_curate_counts_when_it_is_finished_and_unchanged(pipeline: Pipeline) -> None:
    folder, _ = pipeline
    (folder / "curate.json").write_text("{}")
    with pytest.raises(RecordError, match=r"summary\.json: no such file; the run of `compass curate` did not end"):
        open_outputs(folder)
    name = "verify/kept.parquet"
    summary = {"files": {name: file_digest(folder / name)}}
    (folder / "summary.json").write_text(json.dumps(summary))
    assert open_outputs(folder).last.exists()
    assert check_finished(folder) == summary
    (folder / name).write_bytes(b"other")
    with pytest.raises(RecordError, match=r"verify/kept\.parquet: not the file that .*summary\.json describes"):
        open_outputs(folder)
    (folder / name).unlink()
    with pytest.raises(RecordError, match=r"verify/kept\.parquet: not the file"):
        open_outputs(folder)


def test_origins_come_from_curate_or_from_the_collect_stage(pipeline: Pipeline) -> None:
    folder, _ = pipeline
    assert open_outputs(folder).origins() == {}
    (folder.parent / "metrics").mkdir()
    facts = {"web": {"path": "web.csv"}, "hub": {"hub": "owner/name"}, "unknown": {}}
    (folder.parent / "metrics" / "collect.json").write_text(json.dumps({"metrics": {"sources": facts}}))
    assert open_outputs(folder).origins() == {"web": "web.csv", "hub": "owner/name", "unknown": ""}
    stages = {"collect": {"metrics": {"sources": {"web": {"path": "curated.csv"}}}}}
    (folder / "summary.json").write_text(json.dumps({"stages": stages, "files": {}}))
    assert open_outputs(folder).origins() == {"web": "curated.csv"}


PROBLEMS = pa.table(
    {
        "id": ["a", "b", "c", "d"],
        "source": ["web", "web", "book", "book"],
        "problem": [
            "Tom has two red books and one cat",
            "Tom has two red books and one dog",
            "Tom has two red books and one dog",
            "An unrelated sentence about the area of circles",
        ],
    }
)


def test_the_most_similar_problems_come_first_from_the_least_similarity_on() -> None:
    found = find_alike(PROBLEMS, "tom HAS two red books and one dog!")
    # of 6 + 6 word trigrams of the last, five are shared
    assert [(row["id"], alike) for alike, row in found] == [("c", 1.0), ("b", 1.0), ("a", pytest.approx(5 / 7))]
    assert find_alike(PROBLEMS, "nothing of the kind was ever collected") == []
    short = pa.table({"id": ["a"], "source": ["web"], "problem": ["2 + 2"]})  # too short for trigrams
    assert [alike for alike, _ in find_alike(short, "2 + 2")] == [1.0]


def test_drops_are_counted_by_stage_reason_and_source() -> None:
    rows = [("verify", "unreadable_gold", "web"), ("dedup", "near_duplicate", "web"), ("select", "not_selected", "web")]
    rows += [("dedup", "exact_duplicate", "web")] * 2 + [("dedup", "near_duplicate", "book"), ("later", "x", "web")]
    ledger = pa.Table.from_pylist([
        {"id": str(n), "stage": stage, "reason": reason, "source": source} for n, (stage, reason, source) in enumerate(rows)
    ])  # fmt: skip
    assert [(row["stage"], row["reason"], row["source"], row["rows"]) for row in count_by_reason(ledger)] == [
        ("dedup", "exact_duplicate", "web", 2),
        ("dedup", "near_duplicate", "book", 1),
        ("dedup", "near_duplicate", "web", 1),
        ("verify", "unreadable_gold", "web", 1),
        ("select", "not_selected", "web", 1),
        ("later", "x", "web", 1),
    ]


def test_rows_are_chosen_by_every_wanted_value(pipeline: Pipeline) -> None:
    folder, ids = pipeline
    ledger = open_outputs(folder).ledger()
    assert choose(ledger, source="book")["id"].to_pylist() == [ids[6], ids[5]]
    assert choose(ledger, source="book", stage="verify", reason=None)["id"].to_pylist() == [ids[5]]
    assert choose(ledger, reason=None).num_rows == 5


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "kept.parquet").write_bytes(b"PAR1 cut")
    with pytest.raises(RecordError, match=r"kept\.parquet: unreadable .*; run its stage again"):
        read_table(tmp_path / "kept.parquet")


def test_a_ledger_that_an_earlier_version_wrote_is_read(pipeline: tuple[Path, list[str]]) -> None:
    folder, _ = pipeline
    path = folder / "dedup" / "dropped.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["findings", "level"]), path)
    ledger = open_outputs(folder).ledger()
    assert ledger.schema.equals(LEDGER)
    assert ledger.num_rows == 5
    assert ledger["level"].to_pylist()[1] is None
