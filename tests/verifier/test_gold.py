"""Several golds, and golds with a tolerance; what is near enough is in `tests/data/response_labels.jsonl`."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import pytest

from compass.verifier import Gold, Outcome, ToleranceError, judge, judge_many, read_tolerance, reward, verify


@pytest.mark.parametrize("answer", ["1/0", "9^{9^{9^9}}", r"\boxed{}", "(" * 60])
def test_what_cannot_be_read_stays_so_with_a_tolerance(answer: str) -> None:
    assert verify(gold=Gold("5", tolerance="50%"), answer=answer).outcome is Outcome.UNRECOGNISED


def test_an_equal_answer_does_not_lean_on_the_tolerance() -> None:
    assert verify(gold=Gold("2.5", tolerance="1%"), answer="5/2").leniencies == ()


@pytest.mark.parametrize("text", ["", "five", "-1", "100%", "1000 %", "nan", "inf", "1e999", "5%%", "0.1 cm", "1" * 40])
def test_what_is_no_tolerance_is_named(text: str) -> None:
    with pytest.raises(ToleranceError, match=r"expected a number, such as 0\.01"):
        read_tolerance(text)
    with pytest.raises(ToleranceError):
        verify(gold=Gold("1", tolerance=text), answer="2")


def test_any_of_several_golds_is_right() -> None:
    gold = Gold(r"\frac13", alternatives=("0.7", r"\text{undefined}"))
    for answer, outcome in (("1/3", "equal"), ("7/10", "equal"), ("undefined", "equal"), ("1/2", "different")):
        assert verify(gold=gold, answer=answer).outcome == outcome
    assert verify(gold=gold, answer="1/3, 0.7").outcome != "equal", "one of them, not all"


def test_a_gold_that_cannot_be_read_does_not_hide_that_another_differs() -> None:
    assert verify(gold=Gold(r"\frac561", alternatives=("5",)), answer="6").outcome == "different"
    assert verify(gold=Gold(r"\frac561", alternatives=(r"\frac671",)), answer="6").outcome == "unrecognised"


def test_alternatives_share_the_tolerance() -> None:
    gold = Gold("3.5", alternatives=("7.5",), tolerance="0.1")
    assert [verify(gold=gold, answer=answer).equal for answer in ("3.6", "7.4", "5")] == [True, True, False]


@pytest.mark.parametrize(
    ("gold", "near", "far"),
    [
        ("x = 1, y = 2", "y = 2.001, x = 1", "x = 2, y = 1"),
        ("(x,y) = (1,2)", "y = 2.001, x = 1", "y = 1.001, x = 2"),
        ("x_1 = 1, x_2 = 2", "x_2 = 2.001, x_1 = 1", "x_1 = 2.001, x_2 = 1"),
        ("(1,2)", "x = 1.001, y = 2", "x = 2.001, y = 1"),
        ("x = 1 or x = 2", "2.001, 1.001", "1.001, 1.001"),
        ("[1,2]", r"1 \le x \le 2.001", r"1 \le x < 2.001"),
        ("x > 3", r"(3.001, \infty)", "x < 3.001"),
        (r"1 < x < 2", r"x \in (1, 2.001)", "1 < x < 2.1"),
        ("x > 3", "x > 3.001", "y > 3.001"),
        ("0.25", r"25.01\%", r"26\%"),
        (r"25\%", "0.2501", "0.0025"),
    ],
)
def test_a_tolerance_pairs_what_equality_pairs(gold: str, near: str, far: str) -> None:
    assert [verify(gold=Gold(gold, tolerance="1%"), answer=answer).equal for answer in (near, far)] == [True, False]


def test_the_strict_mode_asks_for_the_form_of_the_gold_that_is_met() -> None:
    gold = Gold("10", alternatives=(r"\sqrt{50}+\sqrt{18}",))
    assert judge(gold=gold, response=r"\boxed{5+5}").verdict.method == "form"
    assert judge(gold=gold, response=r"\boxed{\sqrt{18}+\sqrt{50}}").equal
    question = r"Simplify $2+8$ or $\sqrt{50}+\sqrt{18}$."
    assert reward(r"\boxed{2+8}", gold, question) == -1.0
    assert reward(r"\boxed{10}", gold, question) == 1.0


@pytest.mark.parametrize("alternatives", ["2/3", ["2/3"], ("2/3",), {"2/3"}, iter(["2/3"])])
def test_alternatives_are_a_text_or_several(alternatives: Any) -> None:
    gold = Gold("1/3", alternatives=alternatives)
    assert gold == Gold("1/3", ("2/3",))
    assert [verify(gold=gold, answer=answer).equal for answer in ("1/3", "2/3", "2", "3")] == [True, True, False, False]
    assert [one.equal for one in judge_many([(gold, r"\boxed{2/3}"), (gold, r"\boxed{2}")])] == [True, False]


def test_a_number_stands_for_its_text() -> None:
    gold = Gold(4, alternatives=[7, Fraction(1, 2)], tolerance=0.1)
    assert gold == pickle.loads(pickle.dumps(gold)) == ("4", ("7", "1/2"), "0.1")
    assert [verify(gold=gold, answer=answer).equal for answer in ("4.05", "7", "0.5", "5")] == [True, True, True, False]
    assert verify(gold=Gold("1", tolerance=1e-5), answer="1.000001").equal


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"answer": None}, "answer"),
        ({"answer": True}, "answer"),
        ({"answer": ["5"]}, "answer"),
        ({"answer": "5", "alternatives": None}, "alternatives"),
        ({"answer": "5", "alternatives": [None]}, "alternatives"),
        ({"answer": "5", "alternatives": {"6": 1}}, "alternatives"),
        ({"answer": "5", "tolerance": [0.1]}, "tolerance"),
    ],
)
def test_a_field_of_another_type_is_named(fields: dict[str, Any], name: str) -> None:
    with pytest.raises(TypeError, match=f"a gold's {name} must be text"):
        Gold(**fields)
