"""Golds as published, and those that stand for a missing answer."""

from __future__ import annotations

import json
import time
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import ValidationError

from compass.golds import golds
from compass.settings import Collect, Source
from compass.sources.adapters import ADAPTERS, with_unit
from compass.sources.collect import collect
from compass.sources.gold import (
    DecimalCommas,
    from_solution,
    gold_answer,
    gold_answers,
    is_placeholder,
    last_boxed,
    with_decimal_point,
)
from compass.sources.guess import guess
from compass.sources.read import SourceError
from compass.verifier import Gold, verify


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
        ("Show that the volume is $6\\pi^2$.", "6\\pi^2"),
        ("Show that $f(2) = 3$ and $f(3) = 2$.", "Show that $f(2) = 3$ and $f(3) = 2$."),
        ({"value": 3}, ""),
        (Decimal("1106.0"), "1106"),
        (Decimal("-0.50"), "-0.5"),
        (Decimal("1200"), "1200"),
        (Decimal("1E+3"), "1000"),
        (Decimal("1234567890123456789012345678901234.50"), "1234567890123456789012345678901234.5"),
        (Decimal("NaN"), ""),
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


@pytest.mark.parametrize("value", [Decimal("3.0"), {"value": 3}, b"\x89PNG", date(2024, 1, 2)])
def test_no_solution_replaces_a_gold_of_another_kind(value):
    assert gold_answer(value, "\\boxed{5}") in ("3", "")
    assert from_solution("the answer is 7") == ""
    assert from_solution("Three and four. The answer is: 7.") == from_solution("We add.\nFinal answer: 7") == "7"
    assert from_solution("The answer is 7. This holds by symmetry.") == from_solution("The answer is 7\nbut why?") == ""
    assert from_solution("\\fbox{7}") == from_solution("\\boxed{7}") == "7"
    assert from_solution("#### 7, then \\boxed{8}") == "7, then \\boxed{8}"


def test_a_heading_over_text_is_no_gold():
    assert from_solution("#### Step 1: Add\n3 + 4\n#### Step 2: Conclude\nIt is \\boxed{7}.") == "7"
    assert from_solution("#### Conclusion\n\nThe answer is 7.") == from_solution("#### 7\nQ.E.D.") == "7"
    assert from_solution("\\boxed{7}\n#### Check\nIt works.") == from_solution("#### 7\n\nThe answer is 5") == "7"
    assert from_solution("#### 7 hours\nas the bus is late") == "7 hours"
    assert from_solution("#### \\frac{1}{2}\nQ.E.D.") == "\\frac{1}{2}"
    assert from_solution("#### **Step 2**\nSo x=7.") == from_solution("#### Step 2: Add\nSo x=7.") == ""
    assert from_solution("#### Yes\nas it is even") == "Yes"
    assert from_solution("#### forty-two\n\n6*7") == "forty-two"
    assert from_solution("#### no solution\n\nThe discriminant is -4.") == "no solution"


@pytest.mark.parametrize("text", ["\\boxed{" * 300, "{" * 10_000_000])
def test_many_unbalanced_boxes_and_a_long_text_are_read(text):
    assert last_boxed(text) == ""


VALUE = "Compute the area of a rectangle with sides 3 and 4."


@pytest.mark.parametrize(
    "gold",
    [
        "notfound", "Not found.", "NOT_FOUND", "N/A", "n/a", "NA", "NaN", "nan", "null", "NULL", "unknown", "Unknown.", "TBD", "to be determined",
        "see solution", "See the solution.", "see explanation", "See figure", "proof", "Proof.", "Q.E.D.", r"$\blacksquare$", "□", "answer", "[answer]",
        r"\boxed{answer}", "Your answer", "Answer:", "no answer found", "No answer", "not provided", r"\text{N/A}", "?", "??", "...", "--", "—", "-", "…",
        r"\boxed{}", "$$", "{}", r"\text{}", "None", "none", r"\text{None}", "略", "见解析", "略。", "无", "答案略", "未知", "missing answer", "ver solución",
        "___", "omitted", "[REDACTED]", "Open answer", "no correct answer", r"\text{Answers may vary.}", "Answers will vary", "NoAnswer",
    ],
)  # fmt: skip
def test_words_for_a_missing_answer(gold):
    assert is_placeholder(gold, VALUE)


@pytest.mark.parametrize(
    "problem",
    [
        "Each of the 4 boys has some marbles. How many marbles do all of them have?",
        "Rosa sold all her eggs, which cost \\$3 each. How much did she earn in the only week that was left?",
        "There were any number of cars. Calculate the total cost of every repair.",
        "What is Marcus' total bill?",
    ],
)
def test_an_amount_of_a_story_is_never_none(problem):
    assert is_placeholder("None", problem)


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
        ("Answer: 12", VALUE),
        ("Answer: second quadrant", VALUE),
        ("the answer is x", VALUE),
        ("no real answers", VALUE),
        ("infinitely many answers", VALUE),
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


