"""What verdicts lean on."""

from __future__ import annotations

import threading

import pytest

from compass.verifier import Leniency, verify
from compass.verifier.verdict import lean, list_leniencies, mark, rewind

LEANING = [
    ("15", r"15\text{ cm}", "unit"),
    (r"3\text{ cm}", "3 units", "unit"),
    ("50%", "50", "percent"),
    ("50%", "0.5", "percent"),
    (r"\frac{3}{2}\%", "1.5", "percent"),
    (r"60^\circ", "60", "degree"),
    (r"60^\circ", r"\pi/3", "degree"),
    ("3.14", r"\pi", "rounding"),
    ("2.33", "7/3", "rounding"),
    (r"\sqrt{17}", "4.123105625617661", "rounding"),
    ("(1,2)", "1, 2", "container"),
    (r"\{1,2\}", "1, 2", "container"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", "(1,2)", "container"),
    ("no solution", "none", "wording"),
    ("x=5", "5", "name"),
    ("x=y+5", "y+5", "name"),
    ("f(x)=x^2", "f(t)=t^2", "name"),
    ("5", "about 5", "approximate"),
]
STRAIGHT = [
    ("5", "5"),
    (r"\frac12", "0.5"),
    ("2 cm", "2 centimeters"),
    ("5 meters", "500 centimeters"),
    ("50%", r"\frac{100}{2}\%"),
    ("(1,2)", r"(1, \frac{4}{2})"),
    ("x=5", "x=10/2"),
    ("x+1", "1+x"),
    (r"x\le 3", r"(-\infty,3]"),
]


@pytest.mark.parametrize(("gold", "answer", "leniency"), LEANING)
def test_a_rule_that_leans_is_named(gold: str, answer: str, leniency: str) -> None:
    for _ in range(2):  # the second time from cached trees
        verdict = verify(gold=gold, answer=answer)
        assert (verdict.equal, verdict.leniencies) == (True, (Leniency(leniency),))


@pytest.mark.parametrize(("gold", "answer"), STRAIGHT)
def test_an_answer_that_says_the_same_leans_on_nothing(gold: str, answer: str) -> None:
    verdict = verify(gold=gold, answer=answer)
    assert (verdict.equal, verdict.leniencies) == (True, ())


def test_a_verdict_may_lean_on_several_rules() -> None:
    verdict = verify(gold="x=15", answer=r"15\text{ cm}")
    assert verdict.leniencies == (Leniency.UNIT, Leniency.NAME)


def test_what_a_comparison_tried_in_vain_is_forgotten() -> None:
    assert verify(gold="(15 cm, 2)", answer="(15, 3)").leniencies == ()
    assert verify(gold="5", answer="5.0").leniencies == ()
    assert verify(gold=r"\{50\%, \frac{1}{2}+\sqrt{2}\}", answer=r"\{\sqrt{2}+\frac{1}{2}, 50\%\}").leniencies == ()


def test_a_record_belongs_to_its_thread_and_can_go_back() -> None:
    rewind()
    lean(Leniency.UNIT)
    marked = mark()
    lean(Leniency.NAME)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(mark()))
    thread.start()
    thread.join()
    assert seen == [0]
    assert list_leniencies(rewind(marked)) == (Leniency.UNIT, Leniency.NAME)
    assert list_leniencies(rewind()) == (Leniency.UNIT,)
    assert list_leniencies(mark()) == ()
