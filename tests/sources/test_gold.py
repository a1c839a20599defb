"""Golds from what sources publish them in."""

from __future__ import annotations

import time

import pytest

from compass.sources.gold import from_solution, gold_answer, last_boxed


@pytest.mark.parametrize(
    ("value", "gold"),
    [
        ("60", "60"),
        (" 025 ", "025"),
        (60, "60"),
        (60.0, "60"),
        (0.1, "0.1"),
        (None, ""),
        (["55"], "55"),
        ([["55"]], "55"),
        (["3", "5"], "3, 5"),
        ('["\\\\frac{1}{2}"]', "\\frac{1}{2}"),
        ("[1, 2]", "[1, 2]"),
        ("[0, \\infty)", "[0, \\infty)"),
        ("He ran 48/2 = 24.\n#### 72", "72"),
        ("so $\\boxed{\\frac{3}{4}}$.", "\\frac{3}{4}"),
        ({"value": 3}, ""),
    ],
)
def test_a_gold_is_taken_as_published(value, gold):
    assert gold_answer(value) == gold


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("\\boxed{1} and then \\boxed{2}", "2"),
        ("\\boxed{\\frac{1}{\\sqrt{2}}}", "\\frac{1}{\\sqrt{2}}"),
        ("\\boxed{\\{1, 2\\}}", "\\{1, 2\\}"),
        ("\\fbox{7}", "7"),
        ("\\boxed 9.", "9"),
        ("\\boxed{3} cut \\boxed{4", "3"),
        ("\\boxed{}", ""),
        ("no box", ""),
    ],
)
def test_the_last_balanced_box_counts(text, gold):
    assert last_boxed(text) == gold


def test_a_solution_stands_in_for_a_missing_answer():
    assert gold_answer(None, "… = \\boxed{5}") == "5"
    assert gold_answer("", "#### 7\n") == "7"
    assert from_solution("the answer is 7") == ""


def test_ten_megabytes_of_boxes_take_no_time():
    start = time.perf_counter()
    last_boxed("\\boxed{" * 1_000)
    last_boxed("{" * 10_000_000)
    assert time.perf_counter() - start < 5
