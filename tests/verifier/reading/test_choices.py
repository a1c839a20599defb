"""Letters of multiple choice with their values, several letters, letters in an order."""

from __future__ import annotations

import pytest

from compass.verifier.reading.normalise import normalise
from compass.verifier.reading.words import read_letters, same_letters, split_choice


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(B) 5", ("B", "5")),
        ("B) 94", ("B", "94")),
        (r"\textbf{(C)}\ 117", ("C", "117")),
        (r"\text{(D) a cube}", ("D", "a cube")),
        ("D. 12", ("D", "12")),
        ("(B) -5", ("B", "-5")),
        ("(C)+2", None),
        ("(C)=2", None),
        ("(C", None),
        ("(C. 5", None),
        ("A.M.", None),
        ("J) 5", None),
        ("5", None),
    ],
)
def test_a_letter_with_its_value(text: str, expected: tuple[str, str] | None) -> None:
    assert split_choice(normalise(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ACD", ("ACD", "joined")),
        ("A, C", ("AC", "listed")),
        ("b a d", ("bad", "spaced")),
        ("abc", None),
        ("A", None),
        ("A, 5", None),
    ],
)
def test_letters_alone(text: str, expected: tuple[str, str] | None) -> None:
    assert read_letters(text) == expected


@pytest.mark.parametrize(
    ("gold", "answer", "same"),
    [
        ("ACD", "D, A, C", True),
        ("ACD", "A, C", False),
        ("b a d c", "a b c d", False),
        ("b a d c", "b, a, d, c", True),
        ("A, B", "B, A", None),
        ("x y", "y x", None),
        ("ACD", "5", None),
    ],
)
def test_equal_letters(gold: str, answer: str, same: bool | None) -> None:
    assert same_letters(gold, answer) is same
