"""What the strict mode asks of an answer beyond being equal: a final form, and that it is not the question's own formula."""

from __future__ import annotations

import pytest

from compass.verifier import Mode, judge, judge_many, reward
from compass.verifier.form import gives_away, is_final

FINAL = [
    ("10", "10.0"), ("10", r"10\text{ cm}"), ("10", "x = 10"), ("10", "5 + 5 = 10"), ("1/2", r"\frac{2}{4}"), ("0.5", r"\frac12"),
    ("200000", r"2 \times 10^5"), (r"2\sqrt3", r"\sqrt{12}"), (r"\binom{10}{3}", r"\binom{10}{7}"), ("x+1", "1+x"), ("7/2", r"3\frac12"),
    ("-3", "-3"), ("50%", "0.5"), (r"\{1,2\}", r"\{2,1\}"), (r"\pi/4", r"\frac{\pi}{4}"), ("2^{10}", "2^{10}"), ("1+i", "i+1"),
]  # fmt: skip
NOT_FINAL = [
    ("10", "5+5"), ("10", r"\frac{20}{2}"), ("10", r"\sqrt{100}"), ("10", r"2 \cdot 5"), ("1024", "2^{10}"), ("120", "5!"), ("10", r"\binom{5}{2}"),
    ("1", r"\sin\frac{\pi}{2}"), (r"\pi", r"\pi+2-2"), ("10", "x = 5+5"), ("(1,2)", "(1,1+1)"), ("55", r"\sum_{k=1}^{10} k"), ("26000", "1000(26)"),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "answer"), FINAL)
def test_final_forms_are_paid_in_both_modes(gold: str, answer: str) -> None:
    assert is_final(gold, answer)
    assert [reward(rf"\boxed{{{answer}}}", gold, mode=mode) for mode in Mode] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(("gold", "answer"), NOT_FINAL)
def test_open_arithmetic_is_paid_in_the_lenient_mode_alone(gold: str, answer: str) -> None:
    assert [reward(rf"\boxed{{{answer}}}", gold, mode=mode) for mode in Mode] == [-1.0, 1.0, 1.0]
    assert judge(gold=gold, response=rf"\boxed{{{answer}}}").verdict.detail == "equal, but not worked out"


COPIED = [
    (r"Simplify $\sqrt{50}+\sqrt{18}$.", r"8\sqrt2", r"\sqrt{50}+\sqrt{18}"),
    (r"Simplify $\sqrt{50}+\sqrt{18}$.", r"8\sqrt2", r"\sqrt{18}+\sqrt{50}"),
    (r"Simplify $\sqrt{50}+\sqrt{18}$.", r"8\sqrt2", r"x = \left(\sqrt{50}+\sqrt{18}\right)+0"),
    (r"Simplify $\sqrt{50}+\sqrt{18}$.", r"8\sqrt2", r"1 \cdot (\sqrt{50}+\sqrt{18})"),
    (r"Expand $(x+1)(x-1)$.", "x^2-1", "(x+1)(x-1)"),
    (r"Expand $(x+1)(x-1)$.", "x^2-1", "(x-1)(x+1)+1-1"),
    (r"Factor $f(x) = x^2-1$.", "(x+1)(x-1)", "x^2-1"),
    (r"Factor $f(x) = x^2-1$.", "(x+1)(x-1)", "f(x)=x^2-1"),
    ("Expand (x+1)(x-1) please.", "x^2-1", "(x+1)(x-1)"),
    (r"Solve \[ 2x < 6 \] for real $x$.", "x < 3", "2x < 6"),
    (r"Put $x + y - 1 = 0$ into another form.", "y = 1 - x", "x+y-1=0"),
    (r"Write $\frac{3}{20}$ as a decimal.", "0.15", r"\frac{3}{20}"),
    (r"Reduce $\frac{42}{56}$.", r"\frac34", r"\frac{42}{56}"),
    (r"With $PA=1, PB=2,$ and $PD=4$, what is $r+s$?", "4", "PD=4"),
    (r"With $PA=1, PB=2,$ and $PD=4$, what is $r+s$?", "4", "DP = 4.0"),
    (r"With $PA=1, PB=2,$ and $PD=4$, what is $r+s$?", "4", "x = PD = 4"),
    (r"With $PA=1, PB=2,$ and $PD=4$, what is $r+s$?", "4", r"PD = 4\text{ cm}"),
    (r"If $f(2)=9$, find $f(9)$.", "9", "f(2)=9"),
]
OWN = [
    (r"Simplify $\sqrt{50}+\sqrt{18}$.", r"8\sqrt2", r"8\sqrt{2}"),
    (r"Simplify $\sqrt{50}+\sqrt{18}$.", r"8\sqrt2", r"\sqrt{50}+\sqrt{18} = 8\sqrt{2}"),
    (r"Expand $(x+1)(x-1)$.", "x^2-1", "-1+x^2"),
    ("Tom has 12 apples and eats none. How many are left?", "12", "12"),
    (r"With $p = \frac14$, what is $2p - \frac14$?", "1/4", r"\frac{1}{4}"),
    (r"What is $x+1$ if $x = y$?", "y+1", "1+y"),
    (r"Which is larger, $\sqrt2$ or $\sqrt3$?", r"\sqrt3", r"\sqrt{3}"),
    ("Tom pays $1,000. What is it?", "1000", "1,000"),
    (r"With $PA=1, PB=2,$ and $PD=4$, what is $PE$?", "4", "PE=4"),
    (r"With $PA=1, PB=2,$ and $PD=4$, what is $PB^2$?", "4", "4"),
    (r"Which one is it? (A) $x=2$ (B) $x=4$", "4", "x=4"),
    (r"Write $x-4=0$ as $x=4$.", "x=4", "x=4"),
]


@pytest.mark.parametrize(("question", "gold", "answer"), COPIED)
def test_a_formula_of_the_question_earns_nothing(question: str, gold: str, answer: str) -> None:
    response = rf"\boxed{{{answer}}}"
    assert reward(response, gold, question) == -1.0
    assert reward(response, gold, question, Mode.LENIENT) == 1.0


@pytest.mark.parametrize(("question", "gold", "answer"), OWN)
def test_an_answer_of_its_own_is_paid(question: str, gold: str, answer: str) -> None:
    assert reward(rf"\boxed{{{answer}}}", gold, question) == 1.0


def test_many_are_judged_with_their_questions_as_one_by_one() -> None:
    rows = [*COPIED, *OWN]
    pairs = [(gold, rf"\boxed{{{answer}}}") for _, gold, answer in rows]
    for mode in Mode:
        assert judge_many(pairs, questions=[question for question, _, _ in rows], mode=mode) == [
            judge(gold=gold, response=response, question=question, mode=mode)
            for (question, _, _), (gold, response) in zip(rows, pairs, strict=True)
        ]


def test_a_question_that_writes_its_gold_gives_it_away() -> None:
    assert gives_away(r"\sqrt{3}", r"Which is larger, $\sqrt2$ or $\sqrt3$?")
    assert gives_away("(0,3)", "Name the point $(0,3)$.")
    assert not gives_away(r"8\sqrt2", r"Simplify $\sqrt{50}+\sqrt{18}$.")
    assert not gives_away("12", "Tom has 12 apples, $x = 12$.")
    assert not gives_away("x", "Find $x$.")
