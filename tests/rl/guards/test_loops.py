"""Responses that end in a loop."""

import time

import numpy as np
import pytest

from compass.rl.guards.loops import looping


def loops(*responses: list[int]) -> list[bool]:
    return looping([np.array(response, dtype=np.int64) for response in responses]).tolist()


@pytest.mark.parametrize("period", [1, 2, 3, 7, 20, 128])
def test_a_passage_repeated_to_the_end_is_a_loop(period: int) -> None:
    passage = list(range(100, 100 + period))
    times = max(4, -(-32 // period))
    assert loops([1, 2, 3, *passage * times]) == [True]
    assert loops([1, 2, 3, *passage * times, 5]) == [False]
    assert loops([1, 2, 3, *passage * (times - 1)]) == [False]


def test_a_loop_may_end_in_the_middle_of_its_passage() -> None:
    assert loops([1, *[7, 8, 9, 10, 11, 12, 13, 14, 15, 16] * 4, 7, 8]) == [True]


def test_ordinary_repetition_is_none() -> None:
    assert loops([5, 0, 0, 0, 0, 0, 0], [1, 2] * 10, list(range(600)), []) == [False] * 4


def test_each_response_is_judged_by_itself() -> None:
    assert loops([1], [9] * 40, list(range(50)), [4, 5] * 30) == [False, True, False, True]


def test_a_batch_of_long_responses_takes_a_moment() -> None:
    draw = np.random.default_rng(0)
    responses = [draw.integers(0, 150_000, 3072) for _ in range(1024)]
    began = time.monotonic()
    assert not looping(responses).any()
    assert time.monotonic() - began < 5
