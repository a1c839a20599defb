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
        (True, "True"),
        (-3.0, "-3"),
        (2.5, "2.5"),
        (999999999999999.0, "999999999999999"),
        (1e15, "1000000000000000.0"),
        (-1e15, "-1000000000000000.0"),
        (float("inf"), "inf"),
        (["55"], "55"),
        ([None, "3", ""], "3"),
        ([], ""),
        ([["55"]], "55"),
        (["3", "5"], "3, 5"),
        ('["\\\\frac{1}{2}"]', "\\frac{1}{2}"),
        ('["34" ]', "34"),
        ('["34"', '["34"'),
        ('["a", 1, "b"]', '["a", 1, "b"]'),
        ('["a" "b"]', '["a" "b"]'),
        ('["a", 1]', '["a", 1]'),
        ("[1, 2]", "[1, 2]"),
        ("[0, \\infty)", "[0, \\infty)"),
        ("He ran 48/2 = 24.\n#### 72", "72"),
        ("first #### 1\nthen ####  72 \nend", "72"),
        ("so $\\boxed{\\frac{3}{4}}$.", "\\frac{3}{4}"),
        ("so \\fbox{2}", "2"),
        ("unbalanced \\boxed{2", "unbalanced \\boxed{2"),
        ("unbalanced \\fbox{2", "unbalanced \\fbox{2"),
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
        ("\\boxed", ""),
        ("\\boxed ", ""),
        ("\\boxed {5}", "5"),
        ("\\boxed{ 5 }", "5"),
        ("\\boxed5", "5"),
        ("\\boxed12", "1"),
        ("\\boxed$5$", ""),
        ("\\boxed{a\\}b}", "a\\}b"),
        ("\\boxed{a\\", ""),
        ("\\boxed{1}\\fbox{2}", "2"),
        ("\\fbox{1}\\boxed{2}", "2"),
        ("\\boxed{1}\\boxed{}", "1"),
        ("no box", ""),
    ],
)
def test_the_last_balanced_box_counts(text, gold):
    assert last_boxed(text) == gold


def test_a_solution_stands_in_for_a_missing_answer():
    assert gold_answer(None, "… = \\boxed{5}") == "5"
    assert gold_answer("", "#### 7\n") == "7"
    assert gold_answer("3", "\\boxed{5}") == "3"
    assert from_solution("the answer is 7") == ""
    assert from_solution("Three and four. The answer is: 7.") == from_solution("We add.\nFinal answer: 7") == "7"
    assert from_solution("The answer is 7. This holds by symmetry.") == from_solution("The answer is 7\nbut why?") == ""
    assert from_solution("\\fbox{7}") == from_solution("\\boxed{7}") == "7"
    assert from_solution("#### 7, then \\boxed{8}") == "7, then \\boxed{8}"


def test_many_unbalanced_boxes_and_a_long_text_take_no_time():
    start = time.perf_counter()
    assert last_boxed("\\boxed{" * 300) == ""
    assert last_boxed("{" * 10_000_000) == ""
    assert time.perf_counter() - start < 5
