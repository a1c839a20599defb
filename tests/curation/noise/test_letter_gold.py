"""Golds that are a letter of options which the text does not hold."""

from __future__ import annotations

import pytest

from compass.curation.noise.guessable import letter_gold
from compass.settings import Denoise

LOST = [
    ("What is $3 + 4$?", "B"),
    ("How many prime numbers lie between 10 and 20?", "(C)"),
    ("Which of the following numbers is the largest?", "D"),
    ("In triangle $ABC$ the angle at $A$ is $40^\\circ$ and $AB = AC$. What is the angle at $B$?", "B"),
    ("A train needs 2 hours for 120 km. Its speed is", "A"),
    ("Which of these statements about $f(x) = x^2$ is wrong?", "C."),
    ("The solution of $2x = 8$ is ____.", "\\text{B}"),
    ("Points $A$, $B$, $C$ lie on a line with $AB = 3$ and $BC = 4$. How long is $AC$?", "A"),
    ("What is the value of $x$ if $3x = 12$?", "$\\mathbf{E}$"),
    ("Find the slope of the line through $(0, 1)$ and $(2, 5)$.", "Option C"),
    ("Tom has 7 apples and eats 3. The number of apples that are left is", "b)"),
    ("Which figure has exactly four axes of symmetry?", "D"),
    ("Compute the derivative of $x^3$ at $x = 1$.", "(A)"),
    ("Of which kind are the roots of $x^2 + 1$?", "B"),
    ("The correct relations between the forces are", "ABD"),
]

NAMED = [
    ("Players A, B and C race. A is faster than B, and C is faster than A. Who wins?", "C"),
    ("Which letter comes next: A, C, F, J, O?", "U"),
    ("The five cities are P, A, B, C and D. From which city do all roads lead away?", "B"),
    ("Simplify $A \\cup (A \\cap B)$.", "A"),
    ("What is $A \\cap B$ if $A \\subseteq B$?", "$A$"),
    ("How is 100 written in Roman numerals?", "C"),
    ("Which hexadecimal digit stands for eleven?", "B"),
    ("Four boxes are labelled A, B, C and D. Which box holds the coin if neither A, B nor D does?", "C"),
    ("What is the value of $3 + 4$?", "7"),
    ("Solve $ax + b = 0$ for $x$.", "-\\frac{b}{a}"),
    ("Which point of $A$, $B$, $C$ is nearest to the origin if $A = (1,1)$, $B = (2,0)$ and $C = (0,3)$?", "A"),
    ("Which grade does Ann get with 85 points if 80 to 89 points are a B?", "B"),
    ("Which of the letters $A$, $B$, $C$ stands for the digit 7 in $AB \\cdot C = 511$ with $A = 7$?", "A"),
    ("Express the area of a rectangle with sides $a$ and $b$.", "ab"),
    ("Which segment is the longest side of the triangle with angles $A = 90^\\circ$, $B = 30^\\circ$?", "BC"),
    ("What is the sum?\n(A) 5 (B) 6 (C) 7 (D) 8", "C"),
]


@pytest.mark.parametrize(("problem", "gold"), LOST)
def test_a_letter_that_names_no_thing_of_the_text_is_an_option_that_was_lost(problem, gold):
    finding = letter_gold({"problem": problem, "answer": gold}, Denoise())
    assert finding.drops("likely")
    assert finding.evidence["field"] == "answer"


@pytest.mark.parametrize(("problem", "gold"), NAMED)
def test_a_letter_that_the_text_names_or_asks_for_is_an_answer(problem, gold):
    finding = letter_gold({"problem": problem, "answer": gold}, Denoise())
    assert finding is None or not finding.drops("likely")


def test_a_label_that_is_asked_for_by_a_general_word_is_a_doubt():
    problem = "Boxes A, B and C are closed. Which one holds the coin if two of the labels are wrong?"
    assert letter_gold({"problem": problem, "answer": "B"}, Denoise()) is None
    problem = "Let $A$ and $B$ be events. Which is more likely?"
    assert letter_gold({"problem": problem, "answer": "A"}, Denoise()) is None


def test_no_gold_is_no_finding():
    assert letter_gold({"problem": "What is $3 + 4$?", "answer": None}, Denoise()) is None
    assert letter_gold({"problem": "What is $3 + 4$?", "answer": ""}, Denoise()) is None
