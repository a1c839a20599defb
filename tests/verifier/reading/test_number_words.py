"""Numbers in words."""

from __future__ import annotations

import pytest

from compass.verifier.reading.numbers import write_digits

REWRITTEN = [
    ("seven", "7"),
    ("Twenty-three", "23"),
    ("forty two", "42"),
    ("one hundred and five", "105"),
    ("two thousand twenty-four", "2024"),
    ("three million two hundred thousand", "3200000"),
    ("a hundred", "100"),
    ("one half", "1/2"),
    ("half", "1/2"),
    ("two-thirds", "2/3"),
    ("three quarters", "3/4"),
    ("two and a half", "5/2"),
    ("three and two thirds", "11/3"),
    ("third", "3"),
    ("twenty-first", "21"),
    ("hundredth", "100"),
    ("3rd", "3"),
    (r"12^{\text{th}}", "12"),
    (r"2^{nd}", "2"),
    (r"30\text{th}", "30"),
    ("minus five", "-5"),
    ("negative 5", "-5"),
    ("seven apples", "7 apples"),
    ("twenty percent", "20 percent"),
    ("five dozen", "60"),
    ("zero", "0"),
    ("It is 12.5", "12.5"),
    ("the year 2024", "2024"),
    ("in the year 2024", "2024"),
]


@pytest.mark.parametrize(("text", "digits"), REWRITTEN)
def test_a_number_in_words_is_written_with_digits(text: str, digits: str) -> None:
    assert write_digits(text) == digits


@pytest.mark.parametrize(
    "text",
    ["", "x", "one-to-one", "third quadrant", "twenty thirty", "one two", "five twenty", "hundred-fold", "and", "a", "a cat", "minus", "two and", "5", "5th floor", "nineteen five",
     "three and three halves", "twenty-tenth", "onerous", "negative x", "a dozen", "year 24"],
)  # fmt: skip
def test_other_text_stays_as_it_is(text: str) -> None:
    assert write_digits(text) == text
