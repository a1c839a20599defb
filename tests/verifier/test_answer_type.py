"""The type of an answer."""

from __future__ import annotations

import pytest

from compass.verifier import is_wordy, verify

WORDY = [
    "Ann wins",
    "the midpoint of side BC",
    "no two of them touch",
    "at least three red balls",
    "Ann goes first and Bo second",
]
NAMES = [
    "Tuesday", "right triangle", "Team A", "Team A and Team B", "Monday, Tuesday or Friday", "no solution", "infinitely many solutions",
    "all real numbers", "any odd number", "n is even", "The function $g$ is even.", "it is Thursday", "8:39 p.m.", "March 5, 2021", "three apples", "(B)", "7",
    "x+1", "", "1" * 4001,
]  # fmt: skip


@pytest.mark.parametrize("answer", WORDY)
def test_a_statement_in_words_is_wordy(answer: str) -> None:
    assert is_wordy(answer)
    assert is_wordy(rf"\text{{{answer}}}")


@pytest.mark.parametrize("answer", NAMES)
def test_a_name_a_known_phrase_and_a_value_are_not(answer: str) -> None:
    assert not is_wordy(answer)


def test_what_is_wordy_is_refused_in_other_words() -> None:
    assert not verify(gold="Ann wins", answer="the winner is Ann").equal
    assert not verify(gold="the midpoint of side BC", answer="the middle of BC").equal
