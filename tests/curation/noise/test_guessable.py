"""Golds that can be guessed: a choice among options, a letter of lost options, yes or no, true or false."""

from __future__ import annotations

import pytest

from compass.curation.noise.guessable import letter_gold, multiple_choice, true_false, yes_no
from compass.ledger import Reason
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


def evidence(judge, problem: str, answer: str | None = "7") -> dict | None:
    drop = judge({"problem": problem, "answer": answer}, Denoise())
    return drop and drop.evidence


@pytest.mark.parametrize(
    ("problem", "answer", "expected"),
    [
        ("Pick: A) 1 B) 2 C) 3", "7", "options"),
        ("Pick: A) 1 B) 2", "7", None),
        ("Pick:\nA one\nB two\nC three", "7", "options"),
        ("Pick (a) 1 (b) 2 (c) 3 (d) 4", "7", "options"),
        ("(a) find 1 (b) 2 (c) 3 (d) 4", "7", None),  # parts that ask, not options
        ("Enter the letter of the correct one", "7", "letter asked for"),
        ("Points A, B and C are on a line.", "7", None),
        ("What is 3 + 4?", "\\textbf{(C)}\\ 7", "gold names an option"),
        ("What is 3 + 4?", "(C) 7", "gold names an option"),
        ("What is 3 + 4?", "(C) 7" + " " * 394, "gold names an option"),
        ("What is 3 + 4?", "(C) 7" + " " * 395, None),
        ("The sum is (  )", "B", "blank for a letter"),
        ("The sum is (  )", "B" + " " * 38, "blank for a letter"),
        ("The sum is (  )", "B" + " " * 39, None),
        ("The sum is 7.", "B", None),
        ("The sum is (  )", "7", None),
        ("True are ① one ② two", "①②", "gold names statements"),
        ("True are ① one ② two", "①" + " " * 78, "gold names statements"),
        ("True are ① one ② two", "①" + " " * 79, None),
        ("True are one and two", "①", None),
        ("The correct statements are:\n1. a\n2. b\n3. c", "1, 3", "gold numbers statements"),
        ("The correct statements are:\n1. a\n2. b", "1, 2", None),
        ("The correct statements are:\n1. a\n2. b\n3. c", "12", None),
        ("The correct statements are:\n1. a\n2. b\n3. c", "1" + " " * 38, "gold numbers statements"),
        ("The correct statements are:\n1. a\n2. b\n3. c", "1" + " " * 39, None),
        ("The sum of:\n1. a\n2. b\n3. c", "1, 3", None),
        ("What is 3 + 4?", None, None),
    ],
)
def test_multiple_choice(problem, answer, expected):
    told = evidence(multiple_choice, problem, answer)
    assert (told and told["kind"]) == expected


def test_evidence_of_multiple_choice():
    assert evidence(multiple_choice, "Pick: A) 1 B) 2 C) 3")["text"] == "Pick: A) 1 B) 2 C) 3"
    assert evidence(multiple_choice, "What?", "(C) " + "x" * 100)["field"] == "answer"
    assert evidence(multiple_choice, "True are ① ②", "①②")["text"] == "①②"


@pytest.mark.parametrize(
    ("problem", "answer", "dropped"),
    [
        ("How many?", "Yes", True),
        ("How many?", "no solution", False),
        ("How many?", "No, " + "x" * 300, True),
        ("How many?", None, False),
        ("Is seven odd?", "1", True),
        ("Is seven odd", "1", False),
        ("It is 7. Is it odd?", "1", True),
        ("It is 7. Is it odd? Is it even?", "1", False),
        ("It is 7. is it odd?", "1", False),
        ("It is 7. $Is$ it odd?", "1", False),
        ("It is 7. How many are odd?", "1", False),
        ("It is 7. Can you find the sum?", "1", False),
        ("Is it odd? If so, find it.", "1", False),
        ("Is it odd? It is 7.", "1", True),
        ("It is 7. Then is it odd?", "1", True),
        ("Is there a number\nwhose square is 7?", "1", True),
    ],
)
def test_yes_or_no(problem, answer, dropped):
    drop = yes_no({"problem": problem, "answer": answer}, Denoise())
    assert bool(drop) is dropped
    assert drop is None or drop.reason == Reason.YES_NO


def test_evidence_of_yes_or_no():
    assert evidence(yes_no, "How?", "No, " + "x" * 100) == {"answer": ("No, " + "x" * 100)[:80]}
    long = f"Is {'x' * 200} odd?"
    assert evidence(yes_no, long, "1") == {"text": long[:160]}
    assert evidence(yes_no, f"It is 7. {long}", "1") == {"text": long[:160]}


@pytest.mark.parametrize(
    ("problem", "answer", "dropped"),
    [
        ("Two is even.", "True", True),
        ("Two is even.", "\\text{False}", True),
        ("Two is even.", " $\\times$ ", True),
        ("Two is even.", "True" + " " * 35, True),
        ("Two is even.", "True" + " " * 36, False),
        ("Two is even.", "Truth", False),
        ("Two is even.", None, False),
        ("Judge whether the statement is correct: 2 is even", "1", True),
        ("(Right or wrong) 2 is even", "1", True),
        ("Right or wrong, do it: what is 3 + 4?", "1", True),
        ("Is this statement true or false? It counts.", "1", True),
    ],
)
def test_true_or_false(problem, answer, dropped):
    assert bool(true_false({"problem": problem, "answer": answer}, Denoise())) is dropped
