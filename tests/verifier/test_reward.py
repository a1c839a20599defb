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
    for response, reason in (
        ("", "empty"),
        (" \n", "empty"),
        ("<think>Add", "cut off"),
        ("I cannot say.", "not found"),
    ):
        judgement = judge(gold="4", response=response)
        assert (judgement.answer, judgement.evidence) == (None, reason)
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


@pytest.mark.parametrize(
    ("question", "gold", "copied", "others"),
    [
        ("Write 45000 in scientific notation.", r"4.5 \times 10^4", "45000", ["4.5e4", r"45 \times 10^3"]),
        ("Write 45,000 m in scientific notation.", r"4.5 \times 10^4\text{ m}", "45,000", [r"4.5 \cdot 10^4 m"]),
        ("Write 0.00032 in scientific notation.", r"3.2 \times 10^{-4}", "0.00032", [r"3.2 \cdot 10^{-4}"]),
        (r"Write $4.5 \times 10^4$ in standard form.", "45000", r"4.5 \times 10^4", ["45000.0", r"45 \times 10^3"]),
        ("Write 72 as a product of primes.", r"2^3 \cdot 3^2", "72", [r"3^2 \cdot 2^3"]),
        ("Make 24 of 2, 4, 12 and 40.", r"40 \div 4 + 12 + 2", "24", ["40/4+12+2"]),
        (r"Write $\frac72$ as a mixed number.", r"3\frac12", r"\frac72", ["3 1/2", "3.5"]),
        ("Write 3.5 as a mixed number.", r"3\frac12", "3.5", [r"\frac72"]),
        (r"Write $3\frac12$ as a fraction.", r"\frac72", r"3\frac12", ["7/2", "14/4"]),
        ("Write 0.15 as a fraction.", r"\frac{3}{20}", "0.15", ["3/20"]),
        (r"Write $-\frac{3}{20}$ as a decimal.", "-0.15", r"-\frac{3}{20}", ["-.15"]),
        ("Write -3/20 as a decimal.", "-0.15", "-3/20", ["-.15"]),
        ("Write -45000 in scientific notation.", r"-4.5 \times 10^4", "-45000", ["-4.5e4"]),
        ("Write -3.5 as a mixed number.", r"-3\frac12", "-3.5", ["-3 1/2"]),
        ("Write 25 percent as a decimal.", "0.25", r"25\%", [".25"]),
        ("Write -25% as a fraction.", r"-\frac14", "-25%", ["-1/4"]),
        ("Write 2‰ as a decimal.", "0.002", r"2\text{ permille}", [".002"]),
        ("Write 25 per cent as a decimal.", "0.25", "25 percent", [".25"]),
        ("Write 3 parts per million as a decimal.", "0.000003", "3 ppm", ["3e-6"]),
        (r"Write $\frac{-3}{20}$ as a decimal.", "-0.15", r"\frac{3}{-20}", ["-.15"]),
        ("Write 30 ppm as a decimal.", "0.00003", "30 ppm", ["3e-5"]),
    ],
)
def test_a_number_of_the_question_is_not_paid_where_the_gold_writes_it_in_another_way(
    question: str, gold: str, copied: str, others: list[str]
) -> None:
    def is_paid(answer: str) -> bool:
        return judge(gold=gold, response=rf"It is \boxed{{{answer}}}.", question=question).equal

    assert [answer for answer in (gold, *others) if not is_paid(answer)] == []
    assert not is_paid(copied)


@pytest.mark.parametrize(
    ("question", "gold", "answer"),
    [
        ("Two is 5% of x. What is x - 35?", "5", "5%"),
        ("What is c, if a = 1, b = 2 and ab + 1 = 3?", r"\sqrt{9}", "3"),
        ("What is x - 1, if x = 0.5?", r"-\frac12", "-0.5"),
        ("Of 25 permille, how many were left?", "25", "25‰"),
    ],
)
def test_a_value_that_is_worked_out_is_paid_though_the_question_holds_its_number(
    question: str, gold: str, answer: str
) -> None:
    assert judge(gold=gold, response=rf"It is \boxed{{{answer}}}.", question=question).equal


def test_a_mode_may_be_given_by_its_name_and_an_unknown_one_is_refused():
    copied = {"gold": r"8\sqrt{2}", "response": r"$\boxed{\sqrt{50}+\sqrt{18}}$"}
    question = r"Simplify $\sqrt{50}+\sqrt{18}$."
    for mode in Mode:
        assert judge(**copied, question=question, mode=mode.value) == judge(**copied, question=question, mode=mode)
    with pytest.raises(ValueError, match="'Strict' is not a valid Mode"):
        judge(**copied, mode="Strict")
