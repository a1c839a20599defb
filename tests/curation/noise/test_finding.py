"""Findings, the line that `denoise.strictness` draws through them, and the column `findings`."""

from __future__ import annotations

import json

import pytest

from compass.curation import noise
from compass.curation.noise.finding import Finding, Strength, findings_column
from compass.ledger import Drop
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

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
    finding = Finding(NoiseReason.FIGURE, Strength(strength), {"text": "the figure"})
    filters_that_find(monkeypatch, finding)
    drop, findings = noise.review(SPOKEN, Denoise(strictness=strictness))
    assert findings == [finding]
    if dropped:
        assert drop == Drop(NoiseReason.FIGURE, {"strength": strength, "text": "the figure"})
    else:
        assert drop is None


def test_a_strong_finding_drops_after_weaker_ones_and_all_findings_stay(monkeypatch):
    weak = [Finding(NoiseReason.FIGURE, Strength.POSSIBLE), Finding(NoiseReason.PROOF, Strength.POSSIBLE)]
    filters_that_find(monkeypatch, *weak)
    assert noise.review(SPOKEN, Denoise()) == (None, weak)
    strong = [Finding(NoiseReason.LINK, Strength.SURE), Finding(NoiseReason.MARKUP, Strength.LIKELY)]
    filters_that_find(monkeypatch, *weak, *strong)
    assert noise.review(SPOKEN, Denoise()) == (Drop(NoiseReason.LINK, {"strength": "sure"}), [*weak, *strong])
    filters_that_find(monkeypatch, *weak, strong[0])
    assert noise.review(SPOKEN, Denoise(skip_reasons=["link", "proof"])) == (None, weak[:1])


def test_of_a_problem_that_is_too_long_to_read_no_filter_but_its_length_is_asked():
    record = {"problem": f"Prove that {'1 + ' * 2_000}1 is odd.", "answer": "7"}
    assert [finding.reason for finding in noise.review(record, Denoise())[1]] == ["too_long"]
    assert [finding.reason for finding in noise.review(record, Denoise(max_problem_chars=9_000))[1]] == ["proof"]


def test_the_column_holds_findings_as_json_and_null_for_none():
    finding = Finding(NoiseReason.FIGURE, Strength.POSSIBLE, {"text": "é", "span": [3, 4]})
    column = findings_column([finding])
    assert json.loads(column) == [
        {"reason": "figure", "strength": "possible", "evidence": {"text": "é", "span": [3, 4]}}
    ]
    assert findings_column([]) is None
