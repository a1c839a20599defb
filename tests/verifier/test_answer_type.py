"""The type of an answer."""

from __future__ import annotations

import pytest

from compass.verifier import answer_type, is_wordy, verify

TYPES = [
    ("5", "integer"),
    ("-5", "integer"),
    ("1/2", "fraction"),
    ("0.5", "decimal"),
    ("5.0", "integer"),
    ("50%", "percent"),
    (r"50\%", "percent"),
    (r"90^\circ", "quantity"),
    (r"5\text{ cm}", "quantity"),
    ("x", "expression"),
    ("x+1", "expression"),
    (r"\pi", "constant"),
    (r"\sqrt2", "constant"),
    ("3+i", "complex"),
    ("e^{i}", "complex"),
    ("A", "choice"),
    ("(B)", "choice"),
    ("even", "text"),
    ("4:30 pm", "text"),
    ("May 5", "text"),
    ("this is one long sentence 5", "text"),
    ("#", "unrecognised"),
    ("x=5", "integer"),
    ("x=y", "equation"),
    ("y=2x+1", "equation"),
    ("x+1=2", "equation"),
    ("1+1=2", "equation"),
    ("x<5", "inequality"),
    (r"x\le y", "inequality"),
    ("(1,2)", "tuple"),
    ("[1,2]", "interval"),
    ("[1,2)", "interval"),
    (r"(1,\infty)", "interval"),
    (r"\langle 1,2\rangle", "tuple"),
    ("[1,2,3]", "tuple"),
    ("(1,2,3)", "tuple"),
    (r"\{1,2\}", "set"),
    ("1,2", "list"),
    (r"\pm 2", "list"),
    ("1:2", "ratio"),
    ("52_8", "based"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", "matrix"),
    (r"2\begin{pmatrix}1\\2\end{pmatrix}", "matrix"),
    (r"\begin{cases}1\\2\end{cases}", "cases"),
    (r"A\cup B", "set"),
    (r"\mathbb{R}", "set"),
    (r"\text{cm}", "expression"),
    (r"\frac42", "integer"),
    ("2^{10}", "integer"),
    ("2^{-1}", "fraction"),
    (r"x\%", "percent"),
    (r"\frac12\%", "percent"),
    (r"x^\circ", "quantity"),
    (r"(1,2)\text{ cm}", "tuple"),
    (r"\frac10", "unrecognised"),
    ("9^{9^{9^9}}", "unrecognised"),
    ("", "unrecognised"),
    ("1" * 4001, "unrecognised"),
    ("x=1,2", "list"),
    ("(x,y)=(1,2)", "tuple"),
    (r"x\in[1,2]", "interval"),
    ("f(x)=3", "integer"),
    (r"\text{area}=5", "integer"),
    (r"-\infty", "constant"),
    ("5!", "integer"),
    ("1,000", "integer"),
]


@pytest.mark.parametrize(("answer", "kind"), TYPES)
def test_types(answer: str, kind: str) -> None:
    assert answer_type(answer) == kind


WORDY = [
    "Ann wins",
    "the midpoint of side BC",
    "n is even",
    "no two of them touch",
    "at least three red balls",
    "Ann goes first and Bo second",
]
NAMES = [
    "Tuesday", "right triangle", "Team A", "Team A and Team B", "Monday, Tuesday or Friday", "no solution", "infinitely many solutions",
    "all real numbers", "any odd number", "The function $g$ is even.", "it is Thursday", "8:39 p.m.", "March 5, 2021", "three apples", "(B)", "7",
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
