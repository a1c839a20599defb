"""Answers in words."""

from __future__ import annotations

import pytest

from compass.verifier.reading import wording

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
    ("not possible", "impossible"),
    ("none of these", "none of above"),
]


@pytest.mark.parametrize(("text", "expected"), WORDINGS)
def test_wording_leaves_the_words_alone(text: str, expected: str) -> None:
    assert wording.wording(text) == expected


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
    ("b)", None),
    ("(b)", "B"),
    ("AB", None),
    ("{C}", "C"),
    (" D ", "D"),
    ("(A", None),
    ("A:", None),
]


@pytest.mark.parametrize(("text", "expected"), CHOICES)
def test_choices(text: str, expected: str | None) -> None:
    assert wording.choice(text) == expected


TIMES = [
    ("4:30 pm", (16, 30, 0)),
    ("4:30 p.m.", (16, 30, 0)),
    ("4:30PM", (16, 30, 0)),
    ("12:00 am", (0, 0, 0)),
    ("12:00 pm", (12, 0, 0)),
    ("4 pm", (16, 0, 0)),
    ("4p.m.", (16, 0, 0)),
    ("4:30:15 am", (4, 30, 15)),
    ("13:00 pm", None),
    ("0:30 am", None),
    ("4:60 pm", None),
    ("4:59:60 am", None),
    ("4:59:59 pm", (16, 59, 59)),
    ("4:30", None),
    (r"\text{4:30 a.m.}", (4, 30, 0)),
    ("12 am", (0, 0, 0)),
    ("1 am", (1, 0, 0)),
]


@pytest.mark.parametrize(("text", "expected"), TIMES)
def test_times_of_day(text: str, expected: tuple[int, int, int] | None) -> None:
    assert wording.clock(text) == expected


DATES = [
    ("May 5, 2020", ["2020", "5", "month 5"]),
    ("5 May 2020", ["2020", "5", "month 5"]),
    ("May 5th", ["5", "month 5"]),
    (r"\text{March}", None),
    ("Sept 1", ["1", "month 9"]),
    ("5th of May", None),
    ("May", None),
    ("Jan 01", ["1", "month 1"]),
    ("in May", None),
    ("2020", None),
    ("the 3rd of December, 1999", None),
    ("May June", None),
]


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_dates(text: str, expected: list[str] | None) -> None:
    parts = wording.date(text)
    assert (None if parts is None else sorted(parts)) == expected


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
    assert wording.is_prose(text) is expected


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
    assert wording.is_sentence(text) is expected


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
    assert wording.is_formula(text) is expected
