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
