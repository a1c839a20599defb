"""Many comparisons at once, and equal answers brought together."""

from __future__ import annotations

import pytest

from compass.verifier import Outcome, group_equal, same_answer, verify_many


@pytest.mark.parametrize("processes", [1, 2])
def test_how_many_pairs_are_done_is_reported(processes: int) -> None:
    reports: list[tuple[int, int]] = []
    verify_many([("1", "1")] * 2_100, processes=processes, on_progress=lambda *counts: reports.append(counts))
    assert reports == [(500, 2_100), (1_000, 2_100), (1_500, 2_100), (2_000, 2_100), (2_100, 2_100)]


def test_verdicts_keep_the_order_of_the_pairs() -> None:
    assert [verdict.outcome for verdict in verify_many(iter([("1", "1"), ("1", "2"), ("1", "?")]))] == list(Outcome)
    assert verify_many([]) == []


def test_equal_answers_share_the_number_of_their_first() -> None:
    assert group_equal(["1/2", "3", "0.5", r"\frac{6}{2}", "x", "3"]) == [0, 1, 0, 1, 2, 1]
    assert group_equal([]) == []


def test_an_answer_joins_the_first_group_that_it_equals() -> None:
    near = lambda first, answer: abs(int(first) - int(answer)) <= 1  # noqa: E731
    assert group_equal(["1", "3", "2", "4", "5"], near) == [0, 1, 0, 1, 2]


def test_only_the_first_of_a_group_is_compared_and_the_same_text_never() -> None:
    asked: list[tuple[str, str]] = []

    def equal(first: str, answer: str) -> bool:
        asked.append((first, answer))
        return first[0] == answer[0]

    assert group_equal(iter(["a1", "a2", "b1", "a2", "a1", "b1"]), equal) == [0, 0, 1, 0, 0, 1]
    assert asked == [("a1", "a2"), ("a1", "b1")]


def test_what_cannot_be_read_equals_only_its_own_text() -> None:
    assert group_equal(["?", "?", "..."]) == [0, 0, 1]
    assert same_answer("2.33", "7/3") is True
    assert same_answer("7/3", "2.33") is False
