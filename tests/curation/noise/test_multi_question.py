"""Several questions with one gold, and one question that is asked twice or in two steps."""

from __future__ import annotations

import pytest

from compass.curation.noise.multi_question import multi_question
from compass.settings import Denoise


def evidence(problem: str, answer: str | None = "7") -> dict | None:
    finding = multi_question({"problem": problem, "answer": answer}, Denoise())
    return finding and finding.evidence


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
    told = evidence(problem)
    assert (told and told["questions"]) == questions


def test_four_questions_of_120_characters_are_evidence():
    questions = [f"How many {letter * 150} {letter}{letter} are odd?" for letter in "abcde"]
    told = evidence(" ".join(questions))
    assert told["questions"] == [question[-120:] for question in questions[:4]]
