"""A reward function for TRL's trainers, in the place of `trl.rewards.accuracy_reward`.

GRPOTrainer(..., reward_funcs=accuracy_reward)    # the data set has a column `solution` with the gold, or with a whole solution
"""

from __future__ import annotations

from typing import Any

from compass.integrations.golds import read_gold
from compass.verifier import Mode, answer_type, judge, warm

Completion = str | list[dict[str, Any]]
"""A text, or the messages of a conversation."""


def accuracy_reward(
    completions: list[Completion], solution: list[Any], prompts: list[Completion] | None = None, **_: Any
) -> list[float | None]:
    """1.0 where the final answer of a completion equals its gold, else 0.0; None, so that TRL leaves the example out,
    where the gold cannot be read.

    Args:
        completions: one per prompt, as TRL hands them over.
        solution: the golds, from the data set's column of this name: answers, or solutions that end in one.
        prompts: one per completion, as TRL hands them over: an answer copied from its prompt earns nothing.

    Raises:
        ValueError: the two have different lengths.
    """
    warm(wait=False)
    rewards: list[float | None] = []
    for completion, solved, prompt in zip(completions, solution, prompts or [None] * len(completions), strict=True):
        gold, question = read_gold(solved), None if prompt is None else _text(prompt)
        judgement = judge(gold=gold, response=_text(completion), question=question, mode=Mode.STRICT)
        rewards.append(None if answer_type(gold) == "unrecognised" else float(judgement.equal))
    return rewards


def _text(written: Completion) -> str:
    """A text, or the last message of a conversation."""
    return written if isinstance(written, str) else str(written[-1]["content"])
