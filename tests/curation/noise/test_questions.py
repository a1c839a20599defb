"""Multiple choice, parts, several questions, yes or no, and answers given: the edges of their rules."""

from __future__ import annotations

import pytest

from compass.curation.noise.answer_given import answer_given
from compass.curation.noise.guessable import multiple_choice, yes_no
from compass.curation.noise.multi_part import multi_part
from compass.curation.noise.multi_question import multi_question
from compass.ledger import Reason
from compass.settings import Denoise

SETTINGS = Denoise()


def row(problem: str, answer: str | None = "7") -> dict:
    return {"problem": problem, "answer": answer}


def evidence(judge, problem: str, answer: str | None = "7") -> dict | None:
    drop = judge(row(problem, answer), SETTINGS)
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
    ("problem", "style", "parts", "asking"),
    [
        ("(1) Find a. (2) Find b.", "(1)", 2, 2),
        ("(1) a is 3. (2) Find b.", None, 0, 0),
        ("(1) Find a.", None, 0, 0),
        ("(1) Find a. (2) Find b. (3) It is odd. Use (1).", "(1)", 3, 2),
        ("Find the sum of:\n(1) 3+4;\n(2) 4+5", "(1)", 2, 0),
        ("A map satisfies the conditions\n(1) 3;\n(2) 5", None, 0, 0),
        ("How many arrangements are there under these conditions? (1) a (2) b", "(1)", 2, 0),
        ("(a) Find x. (b) Find y.", "(a)", 2, 2),
        ("What is the least one?\na) an odd one\nb) find an even one", "a)", 2, 1),
        ("It satisfies the conditions. What is it?\na) odd\nb) find it", "a)", 2, 1),
        ("What satisfies these conditions?\na) odd\nb) find it", None, 0, 0),
        ("It is so.\na) odd\nb) find it", None, 0, 0),
        ("What is it?\n1. odd\n2. find it", None, 0, 0),
        ("1. Find x.\n2. Find y.", "1.", 2, 2),
        ("Part A Find x.\nPart B Find y.", "Part", 2, 2),
        ("**p1.** Find x. **p2.** Find y.", "p1", 2, 2),
        ("① Find x; ② find y", "①", 2, 2),
        ("(i) Find x. (ii) Find y.", "(i)", 2, 2),
        ("(I) Find x. (II) Find y.", "(I)", 2, 2),
        ("(1) 求甲 (2) 求乙", "(1)", 2, 2),
        ("(1) Is it odd (2) Has it a root", "(1)", 2, 2),
        ("Start<br>1. Find x.<br/>2. Find y.", "1.", 2, 2),
        ("\\((\\)1\\()\\) Find x. \\((\\)2\\()\\) Find y.", "(1)", 2, 2),
    ],
)
def test_parts_that_ask(problem, style, parts, asking):
    told = evidence(multi_part, problem)
    if style is None:
        assert told is None
    else:
        assert (told["style"], told["parts"], told["asking"]) == (style, parts, asking)


def test_the_evidence_of_parts_is_the_second_mark():
    assert evidence(multi_part, "(1) Find a. (2) Find b.")["text"] == "(1) Find a. (2) Find b."
    far = f"(1) Find {'x' * 100} (2) Find {'y' * 100}"
    assert evidence(multi_part, far)["text"] == far[70:153]


@pytest.mark.parametrize(
    ("problem", "questions"),
    [
        ("How many are odd? How many are even?", ["How many are odd?", "How many are even?"]),
        ("Is it odd? Why or when?", None),
        ("The sum? The product then?", None),
        ("How many are odd? 7?", None),
        ("What is it worth? Additionally, there is one. Calculate it.", ["What is it worth?", "Calculate it."]),
        ("How much is it as a/b? What is a + b?", None),
        ("How many are odd?", None),
        ("Find a. Also find b.", ["Also find b."]),
        ("Find a. And find b.", None),
        ("How many are odd? And find b.", ["How many are odd?", "And find b."]),
        ("What is it? Additionally, there is one. Calculate it.", ["What is it?", "Calculate it."]),
        ("There is one. Calculate it. Additionally, what is it?", None),
        ('He asks "How many are odd?" and she asks "How many are even?"', None),
        ("How many are odd? (How many are even?)", None),
    ],
)
def test_several_questions(problem, questions):
    told = evidence(multi_question, problem)
    assert (told and told["questions"]) == questions


def test_four_questions_of_120_characters_are_evidence():
    questions = [f"How many {letter * 150} {letter}{letter} are odd?" for letter in "abcde"]
    told = evidence(multi_question, " ".join(questions))
    assert told["questions"] == [question[-120:] for question in questions[:4]]


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
    drop = yes_no(row(problem, answer), SETTINGS)
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
    assert bool(evidence(answer_given, problem, answer)) is dropped


def test_a_gold_that_the_problem_writes_as_a_formula_is_given():
    assert evidence(answer_given, r"Which is larger, $\sqrt{2}$ or $\sqrt{3}$?", r"\sqrt3") == {"formula": r"\sqrt3"}
    assert not evidence(answer_given, r"Simplify $\sqrt{12}$.", r"2\sqrt3")
    assert not evidence(answer_given, "Tom has $12$ apples and eats none. How many are left?", "12")


def test_evidence_of_a_given_answer():
    box = "x" * 200
    assert evidence(answer_given, f"It is \\boxed{{{box}}}", box)["boxed"] == box[:120]
    assert evidence(answer_given, "How many? Answer: 7", "7")["span"] == [10, 19]
    assert evidence(answer_given, "Odd. Hence it is 7.", "7")["text"] == "Odd. Hence it is 7."


def test_the_gold_stands_within_twelve_characters_of_the_end():
    assert evidence(answer_given, "Odd. Hence 7" + "x" * 12, "7")
    assert not evidence(answer_given, "Odd. Hence 7" + "x" * 13, "7")
