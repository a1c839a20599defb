"""Rows that were kept with doubts: from the denoise stage's column to the command and to curriculum."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compass.cli import main
from compass.curation.noise.finding import Finding, Strength, findings_column
from compass.ledger import Drop, split
from compass.records import RecordError, with_column, write_records
from compass.report.outputs import count_doubts, find_doubtful, find_outputs
from compass.settings.denoise import NoiseReason


@pytest.fixture
def folder(tmp_path: Path, records) -> Path:
    """Four rows, three of them doubted by denoise; verify then drops the first."""
    rows = records(*[(f"How long is the side number {n} in it?", str(n), source) for n, source in enumerate("aabb")])
    figure = Finding(NoiseReason.FIGURE, Strength.POSSIBLE, {"text": "in it", "span": [30, 35]})
    proof = Finding(NoiseReason.PROOF, Strength.LIKELY, {"text": "How"})
    doubted = with_column(rows, "findings", [findings_column(d) for d in ([figure], [figure, proof], [figure], [])])
    write_records(tmp_path / "collect/kept.parquet", rows)
    write_records(tmp_path / "denoise/kept.parquet", doubted)
    write_records(
        tmp_path / "verify/kept.parquet", split(doubted, [Drop(NoiseReason.LINK), None, None, None], "verify")[0]
    )
    return tmp_path


def test_rows_are_chosen_by_stage_reason_and_source(folder: Path) -> None:
    outputs = find_outputs(folder)
    assert [row["answer"] for row in find_doubtful(outputs)] == ["0", "1", "2"]
    assert [row["answer"] for row in find_doubtful(outputs, stage="verify")] == ["1", "2"]
    assert [row["answer"] for row in find_doubtful(outputs, source="b")] == ["2"]
    (row,) = find_doubtful(outputs, reason="proof")
    assert [finding["reason"] for finding in row["findings"]] == ["proof"]
    assert [tuple(row.values()) for row in count_doubts(find_doubtful(outputs))] == [
        ("figure", "possible", "a", 2),
        ("figure", "possible", "b", 1),
        ("proof", "likely", "a", 1),
    ]


def test_a_stage_before_denoise_or_absent_is_an_error(folder: Path) -> None:
    for stage in ("collect", "curriculum"):
        with pytest.raises(RecordError, match=rf"no rows that `{stage}` kept with doubts; .* collect, denoise, verify"):
            find_doubtful(find_outputs(folder), stage=stage)


def test_the_command_counts_shows_and_writes_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def ledger(*words: str) -> list[str]:
        assert main(["ledger", "--data", str(folder), "--doubtful", *words]) == 0
        return capsys.readouterr().out.splitlines()

    assert [line.split() for line in ledger()[1:]] == [
        ["figure", "possible", "3", "a", "2,", "b", "1"],
        ["proof", "likely", "1", "a", "1"],
        ["3", "doubtful"],
    ]
    shown = ledger("--source", "b", "--sample", "5")
    assert shown[1] == "  problem   How long is the side number 2 in it?"
    assert shown[3] == '  doubt     figure (possible): {"span": [30, 35], "text": "in it"}'
    ledger("--reason", "proof", "--out", str(folder / "rows.jsonl"))
    (row,) = map(json.loads, (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines())
    assert row["findings"] == [{"evidence": {"text": "How"}, "reason": "proof", "strength": "likely"}]
