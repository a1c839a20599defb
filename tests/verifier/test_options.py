"""Options of a multiple-choice question; that a letter and its value are one answer is in `tests/data/response_labels.jsonl`."""

import pytest

from compass.verifier import judge
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


def test_without_its_question_a_letter_is_no_value() -> None:
    assert judge(gold="C", response=r"\boxed{7}", question=QUESTION).equal
    assert not judge(gold="C", response=r"\boxed{7}").equal