PATH = Path("mine.jsonl")


QUESTION = "Which number is it, and how do you know?"


def read(row: dict, **settings: object):
    return ADAPTERS["columns"](row, Source(name="s", path="x", **settings))


def guessed(*answers: object, name: str = "answers", **others: list) -> tuple[Source, dict[str, str]]:
    rows = [
        {"problem": f"{QUESTION} ({number})", name: answer} | {key: values[number] for key, values in others.items()}
        for number, answer in enumerate(answers)
    ]
    found = guess("mine", PATH, rows)
    return found.source, found.evidence


@pytest.mark.parametrize(
    ("value", "all_of", "any_of"),
    [
        (["1/2", "0.5"], ("1/2, 0.5", ()), ("1/2", ("0.5",))),
        ('["1/2", "0.5"]', ("1/2, 0.5", ()), ("1/2", ("0.5",))),
        ([3, 3.0, 4], ("3, 3, 4", ()), ("3", ("4",))),
        ([[1, 2], [3, 4]], ("1, 2, 3, 4", ()), ("1, 2", ("3, 4",))),
        (["5"], ("5", ()), ("5", ())),
        ("5", ("5", ()), ("5", ())),
        ("[1, 2", ("[1, 2", ()), ("[1, 2", ())),
        ([None, ""], ("7", ()), ("7", ())),
    ],
)
def test_several_values_are_one_answer_or_any_of_them_as_the_settings_say(value, all_of, any_of):
    assert gold_answers(value, r"\boxed{7}") == all_of
    assert gold_answers(value, r"\boxed{7}", any_of=True) == any_of


def test_alternatives_may_have_a_field_of_their_own():
    row = {"problem": "p", "answer": "7", "accepted": ["7.0", "seven", "7"]}
    published = read(row, alternatives_field="accepted")
    assert (published.answer, published.alternatives) == ("7", ("7.0", "seven"))
    assert read({**row, "accepted": None}, alternatives_field="accepted").alternatives == ()


def test_a_tolerance_comes_from_the_source_the_row_or_the_kind_of_row():
    row = {"problem": "p", "answer": "7.5", "error": "1e-1", "kind": "Numeric"}
    assert read(row).tolerance == ""
    assert read(row, tolerance="1%").tolerance == "1%"
    assert read(row, tolerance="1%", tolerance_field="error").tolerance == "1e-1"
    assert read({**row, "error": None}, tolerance_field="error").tolerance == ""
    kinds = {"tolerance_field": "kind", "tolerances": {"Numeric": "0.01"}}
    assert read(row, **kinds).tolerance == "0.01"
    assert read({**row, "kind": "Integer"}, **kinds).tolerance == ""


def test_a_tolerance_that_is_none_names_the_field_and_what_to_do():
    with pytest.raises(
        SourceError, match=r"source 's': `error` holds a tolerance 'small': expected a number.*`tolerances`"
    ):
        read({"problem": "p", "answer": "7.5", "error": "small"}, tolerance_field="error")
    with pytest.raises(ValidationError, match="the tolerance 'small' is neither a number"):
        Source(name="s", path="x", tolerance="small")
    with pytest.raises(ValidationError, match="`tolerances` needs the `tolerance_field`"):
        Source(name="s", path="x", tolerances={"Numeric": "0.01"})


@pytest.mark.parametrize(
    ("answer", "unit", "gold", "wrong"),
    [
        ("166", "$cm^2$", "166 cm^2", "166 cm"),
        (r"$\frac{600}{7}$", "km/h", r"\frac{600}{7} km/h", r"\frac{600}{7} m"),
        ("4.2", "%", r"4.2\%", "42"),
        ("8", "min", "8 min", "8 hours"),
    ],
)
def test_a_unit_that_stands_apart_goes_behind_the_gold(answer, unit, gold, wrong):
    assert with_unit(answer, unit) == gold
    assert verify(gold=gold, answer=answer.strip("$")).equal
    assert not verify(gold=gold, answer=wrong).equal


@pytest.mark.parametrize(
    ("answer", "unit"),
    [("5 cm", "cm"), ("x+1", "cm"), ("A", "cm"), ("5", ""), ("5", "$ $"), ("", "cm"), ("blue", "cm")],
)
def test_a_unit_that_would_make_no_quantity_is_left_out(answer, unit):
    assert with_unit(answer, unit) == answer


