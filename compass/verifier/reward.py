"""A response judged by its final answer, and its reward: +1 for an answer equal to the gold, -1 for anything else (report, section 3)."""

from __future__ import annotations

from typing import NamedTuple

from compass.verifier.extract import Mode, extract_answer
from compass.verifier.verdict import Outcome, Verdict
from compass.verifier.verify import verify

NO_ANSWER = Verdict(Outcome.UNRECOGNISED, "text", "the response gives no final answer")


class Judgement(NamedTuple):
    """A response's final answer, None where it gives none, and the verdict on it."""

    answer: str | None
    verdict: Verdict

    @property
    def equal(self) -> bool:
        """Whether the response earns a reward."""
        return self.verdict.equal


def judge(*, gold: str, response: str, mode: Mode = Mode.LENIENT) -> Judgement:
    """Take the final answer out of a response, then verify it.

    Raises:
        TypeError: an argument that is no text.
    """
    answer = extract_answer(response, mode)
    return Judgement(answer, NO_ANSWER if answer is None else verify(gold=gold, answer=answer))


def reward(response: str, gold: str) -> float:
    """+1.0 where the response's final answer equals the gold, else -1.0.

    Raises:
        TypeError: an argument that is no text.
    """
    return 1.0 if judge(gold=gold, response=response).equal else -1.0
