"""One problem's history, line by line."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compass.ledger import REASONS, Drop, Reason, split
from compass.records import RecordError, with_column, write_records
from compass.report.history import explain_reason, history
from compass.report.outputs import open_outputs
from compass.settings.denoise import NoiseReason

Pipeline = tuple[Path, list[str]]


def told(pipeline: Pipeline, row: int) -> list[str]:
    folder, ids = pipeline
    return list(history(open_outputs(folder), ids[row]))


def test_the_story_of_a_problem_that_is_trained_on(pipeline: Pipeline) -> None:
    assert told(pipeline, 2) == [
        f"{pipeline[1][2]}  web:2  licence MIT  digest 5a389356fca6f636",
        "  problem   Tom has 2 books and buys 3 more of them. How many books does Tom have now?",
        "  answer    5",
        "  level     2 (the source's own)",
        "",
        "collect     kept",
        "dedup       kept",
        "denoise     kept",
        "grade       kept: solve rate 0.250 of 4 rollouts (95%: 0.046 to 0.699), level 4",
        "              1 of 4 rollouts right; they answered 0, 1, 2, 3",
        "verify      kept: answer type integer",
        "curriculum  kept: trains rl-1, rl-3",
        "rl-1        sampled in 2 iterations, trained on in 1: 4 responses, mean reward +0.500",
        "              iteration 2: rewards +1 -1  (12 tokens on average)",
        "              iteration 5: rewards +1 +1  (20 tokens on average; left out of the update)",
        "rl-3        sampled in 2 iterations, trained on in 1: 4 responses, mean reward +0.500",
        "              iteration 2: rewards +1 -1  (12 tokens on average)",
        "              iteration 5: rewards +1 +1  (20 tokens on average; left out of the update)",
    ]


def test_a_repaired_problem_is_told_with_its_damage_visible(pipeline: Pipeline) -> None:
    folder, ids = pipeline
    for path in folder.glob("*/*.parquet"):
        rows = pq.read_table(path)
        if {"original", "id"} <= set(rows.column_names):
            damaged = ["What is \x0crac{4}{2} + 3?" if id_ == ids[2] else None for id_ in rows["id"].to_pylist()]
            write_records(path, with_column(rows, "original", damaged))
    assert "  repaired; as published: What is ␌rac{4}{2} + 3?" in told(pipeline, 2)
    assert not any("as published" in line for line in told(pipeline, 1))


def test_the_story_of_a_dropped_problem_ends_there_with_the_evidence(pipeline: Pipeline) -> None:
    assert told(pipeline, 1)[-4:] == [
        "verify      kept: answer type integer",
        "curriculum  DROPPED: solve_rate, its solve rate is outside of the range",
        "              range            [0.5, 1.0]",
        "              solve_rate       0.25",
    ]
    assert told(pipeline, 5)[-2:] == [
        "verify      DROPPED: unreadable_gold, the verifier cannot read the gold",
        "              answer           10",
    ]
    assert told(pipeline, 6) == [
        f"{pipeline[1][6]}  book:6  licence CC0  digest 0f0532c104d8066b",
        "  problem   What is 6 plus 6?",
        "  answer    12",
        "",
        "collect     DROPPED: missing_answer, the fields that golds are read from hold none",
        '              fields           ["answer"]',
    ]


def test_the_story_of_a_duplicate_goes_on_with_its_twin(pipeline: Pipeline) -> None:
    lines = told(pipeline, 4)
    start = lines.index("Its twin:")
    assert lines[start - 8 : start] == [
        "dedup       DROPPED: near_duplicate, its words are nearly those of its twin, and its numbers are the same",
        "              similarity       0.9",
        f"              twin             {pipeline[1][3]}",
        "              this problem     ⟪Tom has⟫ 4 ⟪books and buys 3 more of them. How many books does Tom have now?⟫",
        "              gold             7",
        "              twin             web:3: ⟪Tom has⟫ 3 ⟪books and buys 3 more of them. How many books does Tom have now?⟫",
        "              twin gold        6",
        "",
    ]
    assert lines[start + 1] == f"  {pipeline[1][3]}  web:3  licence MIT  digest f252e7358d588139"
    assert "  dedup       kept: stands for 2 rows of the same problem" in lines
    assert lines[-1] == "  curriculum  kept: trains rl-1, rl-3"


def test_a_twins_own_twin_is_not_told(pipeline: Pipeline) -> None:
    folder, ids = pipeline
    path = folder / "verify" / "kept.parquet"
    rows = pq.read_table(path)
    drops = [
        Drop(Reason.ANSWER_CONFLICT, {"twin": ids[2]}) if id_ == ids[3] else None for id_ in rows["id"].to_pylist()
    ]
    kept, dropped = split(rows, drops, "verify")
    write_records(path, kept)
    write_records(path.with_name("dropped.parquet"), dropped)
    (folder / "curriculum" / "kept.parquet").unlink()
    lines = told(pipeline, 4)
    assert lines.count("Its twin:") == 1
    assert lines[-1] == f"                twin             {ids[2]}"


def test_the_file_of_a_source_is_named_where_it_is_known(pipeline: Pipeline) -> None:
    folder, _ = pipeline
    (folder.parent / "metrics").mkdir()
    metrics = {"metrics": {"sources": {"web": {"path": "raw/web\x1b.csv"}, "book": {}}}}
    (folder.parent / "metrics" / "collect.json").write_text(json.dumps(metrics))
    assert told(pipeline, 2)[1] == "  file      raw/web .csv"
    assert told(pipeline, 5)[1] == "  problem   What is 5 plus 5?"


@pytest.mark.parametrize(
    ("facts", "place"),
    [
        ({"path": "web.csv", "ids": "row numbers"}, "web.csv, row 3 (line 4 if each row is one line)"),
        ({"path": "web.jsonl.gz", "ids": "row numbers"}, "web.jsonl.gz, row 3 (line 3 if each row is one line)"),
        ({"path": "web.parquet", "ids": "row numbers"}, "web.parquet, row 3"),
        ({"path": "web.csv", "ids": "uid"}, "web.csv"),
    ],
)
def test_a_row_is_named_as_its_file_counts_it(pipeline: Pipeline, facts: dict[str, str], place: str) -> None:
    (pipeline[0].parent / "metrics").mkdir()
    (pipeline[0].parent / "metrics" / "collect.json").write_text(json.dumps({"metrics": {"sources": {"web": facts}}}))
    assert told(pipeline, 2)[1] == f"  file      {place}"


def test_an_unknown_id_is_an_error(pipeline: Pipeline) -> None:
    with pytest.raises(RecordError, match=r"no row has the id '0000' in .*data; give the problem's text to search"):
        list(history(open_outputs(pipeline[0]), "0000"))


@pytest.mark.parametrize("reason", NoiseReason)
def test_a_noise_filter_says_what_its_reason_means_within_a_sentence(reason: NoiseReason) -> None:
    said = explain_reason(reason)
    assert len(said.split()) > 2
    assert said[0].islower()
    assert not {"\n", "`"} & set(said)
    assert not said.endswith(".")


def test_every_reason_says_what_it_means() -> None:
    assert [reason for reason in REASONS if not explain_reason(reason)] == []
    assert explain_reason("own_filter") == ""
