from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compass.curation.words import split_words


def same(one: str, other: str) -> bool:
    words = split_words([one, other])
    return bool((words.key[0] == words.key[1]).all())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Find $x^{10}$.", r"find \( x^10 \)"),
        (r"\dfrac12", r"\frac{1}{2}"),
        (r"\tfrac 1 2", r"\frac{1}{2}"),
        (r"\left( 0, 1 \right)", "(0,1)"),
        ("1,000 apples", "1000 apples"),
        (r"1{,}000 and 2,\!000", "1000 and 2000"),
        ("two apples", "2 apples"),
        (r"a \cdot b", "a × b"),
        (r"x \le 3", "x ≤ 3"),
        ("x − 1", "x - 1"),
        ("x²", "x^2"),
        (r"\pi r^2", "π r²"),
        ("a 9-kilometer walk", "a 9 kilometer walk"),
        ("Tom’s dog", "Tom's dog"),
        (r"\text{km}", "km"),
        ("１２", "12"),
    ],
)
def test_markup_does_not_make_another_problem(one, other):
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x + 1", "x - 1"),
        (r"\frac{1}{23}", r"\frac{12}{3}"),
        (r"\frac1{23}", r"\frac{12}{3}"),
        ("[0, 1)", "(0, 1)"),
        ("3.5", "35"),
        ("1,2", "12"),
        ("n!", "n"),
        ("f'(x)", "f(x)"),
        ("x < 3", "x > 3"),
        ("芳芳有3页", "芳芳有4页"),
    ],
)
def test_mathematics_makes_another_problem(one, other):
    assert not same(one, other)


def test_words_are_read_back():
    words = split_words(["What is $\\frac{3}{4}$ of 1,200?", "", "99页 café"])
    assert words.of(0) == ["what", "is", "frac", "3", "4", "of", "1200"]
    assert words.of(1) == []
    assert words.of(2) == ["99", "页", "café"]


def test_numbers_hold_numbers_signs_and_deciding_words():
    words = split_words(
        ["add 3 to 4", "4 plus 3", "take 3 and then 4", "3 hexagon 4", "3 octagon 4", "sin 3 4", r"\sin 3 4"]
    )
    numbers = words.numbers
    assert numbers[0] == numbers[2] != numbers[1]
    assert len({*numbers[[0, 3, 4, 5]].tolist()}) == 4
    assert numbers[5] == numbers[6]


def test_the_form_of_the_input_does_not_matter():
    texts = ["Let x = 1.", "π", None, "a" * 100]
    plain = split_words([text or "" for text in texts])
    sliced = split_words(pa.array(["other", *texts]).slice(1))
    chunked = split_words(pa.chunked_array([texts[:1], texts[1:]], type=pa.string()))
    assert (plain.key == sliced.key).all()
    assert (plain.key == chunked.key).all()


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_text_is_scanned(texts):
    words = split_words(texts)
    assert len(words) == len(texts)
    for number in range(len(texts)):
        alone = split_words([texts[number]])
        assert words.of(number) == alone.of(0)
        assert (words.key[number] == alone.key[0]).all()
