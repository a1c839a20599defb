"""Times of day and dates."""

from __future__ import annotations

import pytest

from compass.verifier.reading.words import read_date, read_time, same_time

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
    ("4:30", (4, 30, 0)),
    ("4:3", None),
    ("16:30", (16, 30, 0)),
    ("25:00", None),
    ("12 noon", (12, 0, 0)),
    ("11 noon", None),
    ("noon", (12, 0, 0)),
    ("Midnight", (0, 0, 0)),
    ("8 o'clock", (8, 0, 0)),
    ("10:25:30", (10, 25, 30)),
    ("4:30:60", None),
    (r"\text{4:30 a.m.}", (4, 30, 0)),
    ("12 am", (0, 0, 0)),
    ("1 am", (1, 0, 0)),
]


@pytest.mark.parametrize(("text", "expected"), TIMES)
def test_times_of_day(text: str, expected: tuple[int, int, int] | None) -> None:
    found = read_time(text)
    assert (None if found is None else found[:3]) == expected


SAME_TIMES = [
    ("16:30", "4:30 pm", True),
    ("4:30", "4:30 pm", True),
    ("4:30", "4:30 am", True),
    ("16:30", "4:30", False),
    ("16:30", "6:30 pm", False),
    ("4:30 am", "4:30 pm", False),
    ("noon", "12:00", True),
    ("12:00 am", "noon", False),
    ("9:05", "9:05:01", False),
]


@pytest.mark.parametrize(("one", "two", "same"), SAME_TIMES)
def test_a_time_without_its_half_of_the_day_may_be_either(one: str, two: str, same: bool) -> None:
    first, second = read_time(one), read_time(two)
    assert first is not None
    assert second is not None
    assert same_time(first, second) is same_time(second, first) is same


DATES = [
    ("May 5, 2020", ("2020", 5, "5")),
    ("5 May 2020", ("2020", 5, "5")),
    ("2020-05-05", ("2020", 5, "5")),
    ("2020/5/05", ("2020", 5, "5")),
    ("2020-13-05", None),
    ("2020-05/05", None),
    ("May 5th", ("", 5, "5")),
    (r"\text{March}", None),
    ("Sept 1", ("", 9, "1")),
    ("5th of May", ("", 5, "5")),
    ("May", None),
    ("May 2020", ("2020", 5, "")),
    ("Jan 01", ("", 1, "1")),
    ("in May", None),
    ("2020", None),
    ("the 3rd of December, 1999", ("1999", 12, "3")),
    ("May June", None),
    ("May 5 6", None),
]


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_dates(text: str, expected: tuple[str, int, str] | None) -> None:
    assert read_date(text) == expected
