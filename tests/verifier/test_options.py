"""Options of a multiple-choice question: a letter and its value are one answer."""

import pytest

from compass.verifier import Mode, judge, judge_many
from compass.verifier.options import find_stem, read_options

QUESTION = "What is 3 + 4?\n(A) 5 (B) 6 (C) 7 (D) 8"
PRINTED = [
    (QUESTION, {"A": "5", "B": "6", "C": "7", "D": "8"}),
    ("Which is a pet?\nA. cat\nB. oak\nC. 3 stones\n", {"A": "cat", "B": "oak", "C": "3 stones"}),
    (
        r"Find x. $\textbf{(A)}\ 3 \qquad \textbf{(B)}\ 4 \qquad\textbf{(C)}\ \frac{1}{2}$",
        {"A": "3", "B": "4", "C": r"\frac{1}{2}"},
    ),
    ("Let A. be a point and B. another. Options:\nA) 1\nB) 2", {"A": "1", "B": "2"}),
    ("Points A and B are 4 apart.", {}),
    ("(A) 1 (C) 2", {}),
    ("A. only one", {}),
    ("", {}),
]


@pytest.mark.parametrize(("question", "options"), PRINTED)
def test_printed_options_are_read(question: str, options: dict[str, str]) -> None:
    assert read_options(question) == options


def test_the_stem_is_the_question_without_its_options() -> None:
    assert find_stem(QUESTION) == "What is 3 + 4?\n"
    assert find_stem("What is 3 + 4?") == "What is 3 + 4?"


@pytest.mark.parametrize(
    ("gold", "response", "equal"),
    [
        ("C", r"\boxed{7}", True),
        ("C", r"\boxed{7.0}", True),
        ("C", r"\boxed{8}", False),
        ("C", r"\boxed{9}", False),
        ("C", r"\boxed{3+4}", False),  # not worked out
        ("C", r"\boxed{5, 6, 7, 8}", False),
        ("7", "The answer is (C).", True),
        ("7", "The answer is (B).", False),
        ("7", "The answer is (E).", False),
        ("C", "The answer is (B).", False),
    ],
)
def test_a_value_is_its_letter_and_a_letter_its_value(gold: str, response: str, equal: bool) -> None:
    assert judge(gold=gold, response=response, question=QUESTION).equal is equal
    assert judge(gold=gold, response=response, question=None).equal is False
    assert judge_many([(gold, response)], questions=[QUESTION]) == [
        judge(gold=gold, response=response, question=QUESTION)
    ]


def test_a_value_that_two_options_have_is_none_of_them() -> None:
    question = "Which?\n(A) 0.5 (B) 1/2 (C) 2"
    assert not judge(gold="A", response=r"\boxed{0.5}", question=question, mode=Mode.LENIENT).equal
