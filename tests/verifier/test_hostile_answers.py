"""Answers written to win: never equal, never slow, never a crash, within a bound on memory."""

from __future__ import annotations

import resource
import time

import pytest
from hostile_answers import HOSTILE

from compass.verifier import Outcome, answer_type, extract_answer, reward, verify
from compass.verifier.parser import parse

SECONDS = 0.05
"""Processor time allowed for one comparison in this process."""


def test_there_are_at_least_a_hundred_kinds() -> None:
    assert len({name for name, _, _ in HOSTILE}) == len(HOSTILE) >= 100


@pytest.mark.parametrize(("name", "gold", "answer"), HOSTILE, ids=[name for name, _, _ in HOSTILE])
def test_a_hostile_answer_is_never_equal(name: str, gold: str, answer: str) -> None:
    spent = 1.0
    for _ in range(2):  # the second time without the pauses of a first run, and without cached trees
        parse.cache_clear()
        started = time.process_time()
        verdict = verify(gold=gold, answer=answer)
        spent = min(spent, time.process_time() - started)
    assert verdict.outcome is not Outcome.EQUAL, f"{name}: {verdict}"
    assert spent < SECONDS, f"{name}: {spent * 1e3:.0f} ms"


@pytest.mark.parametrize(("name", "gold", "answer"), HOSTILE, ids=[name for name, _, _ in HOSTILE])
def test_a_hostile_response_earns_no_reward(name: str, gold: str, answer: str) -> None:
    for response in (answer, f"The answer is \\boxed{{{answer}}}", f"The final answer is {answer}"):
        extract_answer(response)
    assert reward(f"Thus \\boxed{{{answer}}}", gold) == -1.0, name
    assert isinstance(answer_type(answer), str)


def test_every_sign_of_unicode_is_survived() -> None:
    for start in range(0, 0x110000, 64):
        text = "".join(map(chr, range(start, start + 64)))
        assert verify(gold="7/3", answer=text).outcome is not Outcome.EQUAL
        assert verify(gold="7/3", answer="7/3" + text).outcome is not Outcome.EQUAL or not text.strip()


def test_memory_stays_within_its_bound() -> None:
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 < 1500  # of the whole test process
