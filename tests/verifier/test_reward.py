"""A response judged by its final answer."""

from __future__ import annotations

import pytest

from compass.verifier import Mode, Outcome, judge, reward

RESPONSES = [
    ("1/2", r"so \boxed{0.5}", "0.5", Outcome.EQUAL),
    ("1/2", r"so \boxed{0.6}", "0.6", Outcome.DIFFERENT),
    ("1/2", r"so \boxed{0.6}}{", "0.6", Outcome.DIFFERENT),
    ("1/2", r"so \boxed{9^{9^{9^9}}}", "9^{9^{9^9}}", Outcome.UNRECOGNISED),
    ("1/2", "", None, Outcome.UNRECOGNISED),
]


@pytest.mark.parametrize(("gold", "response", "answer", "outcome"), RESPONSES)
def test_a_response_is_judged_by_its_final_answer(
    gold: str, response: str, answer: str | None, outcome: Outcome
) -> None:
    judgement = judge(gold=gold, response=response)
    assert (judgement.answer, judgement.verdict.outcome) == (answer, outcome)
    assert judgement.equal is (outcome is Outcome.EQUAL)


def test_a_response_without_an_answer_says_so() -> None:
    judgement = judge(gold="4", response="")
    assert judgement.answer is None
    assert judgement.verdict.outcome is Outcome.UNRECOGNISED


def test_the_reward_is_plus_or_minus_one() -> None:
    assert reward(r"so \boxed{0.5}", r"\frac12") == 1.0
    assert reward(r"so \boxed{0.6}", r"\frac12") == -1.0
    assert reward("", r"\frac12") == -1.0


def test_a_whole_number_for_a_percentage_is_worked_out_whatever_numbers_the_question_holds() -> None:
    question = (
        "A square of side 40 holds a triangle of base 20 and height 40. What percent of the square is the triangle?"
    )
    assert judge(gold=r"25\%", response=r"It is \boxed{25}.", question=question).equal
    assert not judge(gold=r"25\%", response=r"It is \boxed{1/4}.", question=question + " Write 1/4 so.").equal


def test_a_mode_may_be_given_by_its_name_and_an_unknown_one_is_refused():
    copied = {"gold": r"8\sqrt{2}", "response": r"$\boxed{\sqrt{50}+\sqrt{18}}$"}
    question = r"Simplify $\sqrt{50}+\sqrt{18}$."
    for mode in Mode:
        assert judge(**copied, question=question, mode=mode.value) == judge(**copied, question=question, mode=mode)
    with pytest.raises(ValueError, match="'Strict' is not a valid Mode"):
        judge(**copied, mode="Strict")
