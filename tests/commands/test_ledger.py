"""`compass ledger`: counts, samples and files of the dropped rows."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.evaluation.label_files import row_key
from compass.ledger import Drop, Reason, split
from compass.records import with_column, write_records
from compass.settings.denoise import NoiseReason

Pipeline = tuple[Path, list[str]]


def ledger(folder: Path, *words: str) -> int:
    return main(["ledger", "--data", str(folder), *words])


def test_rows_are_counted_by_stage_and_reason(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    assert ledger(pipeline[0]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["stage", "reason", "rows", "sources"],
        ["collect", "missing_answer", "1", "book", "1"],
        ["dedup", "near_duplicate", "1", "web", "1"],
        ["denoise", "link", "1", "web", "1"],
        ["verify", "unreadable_gold", "1", "book", "1"],
        ["curriculum", "solve_rate", "1", "web", "1"],
        ["5", "dropped"],
    ]
    assert ledger(pipeline[0], "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == {"rows": 1, "stage": "collect", "reason": "missing_answer", "source": "book"}
    assert len(rows) == 5
    assert ledger(pipeline[0], "--reason", "figure") == 0  # which dropped nothing here
    assert capsys.readouterr().out.splitlines()[-1].split() == ["0", "dropped"]


def test_the_most_frequent_reason_of_a_stage_comes_first_with_four_sources(
    tmp_path: Path, records, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = records(*[("x", "", source) for source in "aabbcddef"], *[("y", "1", source) for source in "ggghij"])
    empty, missing = Drop(Reason.EMPTY_PROBLEM), Drop(Reason.MISSING_ANSWER)
    kept, dropped = split(rows, [missing] * 9 + [empty] * 6, "collect")
    write_records(tmp_path / "collect" / "kept.parquet", kept)
    write_records(tmp_path / "collect" / "dropped.parquet", dropped)
    write_records(tmp_path / "dedup" / "kept.parquet", kept)
    later = split(records(*[("z", "1", "h")] * 1200), [Drop(NoiseReason.LINK)] * 1200, "denoise")[1]
    write_records(tmp_path / "denoise" / "dropped.parquet", later)
    assert ledger(tmp_path) == 0
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()[1:]] == [
        "collect missing_answer 9 a 2, b 2, d 2, c 1, 2 more",
        "collect empty_problem 6 g 3, h 1, i 1, j 1",
        "denoise link 1,200 h 1,200",
        "1,215 dropped",
    ]


def test_rows_are_filtered_and_shown_with_their_evidence(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, ids = pipeline
    assert ledger(folder, "--source", "book", "--stage", "verify", "--sample", "9") == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{ids[5]}  verify: unreadable_gold  (book:5)",
        "  problem   What is 5 plus 5?",
        "  answer    10",
        '  evidence  {"answer": "10"}',
        "",
    ]
    assert ledger(folder, "--reason", "link", "--sample", "1") == 0
    assert capsys.readouterr().out.startswith(f"{ids[0]}  denoise: link")


def test_rows_are_written_as_json_lines(pipeline: Pipeline, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, ids = pipeline
    out = tmp_path / "rows.jsonl"
    assert ledger(folder, "--out", str(out), "--source", "web") == 0
    assert capsys.readouterr().out == f"3 rows: {out}\n"
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == [ids[4], ids[0], ids[1]]
    assert rows[0]["evidence"] == {"similarity": 0.9, "twin": ids[3]}
    assert [(row["id"], row["digest"]) for row in rows] == [row_key(row) for row in rows]
    assert ledger(folder, "--out", str(out), "--stage", "dedup") == 0
    assert capsys.readouterr().out == f"1 row: {out}\n"
    assert rows[1]["problem"] == "Tom has 0 books and buys 3 more of them. How many books does Tom have now?"


def test_rows_are_written_as_a_table(pipeline: Pipeline, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, ids = pipeline
    out = tmp_path / "rows.csv"
    assert ledger(folder, "--out", str(out), "--source", "web") == 0
    assert capsys.readouterr().out == f"3 rows: {out}\n"
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [ids[4], ids[0], ids[1]]
    assert json.loads(rows[0]["evidence"]) == {"similarity": 0.9, "twin": ids[3]}
    assert [(row["id"], row["digest"]) for row in rows] == [row_key(row) for row in rows]
    page = tmp_path / "rows.html"
    assert ledger(folder, "--out", str(out), "--html", str(page), "--source", "book") == 0
    assert [line.split(": ")[0] for line in capsys.readouterr().out.splitlines()] == [str(page), "2 rows"]
    assert page.is_file()
    assert ledger(folder, "--out", str(out), "--doubtful") == 0
    assert out.read_text(encoding="utf-8") == "id,source,source_id,problem,answer,findings,digest\n"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--reason", "near_duplicat"], "did you mean 'near_duplicate'? there are "),
        (
            ["--stage", "denoize"],
            "did you mean 'denoise'? there are collect, dedup, denoise, grade, verify, curriculum",
        ),
        (["--source", "boook"], "did you mean 'book'? there are book, web"),
        (["--source", "zzz", "--doubtful"], "no such source in "),
        (["--stage", "select", "--out", "x.jsonl"], "no such stage in "),
        (["--sample", "-1"], "--sample -1: give how many rows to show, 1 or more"),
        (["--out", "."], "--out .: is a folder"),
        (["--html", "none/page.html"], "the folder none does not exist"),
        (["--html", "/proc/page.html"], "/proc/page.html: cannot be written ("),
    ],
)
def test_what_is_not_there_is_an_error_with_what_is(
    pipeline: Pipeline, tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str], asked: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert ledger(pipeline[0], *asked) == 1
    assert said in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_doubts_of_ones_own_filter_are_named_by_their_reason(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = pipeline
    kept = pq.read_table(folder / "denoise" / "kept.parquet")
    finding = json.dumps([{"reason": "my_doubt", "strength": "weak", "evidence": {}}])
    write_records(folder / "denoise" / "kept.parquet", with_column(kept, "findings", [finding] + [None] * 3))
    assert ledger(folder, "--doubtful", "--reason", "my_doubt", "--sample", "1") == 0
    assert "my_doubt (weak)" in capsys.readouterr().out
    assert ledger(folder, "--doubtful", "--reason", "my_doubts") == 1
    assert "did you mean 'my_doubt'?" in capsys.readouterr().err
    assert ledger(folder, "--reason", "my_doubt") == 1


def test_a_sample_is_written_as_it_is_shown(
    pipeline: Pipeline, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rows.jsonl"
    assert ledger(pipeline[0], "--sample", "2", "--out", str(out)) == 0
    assert capsys.readouterr().out == f"2 rows: {out}\n"
    written = [json.loads(line)["id"] for line in out.read_text(encoding="utf-8").splitlines()]
    ledger(pipeline[0], "--sample", "2")
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if line[:1].strip()] == written
    ledger(pipeline[0], "--sample", "2", "--json")
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == written
