"""Golds that can be guessed: a choice among options, a letter of lost options, yes or no, true or false."""

from __future__ import annotations

import pytest

from compass.curation.noise.guessable import letter_gold, multiple_choice, yes_no
from compass.settings import Denoise


def test_options_that_hold_the_gold_are_sure():
    finding = multiple_choice({"problem": "What is 3 + 4?\nA) 5\nB) 6\nC) 7\nD) 8", "answer": "7"}, Denoise())
    assert finding.strength == "sure"
    assert finding.evidence["span"] == [15, 32]
    assert finding.evidence["options"] == 4


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


def test_evidence_of_yes_or_no():
    assert evidence(yes_no, "How?", "No, " + "x" * 100) == {"answer": ("No, " + "x" * 100)[:80]}
    long = f"Is {'x' * 200} odd?"
    assert evidence(yes_no, long, "1") == {"text": long[:160]}
    assert evidence(yes_no, f"It is 7. {long}", "1") == {"text": long[:160]}
