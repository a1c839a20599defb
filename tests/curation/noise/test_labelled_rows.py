"""Labelled problems of our own writing: the reason for which the filters must drop each, or that they keep it.

`known_error` marks a row that the filters get wrong, and says why. When a change makes it right, take the mark off.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from compass.curation import noise
from compass.settings import Denoise

PATH = Path(__file__).parents[2] / "data" / "noise_rows.jsonl"
ROWS = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]


def reason(row: dict[str, Any]) -> str:
    drop = noise.check({"problem": row["problem"], "answer": row["answer"]}, Denoise())
    return "" if drop is None else str(drop.reason)


@pytest.mark.parametrize("wanted", sorted({row["reason"] for row in ROWS}), ids=lambda wanted: wanted or "kept")
def test_rows_are_dropped_for_their_reason_or_kept(wanted: str) -> None:
    judged = [(row["problem"], reason(row)) for row in ROWS if row["reason"] == wanted and "known_error" not in row]
    assert [row for row in judged if row[1] != wanted] == []


def test_known_errors_are_still_errors() -> None:
    assert [row for row in ROWS if "known_error" in row and reason(row) == row["reason"]] == []
