"""The reward of a response: +1 for an answer equal to the gold, -1 for anything else (report, section 3)."""

from __future__ import annotations

from compass.verifier.extract import extract_answer
from compass.verifier.verify import verify


def reward(response: str, gold: str) -> float:
    """+1.0 where the response's final answer equals the gold, else -1.0.

    Raises:
        TypeError: an argument that is no text.
    """
    answer = extract_answer(response)
    return 1.0 if answer is not None and verify(gold=gold, answer=answer).equal else -1.0
