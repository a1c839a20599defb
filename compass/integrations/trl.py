"""A reward function for TRL's trainers, in the place of `trl.rewards.accuracy_reward`.

GRPOTrainer(..., reward_funcs=accuracy_reward)    # the data set has a column `solution` with the gold
"""

from __future__ import annotations

from typing import Any

from compass.verifier import Mode, answer_type, judge, warm

Completion = str | list[dict[str, Any]]
"""A text, or the messages of a conversation."""


def accuracy_reward(completions: list[Completion], solution: list[str], **_: Any) -> list[float | None]:
    """1.0 where the final answer of a completion equals its gold, else 0.0; None, so that TRL leaves the example out,
    where the gold cannot be read.

    Args:
        completions: one per prompt, as TRL hands them over.
        solution: the golds, from the data set's column of this name.

    Raises:
        ValueError: the two have different lengths.
    """
    warm(wait=False)
    return [
        None
        if answer_type(gold) == "unrecognised"
        else float(judge(gold=gold, response=_text(completion), mode=Mode.STRICT).equal)
        for completion, gold in zip(completions, solution, strict=True)
    ]


def _text(completion: Completion) -> str:
    """What the assistant wrote last."""
    return completion if isinstance(completion, str) else str(completion[-1]["content"])