def test_records_carry_what_their_source_accepts(tmp_path):
    rows = [
        {"problem": f"{QUESTION} 1", "answer": ["5", "five"], "error": "0.1"},
        {"problem": f"{QUESTION} 2", "answer": ["6"], "error": None},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = Source(name="s", path=str(path), answers_mean="any", tolerance_field="error")
    kept = collect([source], Collect(sources=[source], benchmarks=[])).kept
    assert list(golds(kept).values()) == [Gold("5", ("five",), "0.1"), "6"]


def test_a_field_that_no_row_has_is_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"problem": QUESTION, "answer": "1"}))
    source = Source(name="s", path=str(path), tolerance_field="eror")
    with pytest.raises(SourceError, match="has the field 'eror' that `tolerance_field` names"):
        collect([source], Collect(sources=[source], benchmarks=[]))


def test_values_that_repeat_each_other_are_alternatives():
    source, evidence = guessed(["1/2", "0.5"], ["3", "3.0"], ["x=4", "4"], name="answer")
    assert source.answers_mean == "any"
    assert evidence["answers_mean"] == "of the 3 golds with several values, 3 of 3 repeat one value in other words"


def test_accepted_answers_are_alternatives_whatever_they_hold():
    assert guessed(["1", "2"], ["3"], name="Accepted Answers")[0].answers_mean == "any"
    source, _ = guessed("1", "2", name="answer", aliases=[["one", "a"], ["two"]])
    assert (source.answer_field, source.alternatives_field) == ("answer", "aliases")


def test_numbers_a_flag_and_one_answer_are_parts():
    assert guessed([1, 2], [3, 4.5])[0].answers_mean == "all"
    assert guessed(["x", "y"], ["z"], is_multiple_answer=[True, False])[0].answers_mean == "all"
    source, evidence = guessed(["x", "y"], ["z"], name="final_answer")
    assert source.answers_mean == "all"
    assert "hold different values of one answer" in evidence["answers_mean"]


def test_what_cannot_be_told_is_asked():
    message = r'`answers` holds several values in 1 of 2 rows, for example \["x", "y"\].*`answers_mean: all`.*`answers_mean: any`'
    with pytest.raises(SourceError, match=message):
        guessed(["x", "y"], ["z"])


def test_tolerances_and_units_beside_the_gold_are_found():
    source, _ = guessed("1", "2", name="answer", error=["1e-1", None], unit=["cm", None])
    assert (source.tolerance_field, source.unit_field) == ("error", "unit")
    assert guessed("1", "2", name="answer", error=["none", "high"])[0].tolerance_field == ""


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2,25", "2.25"),
        ("-6,375", "-6.375"),
        ("0,125", "0.125"),
        ("2.501,00", "2501.00"),
        ("1.250.000 €", "1250000 €"),
        ("$2{,}25$ cm", "$2.25$ cm"),
        ("2,5 \\%", "2.5 \\%"),
        ("\\frac{2,5}{3}", "\\frac{2.5}{3}"),
        ("\\sin(0,5)", "\\sin(0.5)"),
        ("(2,5; 3)", "(2.5; 3)"),
        *((same, same) for same in ("3.14", "0.125", "1,2,3", "1, 2", "x_{1,2} = 3", "(2,5)", "(-2,5)", "[1,2]")),
        *((same, same) for same in ("\\{1,2\\}", "{1,2}", "\\left(1,2\\right)", "(1; 2)", "1{,}2{,}3")),
    ],
)
def test_a_decimal_comma_becomes_a_point_and_points_between_thousands_go(written, read):
    assert with_decimal_point(written) == read
    assert gold_answer(written, decimal_comma=True) == read


def test_a_long_text_of_many_numbers_is_read_in_time_that_grows_with_it():
    begin = time.process_time()
    assert with_decimal_point("(2,5 " * 100_000) == "(2.5 " * 100_000
    assert time.process_time() - begin < 20


def test_numbers_that_are_no_text_have_no_decimal_comma():
    assert gold_answer(1.125, decimal_comma=True) == "1.125"
    assert gold_answers(["1,5", 1.125], decimal_comma=True) == ("1.5, 1.125", ())
    assert gold_answers(None, "so \\boxed{2,5}", any_of=True, decimal_comma=True) == ("2.5", ())


@pytest.mark.parametrize(
    ("golds", "shown"),
    [
        (["2,25", "3,5", "2.501,00", "7", "6,375"], True),
        (["2,25", "3,5", "4,5", "(1, 2)"], True),
        (["2,25", "3,5"], False),
        (["6,375", "1,200", "3,456"], False),
        (["2,25", "3,5", "4,5", "2.5"], False),
        (["2,25", "3,5", "4,5", "(2, 3)", "1, 7", "5, 6, 7"], False),
        (["1,2,3", "4,5,6", "7,8,9"], False),
    ],
)
def test_golds_show_a_decimal_comma_where_some_have_one_and_none_has_a_point(golds, shown):
    commas = DecimalCommas()
    for gold in golds:
        commas.add(gold)
    assert commas.shown == shown
