"""Findings, the line that `denoise.strictness` draws through them, and the column `doubt`."""

from __future__ import annotations

import json

import pytest

from compass.curation import noise
from compass.curation.noise.finding import Finding, Strength, doubt_column
from compass.ledger import Drop, Reason
from compass.settings import Denoise

SPOKEN = {"problem": "What is 3 + 4? See https://example.org/t/9 for it.", "answer": "7"}


def filters_that_find(monkeypatch, *findings: Finding) -> None:
    monkeypatch.setattr(noise, "FILTERS", {finding.reason: lambda *_, found=finding: found for finding in findings})


@pytest.mark.parametrize(
    ("strength", "strictness", "dropped"),
    [
        ("sure", "sure", True),
        ("likely", "sure", False),
        ("possible", "sure", False),
        ("sure", "likely", True),
        ("likely", "likely", True),
        ("possible", "likely", False),
        ("possible", "possible", True),
    ],
)
def test_strictness_is_the_weakest_finding_that_drops(monkeypatch, strength, strictness, dropped):
    finding = Finding(Reason.FIGURE, Strength(strength), {"text": "the figure"})
    filters_that_find(monkeypatch, finding)
    drop, doubts = noise.review(SPOKEN, Denoise(strictness=strictness))
    if dropped:
        assert drop == Drop(Reason.FIGURE, {"strength": strength, "text": "the figure"})
        assert doubts == []
    else:
        assert drop is None
        assert doubts == [finding]


def test_a_strong_finding_drops_after_weaker_ones_and_all_doubts_are_told(monkeypatch):
    weak = [Finding(Reason.FIGURE, Strength.POSSIBLE), Finding(Reason.PROOF, Strength.POSSIBLE)]
    filters_that_find(monkeypatch, *weak)
    assert noise.review(SPOKEN, Denoise()) == (None, weak)
    filters_that_find(monkeypatch, *weak, Finding(Reason.LINK, Strength.SURE))
    assert noise.review(SPOKEN, Denoise()) == (Drop(Reason.LINK, {"strength": "sure"}), [])
    assert noise.review(SPOKEN, Denoise(skip_reasons=["link", "proof"])) == (None, weak[:1])


def test_the_column_holds_findings_as_json_and_null_for_none():
    finding = Finding(Reason.FIGURE, Strength.POSSIBLE, {"text": "é", "span": [3, 4]})
    column = doubt_column([finding])
    assert json.loads(column) == [
        {"reason": "figure", "strength": "possible", "evidence": {"text": "é", "span": [3, 4]}}
    ]
    assert doubt_column([]) is None
