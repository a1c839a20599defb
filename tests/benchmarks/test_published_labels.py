"""Published per-sample labels come out of the raw responses again, and pass@k and maj@k equal a computation of another kind."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import published_labels
from published_labels import FILES, OUTPUTS, differences, judged_rows, read_judgements, tally

from compass.sources.read import file_rows

QWEN = "qwen25_math_cot_100x8"
LEAST = {QWEN: 0.988, "rho-math-1b-v0.1__minerva_math": 0.965, "rho-math-7b-v0.1__minerva_math": 0.98}


@pytest.fixture(scope="module")
def judged(shared: Path) -> dict[str, list]:
    return {name: judged_rows(name) for name in FILES}


@pytest.mark.parametrize("name", FILES)
def test_every_difference_was_judged_by_hand(judged: dict[str, list], name: str) -> None:
    judgements = read_judgements()
    found = differences(name, judged[name])
    assert [one for one in found if one[:3] not in judgements] == []
    assert 1 - len(found) / sum(len(labels) for *_, labels in judged[name]) >= LEAST[name]
    published = sum(judgements[one[:3]] == "published" for one in found)
    assert published <= 1


def test_pass_at_k_is_the_share_of_subsets_of_the_published_labels(judged: dict[str, list]) -> None:
    """By enumeration of all subsets, from the published labels with the judged differences put right."""
    put_right = {one[1:3] for one in differences(QWEN, judged[QWEN])}
    labels = [
        [label != ((row.row, sample) in put_right) for sample, label in enumerate(published)]
        for row, _, published in judged[QWEN]
    ]
    scores = tally(judged[QWEN])
    assert scores["accuracy"] == pytest.approx(sum(map(sum, labels)) / 800)
    for k in (2, 4, 8):
        shares = [sum(map(any, chosen)) / len(chosen) for marks in labels if (chosen := list(combinations(marks, k)))]
        assert scores[f"pass@{k}"] == pytest.approx(sum(shares) / 100)


def test_maj_at_k_is_the_vote_of_the_published_answers(judged: dict[str, list]) -> None:
    """By counting the published predictions as they are spelled, without the verifier."""
    put_right = {one[1:3] for one in differences(QWEN, judged[QWEN])}
    votes = []
    for _, row in file_rows(OUTPUTS / f"{QWEN}.jsonl.gz"):
        right = [label != ((row["idx"], sample) in put_right) for sample, label in enumerate(row["score"])]
        counts = Counter(_spelled(pred) for pred in row["pred"])
        most = [pred for pred, count in counts.items() if count == max(counts.values())]
        winners = [right[[_spelled(pred) for pred in row["pred"]].index(pred)] for pred in most]
        votes.append(sum(winners) / len(winners))
    assert tally(judged[QWEN])["maj@8"] == pytest.approx(sum(votes) / 100)


def _spelled(pred: str) -> str:
    return (
        pred.replace(" ", "")
        .replace("\\dfrac", "\\frac")
        .replace("\\left", "")
        .replace("\\right", "")
        .replace("{,}", "")
    )


def test_an_unjudged_difference_is_an_error(
    judged: dict[str, list], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = published_labels.JUDGEMENTS.read_text().splitlines()
    (tmp_path / "some.csv").write_text("\n".join(line for line in kept if ",72,7," not in line))
    monkeypatch.setattr(published_labels, "read_judgements", lambda: read_judgements(tmp_path / "some.csv"))
    monkeypatch.setattr(published_labels, "judged_rows", lambda name: judged[name])
    assert published_labels.main() == 1
    assert "no judgement: Difference(file='qwen25_math_cot_100x8', row=72, sample=7" in capsys.readouterr().err


def test_a_judgement_names_who_is_right(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("file,row,sample,right,why\nx,1,0,us,typo\n")
    with pytest.raises(ValueError, match=r"unknown in `right`: \['us'\]"):
        read_judgements(tmp_path / "odd.csv")
