"""Several golds, and golds with a tolerance."""

from __future__ import annotations

import pytest

from compass.verifier import Gold, Leniency, Outcome, ToleranceError, judge, judge_many, read_tolerance, reward, verify

NEAR = [
    ("9.6", "1%", "9.504"),
    ("9.6", "1%", "9.696"),
    ("-9.6", "1%", "-9.55"),
    ("4.2", "0.1", "4.1"),
    ("4.2", "1e-1", "4.3"),
    ("7.2e37", "1%", r"7.21 \times 10^{37}"),
    ("2.5", "1%", r"\frac{503}{200}"),
    ("1.5", "5%", r"\frac{\pi}{2}"),
    ("5 cm", "4%", "5.1 cm"),
    ("5 cm", "4%", "0.051 m"),
    (r"5\text{ J}", "4%", "5.1 J"),
    ("5 cm", "4%", "5.1"),
    ("5", "4%", "5.1 cm"),
    (r"4.2\%", "0.1", "4.25"),
    ("x = 3.1", "1%", "3.11"),
    ("x = 3.1", "1%", "x = 3.11"),
    ("0.02, 3.9", "4%", "3.91, 0.0201"),
    (r"\pm 1.5", "0.02", "1.51, -1.51"),
    (r"\{1.5, 2.5\}", "0.02", r"\{2.51, 1.51\}"),
    ("(1.5, 2.5)", "0.02", "(1.51, 2.51)"),
    ("[0, 1.5]", "0.1", "[0, 1.4]"),
]
FAR = [
    ("9.6", "1%", "9.503"),
    ("9.6", "1%", "-9.6"),
    ("9.6", "1%", "96"),
    ("9.6", "0%", "9.61"),
    ("4.2", "0.1", "4.301"),
    ("0", "10%", "0.001"),
    ("5 cm", "4%", "5.1 mm"),
    ("5 cm", "4%", "5.1 s"),
    ("x = 3.1", "1%", "y = 3.11"),
    ("0.02, 3.9", "4%", "3.91"),
    ("0.02, 3.9", "4%", "3.91, 0.03"),
    ("(1.5, 2.5)", "0.02", "(2.51, 1.51)"),
    ("[0, 1.5]", "0.1", "(0, 1.4)"),
    ("[0, 1.5]", "0.1", "[0, 1.5, 1.5]"),
    ("5", "1", r"5 \pm 0.5"),
    ("5", "50%", r"\infty"),
    ("5", "50%", "4:59"),
    ("2021", "50%", "2021-03-05"),
    ("5", "50%", "x > 5"),
    ("5", "50%", "5 or 6"),
    ("2.5", "50%", "2.5x"),
    ("2x", "10%", "2.01x"),
    ("2.5", "50%", "two apples"),
    ("right triangle", "50%", "left triangle"),
]


@pytest.mark.parametrize(("gold", "tolerance", "answer"), NEAR)
def test_a_number_within_the_tolerance_is_right_and_the_verdict_says_so(gold: str, tolerance: str, answer: str) -> None:
    verdict = verify(gold=Gold(gold, tolerance=tolerance), answer=answer)
    assert verdict.equal
    assert Leniency.TOLERANCE in verdict.leniencies
    assert not verify(gold=gold, answer=answer).equal or Leniency.TOLERANCE not in verdict.leniencies


@pytest.mark.parametrize(("gold", "tolerance", "answer"), FAR)
def test_nothing_else_is_near(gold: str, tolerance: str, answer: str) -> None:
    assert not verify(gold=Gold(gold, tolerance=tolerance), answer=answer).equal


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


def test_the_strict_mode_asks_for_the_form_of_the_gold_that_is_met() -> None:
    gold = Gold("10", alternatives=(r"\sqrt{50}+\sqrt{18}",))
    assert judge(gold=gold, response=r"\boxed{5+5}").verdict.method == "form"
    assert judge(gold=gold, response=r"\boxed{\sqrt{18}+\sqrt{50}}").equal
    question = r"Simplify $2+8$ or $\sqrt{50}+\sqrt{18}$."
    assert reward(r"\boxed{2+8}", gold, question) == -1.0
    assert reward(r"\boxed{10}", gold, question) == 1.0


def test_many_are_judged_as_one_by_one() -> None:
    golds = [Gold("3.5", ("7.5",), "0.1"), "3.5", Gold("1/3", ("2/3",)), Gold("3.5", (), None)]
    pairs = [(gold, rf"\boxed{{{answer}}}") for gold in golds for answer in ("3.6", "7.5", "2/3", "5+5", "")]
    assert judge_many(pairs) == [judge(gold=gold, response=response) for gold, response in pairs]
    assert sum(judgement.equal for judgement in judge_many(pairs)) == 3
