"""Problems that already tell their gold, and those in which it only happens to stand."""

from __future__ import annotations

import pytest

from compass.curation.noise.answer_given import answer_given
from compass.settings import Denoise


def strength(problem: str, answer: str) -> str | None:
    finding = answer_given({"problem": problem, "answer": answer}, Denoise())
    return finding and str(finding.strength)


@pytest.mark.parametrize(
    ("problem", "answer"),
    [
        (r"The distance between the two trees is \boxed{14} metres. How far apart are they?", "14"),
        ("How many apples has Ann? Answer: 12.", "12"),
        ("Solve 2x = 10 for x. Ans: x=5", "x=5"),
    ],
)
def test_a_gold_that_is_said_to_be_the_answer_is_sure(problem: str, answer: str) -> None:
    assert strength(problem, answer) == "sure"


@pytest.mark.parametrize(
    ("problem", "answer"),
    [
        (r"Show that for all $n$ the sum is $\frac{n(n+1)(2n+1)}{6}$.", r"\frac{n(n+1)(2n+1)}{6}"),
        (r"The sum is bounded for $-\frac{2}{3} < x \le \frac{5}{7}$ alone.", r"-\frac{2}{3} < x \le \frac{5}{7}"),
        (r"The circle has the equation $(x-3)^2+(y-4)^2=25$. Its equation is to be found.", "(y-4)^2+(x-3)^2=25"),
    ],
)
def test_a_long_gold_that_stands_there_is_likely(problem: str, answer: str) -> None:
    assert strength(problem, answer) == "likely"


@pytest.mark.parametrize(
    ("problem", "answer"),
    [
        (r"A triangle has the altitude $\sqrt{3}$ and a right angle. Find its area.", r"\sqrt{3}"),
        (r"The volume of a ball is $36\pi$. What is its surface?", r"36\pi"),
        (
            r"Let $A = \begin{pmatrix} 0 & 1 & 0 \\ 0 & 0 & 1 \\ 1 & 0 & 0 \end{pmatrix}$. Compute $A^{61}$.",
            r"\begin{pmatrix} 0 & 1 & 0 \\ 0 & 0 & 1 \\ 1 & 0 & 0 \end{pmatrix}",
        ),
    ],
)
def test_a_given_length_or_matrix_may_be_the_answer_by_chance(problem: str, answer: str) -> None:
    assert strength(problem, answer) == "possible"


@pytest.mark.parametrize(
    ("problem", "answer"),
    [
        ("Tom has 12 apples and eats none. How many has he?", "12"),
        (r"The point is $(1,\sqrt{3})$. Find its distance from the $x$-axis.", r"\sqrt{3}"),
        (r"Find the area. A) $\frac{3\sqrt{5}+1}{2}$ B) $2\sqrt{5}$ C) $4$", r"\frac{3\sqrt{5}+1}{2}"),
        ("[asy] Q = (sqrt(65),0); [/asy] What is $QS$?", r"\sqrt{65}"),
        (r"Simplify $\sqrt{50}+\sqrt{18}$.", r"8\sqrt{2}"),
    ],
)
def test_numbers_coordinates_options_and_drawing_code_give_nothing_away(problem: str, answer: str) -> None:
    assert strength(problem, answer) is None


def test_a_short_formula_among_the_data_is_a_doubt():
    problem = "If $BD = \\frac{\\sqrt{3}}{2}$, find the area of the triangle."
    finding = answer_given({"problem": problem, "answer": "\\frac{\\sqrt{3}}{2}"}, Denoise())
    assert (finding.strength, finding.evidence["formula"]) == ("possible", "\\frac{\\sqrt{3}}{2}")


def test_spacing_commands_and_order_make_no_other_formula():
    problem = "The derivative is $3x^2 - 4 + 2\\cos(x)$. What is it?"
    assert answer_given({"problem": problem, "answer": "2 \\cos (x) - 4 + 3 x^{2}"}, Denoise()).drops("likely")


def evidence(problem: str, answer: str | None = "7") -> dict | None:
    finding = answer_given({"problem": problem, "answer": answer}, Denoise())
    return finding and finding.evidence


@pytest.mark.parametrize(
    ("problem", "answer", "dropped"),
    [
        ("It is $\\boxed{7}$.", "7", True),
        ("It is $\\boxed{ 7 }$.", "$7$", True),
        ("It is $\\boxed{8}$.", "7", False),
        ("How many? Answer: 7", "7", True),
        ("How many? Answer: 7.", "7", True),
        ("How many? Answer: 71", "7", False),
        ("How many? Answer: 7a", "7", True),
        ("How many? Answer: xy", "x", False),
        ("How many? Answer: x2", "x", True),
        ("How many? Result = $7$", "7", True),
        ("So it is. Hence it is 7.", "7", True),
        ("So it is. Hence it is 7. What is it", "7", False),
        ("So it is. Hence it is 8.", "7", False),
        ("So it is. Hence 7 plus one and something is what we have here", "7", False),
        ("Two. So the answer is 9. Now go on", "7", True),
        ("How many? Answer: 7", "", False),
        ("How many? Answer: 7", None, False),
    ],
)
def test_answers_that_are_given(problem, answer, dropped):
    assert bool(evidence(problem, answer)) is dropped


def test_evidence_of_a_given_answer():
    box = "x" * 200
    assert evidence(f"It is \\boxed{{{box}}}", box)["boxed"] == box[:120]
    assert evidence("How many? Answer: 7", "7")["span"] == [10, 19]
    assert evidence("Odd. Hence it is 7.", "7")["text"] == "Odd. Hence it is 7."


def test_the_gold_stands_within_twelve_characters_of_the_end():
    assert evidence("Odd. Hence 7" + "x" * 12, "7")
    assert not evidence("Odd. Hence 7" + "x" * 13, "7")
