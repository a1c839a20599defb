"""Printed options with a choice, and letters in brackets that are none."""

from __future__ import annotations

import pytest

from compass.curation.noise.guessable import multiple_choice
from compass.settings import Denoise

CHOICES = [
    ("What is 3 + 4?\nA) 5\nB) 6\nC) 7\nD) 8", "7"),
    ("What is 3 + 4? (A) 5 (B) 6 (C) 7 (D) 8", "C"),
    ("What is 3 + 4? A. 5 B. 6 C. 7 D. 8", "7"),
    ("The sum $3 + 4$ is\n\n$\\textbf{(A)}\\ 5\\qquad\\textbf{(B)}\\ 6\\qquad\\textbf{(C)}\\ 7$", "7"),
    ("Which is prime?\n[A] $9$\n\n[B] $11$\n\n$[\\mathrm{C}] \\quad 15$\n\n[D] $21$", "B"),
    ("Which code is a prefix code? (a) 0, 01 (b) 0, 10", "(b)"),
    ("Is ten a digit?\n(A) No\n(B) Yes", "A"),
    ("Which of these laws has no memory? (a) Poisson. (b) Exponential. (c) Beta. (d) Uniform.", "(b)"),
    (
        "The open set is found by (a) the first lemma; (b) the second lemma; (c) none of both. Which option is correct?",
        "(a)",
    ),
    ("Choose the largest: a) 5 b) 6 c) 7 d) 4", "7"),
    ("Which conic is it? Enter the letter of the correct option.", "C"),
    ("The following are given: ① $1<2$; ② $2<1$; ③ $3>2$. The correct ones are", "①③"),
    ("What is the value of the sum $3+4$ in base ten?", "\\textbf{(C)}\\ 7"),
    ("The sum of 3 and 4 is (  ).", "B"),
    ("Select the correct answer: the slope of $y = 2x + 1$ is\nA: 1\nB: 2\nC: 3", "2"),
    ("The median of 3, 8, 9, 12 is\nA) 8 B) 8.5 C) 9 D) 10 E) none of these", "8.5"),
]

OPEN = [
    ("Let $a, b, c, d$ be the roots of $x^4 - 1$. Find $(b - a)(b - c)(b - d)$.", "4i"),
    ("Compute $(x-a)(x-b)(x-c)(x-d)\\cdots(x-z)$.", "0"),
    (
        "Find the number of words that satisfy the conditions\na) they have 4 letters;\nb) all letters differ;\nc) A comes first;\nd) B comes last.",
        "552",
    ),
    ("How many words with the letter C in the middle have the letters A, B and C once each?", "2"),
    ("Points A, B and C lie on a circle. How long is the arc AB?", "3"),
    (
        "Three lamps have these properties: (A) the first burns 3 hours, (B) the second twice as long, (C) the third as long as both. How long does the third burn?",
        "9",
    ),
    ("Team A. Miller beat team B. Jones by 12 points; the total was 88. How many points did the winners score?", "50"),
    ("In how many ways can a student choose 2 of the 5 options offered?", "10"),
    ("Simplify $(a)(b) + (a)(c) - (a)(d)$ for $a = 2$, $b = 3$, $c = 4$, $d = 1$.", "12"),
    (
        "(a) Find the roots of $x^2 - 5x + 6$. (b) Find their sum. (c) Find their product. (d) Find their difference.",
        "6",
    ),
    ("$A$, $B$, $C$ are sets with 3, 4 and 5 elements. How many elements has $A \\times B \\times C$?", "60"),
    ("A function satisfies (a) $f(0) = 1$, (b) $f(x+1) = 2f(x)$, (c) $f$ is monotonic. What is $f(5)$?", "32"),
    ("What is the sum of the digits of the number that Carl (C) and Dora (D) get from Anna (A) and Bob (B)?", "7"),
    ("A multiple choice test has 5 questions with 4 options each. In how many ways can it be answered?", "1024"),
    (
        "The machines make: A: 3 screws, B: 5 screws, C: 9 screws per minute. How many screws do they make in an hour?",
        "1020",
    ),
    ("Rectangle $ABCD$ has the vertices $A(0,0)$, $B(4,0)$, $C(4,3)$, $D(0,3)$. What is its area?", "12"),
]


@pytest.mark.parametrize(("problem", "answer"), CHOICES)
def test_a_choice_among_options_is_dropped(problem, answer):
    finding = multiple_choice({"problem": problem, "answer": answer}, Denoise())
    assert finding is not None
    assert finding.drops("likely")


@pytest.mark.parametrize(("problem", "answer"), OPEN)
def test_brackets_names_conditions_and_parts_are_no_choice(problem, answer):
    finding = multiple_choice({"problem": problem, "answer": answer}, Denoise())
    assert finding is None or not finding.drops("likely")


def test_options_that_hold_the_gold_are_sure():
    finding = multiple_choice({"problem": CHOICES[0][0], "answer": "7"}, Denoise())
    assert finding.strength == "sure"
    assert finding.evidence["span"] == [15, 32]
    assert finding.evidence["options"] == 4
