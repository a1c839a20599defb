"""Families of answers: progressions, lines of points, constants."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compass.verifier import verify

CLAUSE = r", k\in\mathbb{Z}"


def equal(gold: str, answer: str) -> bool:
    return verify(gold=gold, answer=answer).equal


@settings(max_examples=60)
@given(
    start=st.integers(0, 11),
    step=st.integers(1, 12),
    shift=st.integers(-3, 3),
    parts=st.integers(1, 3),
    turned=st.booleans(),
)
def test_a_progression_equals_itself_shifted_turned_and_split(
    start: int, step: int, shift: int, parts: int, turned: bool
) -> None:
    gold = rf"x=\frac{{{start}\pi}}{{12}}+\frac{{{step}k\pi}}{{12}}{CLAUSE}"
    sign = "-" if turned else "+"
    cases = [
        rf"x=\frac{{{start + step * (shift + at)}\pi}}{{12}}{sign}\frac{{{step * parts}n\pi}}{{12}}"
        for at in range(parts)
    ]
    answer = " or ".join(cases) + r", n\in\mathbb{Z}"
    assert equal(gold, answer)
    assert equal(answer, gold)


@settings(max_examples=60)
@given(one=st.tuples(st.integers(0, 11), st.integers(1, 12)), two=st.tuples(st.integers(0, 11), st.integers(1, 12)))
def test_two_progressions_are_equal_only_as_sets(one: tuple[int, int], two: tuple[int, int]) -> None:
    first, second = ({start + step * at for at in range(-60, 60)} for start, step in (one, two))
    window = set(range(-40, 40))
    texts = [rf"\frac{{{start}\pi}}{{6}}+\frac{{{step}k\pi}}{{6}}{CLAUSE}" for start, step in (one, two)]
    assert equal(*texts) == (first & window == second & window)


@pytest.mark.parametrize("letters", list(itertools.permutations("ABC", 2))[:4])
def test_constants_of_a_solution_have_any_name(letters: tuple[str, str]) -> None:
    one, two = letters
    assert equal("y=C_1e^x+C_2e^{-x}", f"y={one}e^x+{two}e^{{-x}}")
