"""The filters hold on labelled rows of many sources that no rule was written on, and the agreement is counted as a reader would."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from noise_filters import Counts, Label, read_labels
from noise_unseen import LABELS, Agreement, agreements, read_rows, valimath_table

from compass.settings import Denoise

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"
BOUNDS = {
    "multiple_choice": (0.97, 0.97),
    "multi_part": (0.93, 0.95),
    "proof": (0.97, 0.93),
    "letter_gold": (0.97, 0.93),
    "figure": (0.93, 0.87),
    "yes_no": (0.97, 0.97),
    "estimation": (0.97, 0.9),
    "markup": (0.97, 0.97),
}
"""The least precision and recall of reasons with twenty labelled rows or more."""


@pytest.mark.skipif(not SHARED.exists(), reason=f"real data is not beside the repository ({SHARED})")
def test_the_filters_agree_with_a_reader_on_every_source():
    labels = read_labels(LABELS)
    found, missing = agreements(read_rows(SHARED, {label.id for label in labels}), labels, Denoise())
    assert not missing
    everything = found["all"]
    for reason, (precision, recall) in BOUNDS.items():
        count = everything.reasons[reason]
        assert count.precision >= precision, (reason, count)
        assert count.recall >= recall, (reason, count)
    assert everything.random_lost == 0
    assert everything.lost <= 0.015 * everything.good
    assert everything.caught >= 0.95 * everything.bad


def test_splits_hold_all_reasons_and_no_row_twice():
    labels = read_labels(LABELS)
    assert len({label.id for label in labels}) == len(labels) > 640
    assert {label.split for label in labels} == {"dev", "held"}
    assert {label.sample for label in labels} == {"random", "candidate"}
    for split in ("dev", "held"):
        reasons = {reason for label in labels if label.split == split for reason in label.reasons}
        assert {"figure", "estimation", "lost_context", "letter_gold", "multi_part", "encoding"} <= reasons


def test_rows_are_counted_by_what_a_reader_says():
    def label(reasons: set[str], unsure: set[str], sample: str = "random") -> Label:
        return Label("x", frozenset(reasons), frozenset(unsure), sample, "dev")

    one = Agreement()
    one.add(label({"figure"}, set()), {"proof"})  # dropped, for another reason
    one.add(label(set(), set()), {"figure"})  # a good row lost
    one.add(label(set(), {"proof"}), {"proof"})  # doubtful: neither good nor bad
    one.add(label({"true_false"}, set()), {"yes_no"})  # one reason to a reader
    one.add(label({"other"}, set(), "candidate"), set())  # no filter looks for it
    one.add(label({"encoding"}, set(), "candidate"), set(), repaired=True)  # a good row by now
    one.add(label(set(), set(), "candidate"), set(), doubted=True)
    assert (one.rows, one.dropped, one.bad, one.caught, one.good, one.lost) == (7, 4, 2, 2, 3, 1)
    assert (one.random_good, one.random_lost, one.repaired, one.doubted) == (1, 1, 1, 1)
    assert one.reasons["figure"] == Counts(hits=0, false_hits=1, misses=1)
    assert one.reasons["proof"] == Counts(hits=0, false_hits=1, misses=0)
    assert one.reasons["yes_no"] == Counts(hits=1, false_hits=0, misses=0)
    assert [(kind, reason) for kind, reason, _ in one.disagreements if reason == "figure"] == [
        ("miss", "figure"),
        ("false hit", "figure"),
    ]


def test_a_broken_question_counts_by_its_first_failed_step():
    steps = {"level_0_check": True, "min_Pi_check": True, "contradiction_check": True, "condition_complete_check": None}
    rows = [
        {"question": "Prove that the sum of two odd numbers is even.", "gt": False, "question_format": False, **steps},
        {"question": "What is the sum of the first ten odd numbers?", "gt": True, "question_format": True, **steps},
    ]
    table = valimath_table(rows, Denoise())
    assert "2 questions, 1 of them broken; 1 dropped." in table
    assert "| `question_format` | 1 | 1 | `proof` 1 |" in table
    assert "| sound questions, kept (as the paper counts) | 1.000 | 1.000 |" in table
