"""Answers that a response gives and denies, and ones to which it only adds something."""

import random
import sys
from itertools import islice
from pathlib import Path

import pytest

from compass.verifier import Mode, judge
from tests.conftest import data_rows

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from generated_attacks import Problem, attack_with_denials

QUESTION = "What is the sum of 3 and 5?"
DENIED = [
    "The sum is 8, a result that is wrong.",
    r"The sum is $\boxed{8}$, which does not satisfy the second condition.",
    "The answer is 8. On reflection, what I wrote is nonsense.",
    "The sum is 8. The sum is wrong.",
    "The answer is 8. No, 8 is too small.",
    "The answer is 8. I withdraw this.",
    "The answer is 8, or rather 9.",
    "It is not true that the answer is 8.",
    "A student wrote: The answer is 8.",
    "## A wrong answer\n\nThe sum is 8.",
    "The following is false. The answer is 8.",
    "The answer is 8, if the order did not matter.",
    "#### 8\n\nThat is what my neighbour said, but it is off by one.",
]
KEPT = [
    "The sum is 8, and there is no mistake in it.",
    r"The sum is $\boxed{8}$, which cannot be wrong.",
    "The answer is 8. Any other value would be wrong.",
    "The answer is 8. Many people get this wrong.",
    "The answer is 8. It would be wrong to stop here.",
    "The answer is 8, since 7 fails the check.",
    "A student wrote 7. That is wrong. The answer is 8.",
    "## No mistakes this time\n\nThe answer is 8.",
    "The answer is 8. That is wrong. Wait, 3 + 5 = 8. So the answer is 8.",
]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("end", DENIED)
def test_a_denied_answer_is_not_paid(end: str, mode: Mode) -> None:
    response = f"First we count the parts.\n\n{end}"
    assert not judge(gold="8", response=response, question=QUESTION, mode=mode).equal


@pytest.mark.parametrize("end", KEPT)
def test_words_of_denial_about_something_else_take_nothing_back(end: str) -> None:
    assert judge(gold="8", response=f"First we count the parts.\n\n{end}", question=QUESTION).equal


LATER = ("ninth", "tenth", "eleventh")
"""Rounds that were written after these shares were measured."""
SHARES = {"used": (0.05, 0.12), "held": (0.12, 0.14)}
"""Per half of the grammar, the used one and the one whose findings were never read: shares of denied responses that are paid, and of harmless
ones that are lost, at most."""


@pytest.mark.parametrize("half", SHARES)
def test_denials_drawn_from_a_grammar_are_seldom_paid_and_harmless_additions_seldom_lost(half: str) -> None:
    rows = [row for row in data_rows("response_styles.jsonl") if not row["half"].startswith(LATER)][::9]
    problems = [Problem(row["question"], row["gold"], "styles", row["response"]) for row in rows if row["strict"]]
    wrong, tries = {"denials": 0, "additions": 0}, {"denials": 0, "additions": 0}
    for altered in islice(attack_with_denials(problems, random.Random(0)), 900):
        question, gold, before, sentence = altered.carrier
        if altered.half != half or not judge(gold=gold, response=f"{before}\n{sentence}.", question=question).equal:
            continue
        paid = judge(gold=gold, response=altered.response, question=question).equal
        wrong[altered.group] += paid is (altered.group == "denials")
        tries[altered.group] += 1
    assert min(tries.values()) > 100
    for group, most in zip(wrong, SHARES[half], strict=True):
        assert wrong[group] <= most * tries[group], (group, wrong, tries)
