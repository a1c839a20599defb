"""Golds as published, and those that stand for a missing answer."""

from __future__ import annotations

import json
import time

import pytest

from compass.settings import Collect, Source
from compass.sources.collect import collect
from compass.sources.gold import from_solution, gold_answer, is_placeholder, last_boxed


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


VALUE = "Compute the area of a rectangle with sides 3 and 4."


@pytest.mark.parametrize(
    "gold",
    [
        "notfound", "Not found.", "NOT_FOUND", "N/A", "n/a", "NA", "NaN", "nan", "null", "NULL", "unknown", "Unknown.", "TBD", "to be determined",
        "see solution", "See the solution.", "see explanation", "See figure", "proof", "Proof.", "Q.E.D.", r"$\blacksquare$", "□", "answer", "[answer]",
        r"\boxed{answer}", "Your answer", "Answer:", "no answer found", "No answer", "not provided", r"\text{N/A}", "?", "??", "...", "--", "—", "-", "…",
        r"\boxed{}", "$$", "{}", r"\text{}", "None", "none", r"\text{None}", "略", "见解析", "略。", "无", "答案略", "未知", "missing answer", "ver solución",
        "___", "omitted", "[REDACTED]",
    ],
)  # fmt: skip
def test_words_for_a_missing_answer(gold):
    assert is_placeholder(gold, VALUE)


@pytest.mark.parametrize(
    ("gold", "problem"),
    [
        ("None", "Find all primes p for which p + 1 and p + 2 are both prime squares."),
        ("none", "How many of these numbers are odd?"),
        ("None", "Which of the following lines are parallel?"),
        ("none", "Solve x + 1 = x."),
        ("无", "方程 x+1=x 的解是什么?"),
        ("no solution", VALUE),
        ("No real solutions", VALUE),
        ("undefined", "What is the slope of the line through (1, 2) and (1, 5)?"),
        ("does not exist", VALUE),
        ("not enough information", VALUE),
        ("-", "What sign does the product have?"),
        ("-", "Which operator makes 6 ? 3 = 3 true?"),
        ("+", VALUE),
        ("=", "Fill in <, > or =: 1/2 and 2/4."),
        (r"\{\}", "Find all x with x^2 = -1."),
        (r"\emptyset", VALUE),
        ("[]", VALUE),
        ("Na", "Which element is it?"),
        ("XXX", "Write 30 in Roman numerals."),
        ("x", VALUE),
        ("12", VALUE),
        ("-1", VALUE),
        ("", VALUE),
        ("the proof of Euclid", VALUE),
        ("unknown quantity x = 5", VALUE),
        (r"\frac{1}{2}", VALUE),
        ("A", VALUE),
    ],
)
def test_words_that_can_be_an_answer(gold, problem):
    assert not is_placeholder(gold, problem)


def test_collect_drops_them_with_the_word_as_evidence(tmp_path):
    path = tmp_path / "s.jsonl"
    golds = ["12", "see solution", "None"]
    path.write_text("".join(json.dumps({"problem": VALUE, "answer": gold}) + "\n" for gold in golds))
    source = Source(name="s", path=str(path))
    found = collect([source], Collect(sources=[source], benchmarks=[]))
    assert found.kept["answer"].to_pylist() == ["12"]
    assert found.dropped["reason"].to_pylist() == ["placeholder_gold"] * 2
    assert json.loads(found.dropped["evidence"][0].as_py()) == {"answer": "see solution", "field": "answer"}
    assert found.sources["s"]["dropped"] == {"placeholder_gold": 2}
