"""Answers in words."""

from __future__ import annotations

import pytest

from compass.verifier.reading.words import is_formula, is_prose, is_sentence, plain_words, read_choice

WORDINGS = [
    ("Even", "even"),
    (r"\text{Even}", "even"),
    ("the even one", "even one"),
    ("a", "a"),
    ("the", "the"),
    (r"\text{No solution}", "no solution"),
    ("There are no solutions.", "no solution"),
    ("none", "no solution"),
    ("DNE", "does not exist"),
    ("doesn't exist", "does not exist"),
    ("infinitely many solutions", "infinitely many"),
    ("Yes, it is", "yes"),
    ("no it is not", "no"),
    ("all reals", "all real numbers"),
    ("convergent", "converges"),
    ("It diverges", "diverges"),
    (r"\emptyset", "no solution"),
    ("x_1", "x 1"),
    (r"\textbf{a b}", "b"),
    ("an apple", "apple"),
    ("Team A", "team a_"),
    ("team A", "team a_"),
    ("A team", "team"),
    ("plan a", "plan a"),
    ("on Sunday", "sunday"),
    ("It is Thursday", "thursday"),
    ("it cannot be determined", "cannot be determined"),
    ("It is not red", "it is not red"),
    ("Tues", "tuesday"),
    ("on the table", "on table"),
    ("not possible", "impossible"),
    ("none of these", "none of above"),
]


@pytest.mark.parametrize(("text", "expected"), WORDINGS)
def test_wording_leaves_the_words_alone(text: str, expected: str) -> None:
    assert plain_words(text) == expected


CHOICES = [
    ("A", "A"),
    ("(A)", "A"),
    ("(A).", "A"),
    ("A.", "A"),
    ("A)", "A"),
    ("(h)", "H"),
    ("(i)", None),
    ("H", "H"),
    ("I", None),
    (r"\text{B}", "B"),
    (r"\textbf{(B)}", "B"),
    ("b", None),
    ("b)", "B"),
    ("(b)", "B"),
    ("AB", None),
    ("{C}", "C"),
    (" D ", "D"),
    ("(A", None),
    ("A:", None),
]


@pytest.mark.parametrize(("text", "expected"), CHOICES)
def test_choices(text: str, expected: str | None) -> None:
    assert read_choice(text) == expected


PROSE = [
    ("even", True),
    (r"\text{even}", True),
    ("no", False),
    ("ab", False),
    ("pi", False),
    ("sin", False),
    ("x=5", False),
    ("a+b", False),
    ("two words", True),
    ("word 5", False),
    ("-word", False),
    ("MAKE", True),
    ("don't", True),
    ("cat & dog", False),
    (r"\alpha", False),
    ("e^x", False),
    ("the (other) one", True),
    ("A", False),
    ("[even]", False),
    ("sqrt", False),
]


@pytest.mark.parametrize(("text", "expected"), PROSE)
def test_prose(text: str, expected: bool) -> None:
    assert is_prose(text) is expected


SENTENCES = [
    ("this is one long sentence", True),
    ("three words only", False),
    ("four words here now", True),
    ("four of the words 5", False),
    (r"\alpha is the first letter", False),
    ("there are seven 7 days", True),
    ("two two two two", True),
    ("the the the the", True),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_sentences_have_four_words(text: str, expected: bool) -> None:
    assert is_sentence(text) is expected


FORMULAS = [
    ("even", False),
    ("x^2", True),
    ("x=5", True),
    (r"\frac12", True),
    (r"\text{even}", False),
    (r"\mathrm{a}", False),
    ("a+b", True),
    ("[1]", True),
    ("5", False),
    ("4:30", False),
    ("a#b", True),
    (r"\{", True),
    ("a&b", True),
    ("<b", True),
    ("b>", True),
    ("a*b", True),
    ("a|b", True),
    ("(a,b)", False),
]


@pytest.mark.parametrize(("text", "expected"), FORMULAS)
def test_signs_that_only_formulas_have(text: str, expected: bool) -> None:
    assert is_formula(text) is expected
