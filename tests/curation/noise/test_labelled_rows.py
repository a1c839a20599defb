"""Labelled problems of our own writing: the reason for which the filters must drop each, or that they keep it.

In `noise_rows.jsonl` all filters judge a row together; `known_error` marks one that they get wrong, and says why. When a change
makes it right, take the mark off. In `noise_filters.jsonl` one filter judges a row by itself, in every sense of its words; `evidence`
is some of what it must give as its reason.
"""

from typing import Any

import pytest

from compass.curation import noise
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason
from tests.conftest import data_rows

ROWS = data_rows("noise_rows.jsonl")


def reason(row: dict[str, Any]) -> str:
    drop = noise.check({"problem": row["problem"], "answer": row["answer"]}, Denoise())
    return "" if drop is None else str(drop.reason)


@pytest.mark.parametrize("wanted", sorted({row["reason"] for row in ROWS}), ids=lambda wanted: wanted or "kept")
def test_rows_are_dropped_for_their_reason_or_kept(wanted: str) -> None:
    judged = [(row["problem"], reason(row)) for row in ROWS if row["reason"] == wanted and "known_error" not in row]
    assert [row for row in judged if row[1] != wanted] == []


def test_known_errors_are_still_errors() -> None:
    assert [row for row in ROWS if "known_error" in row and reason(row) == row["reason"]] == []


ONE_FILTER = data_rows("noise_filters.jsonl")


def verdict(row: dict[str, Any]) -> set[str]:
    """What a filter makes of a row: `none`, or `found` and how strongly; one that it does not drop is `kept` in both cases."""
    finding = noise.FILTERS[NoiseReason(row["filter"])]({"answer": None} | row, Denoise())
    if finding is None:
        return {"none", "kept"}
    assert row.get("evidence", {}).items() <= finding.evidence.items(), row
    if "span" in finding.evidence and "text" in finding.evidence and finding.evidence.get("field") != "answer":
        start, end = finding.evidence["span"]
        assert row["problem"][start:end][:120] in finding.evidence["text"]  # as much as an excerpt holds
    return {"found", str(finding.strength), "dropped" if finding.drops("likely") else "kept"}


@pytest.mark.parametrize("filter_", sorted({row["filter"] for row in ONE_FILTER}))
def test_a_filter_by_itself_drops_doubts_or_keeps(filter_: str) -> None:
    judged = [(row, verdict(row)) for row in ONE_FILTER if row["filter"] == filter_]
    assert [(row["problem"], found) for row, found in judged if row["verdict"] not in found] == []
