"""Known answers through verl's own reward path, before the first iteration: a broken reward trains on silently.

What is compared is `reward_score`, which verl writes over a response's last token and trains on; what the reward function
returned before shaping only goes into messages.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from compass.rl.reward_function import RESPONSE_TOKENS, RewardError, compute_score, load_reward, reward_error

if TYPE_CHECKING:
    from omegaconf import DictConfig

CANARIES = (
    # response, gold, reward: right, wrong, unreadable, cut off, and answers made to please a careless verifier
    (r"So the answer is \boxed{12}", "12", 1.0),
    (r"\boxed{\frac{1}{2}}", "0.5", 1.0),
    (r"So the answer is \boxed{13}", "12", -1.0),
    ("I do not know.", "12", -1.0),
    ("", "12", -1.0),
    (r"\boxed{12", "13", -1.0),
    (r"\boxed{}", "12", -1.0),
    (r"\boxed{1, 2, 3, 11, 12, 13}", "12", -1.0),
    (r"\boxed{9^{9^{9^{9^9}}}}", "12", -1.0),
    (r"\boxed{__import__('os').getpid()}", "12", -1.0),
)

EXTRA_INFO = {
    "id": "canary",
    "level": 1,
    "index": 0,
    "question": "",
    "alternatives": [],
    "tolerance": "",
    RESPONSE_TOKENS: 9,
}
"""What comes with them: what comes with every problem (`compass.rl.dataset.ROWS`), and a length in tokens, so that a reward function may read
all of it."""


_REMEDY = "pay a right answer more than a wrong one, or set `rl.guards.reward_canary.level: off` where that is meant"


def check_known(function: str, *, compare: bool = True) -> list[float]:
    """Call the function with known answers, before anything is started.

    Args:
        function: `package.module:name`.
        compare: compare what it pays for right and wrong answers too.

    Returns:
        What it pays for the answers of `CANARIES`, in their order.

    Raises:
        RewardError: it cannot be used, raises, or, with `compare`, does not pay the right answer more than every wrong one.
    """
    load_reward(function)
    paid = []
    for response, gold, _ in CANARIES:
        try:
            paid.append(compute_score("canary", response, gold, dict(EXTRA_INFO), function=function)["score"])
        except RewardError:
            raise
        except Exception as error:  # whatever a user's function raises
            found = f"with the response {response!r} and the gold {gold!r} it raised {type(error).__name__}: {error}"
            remedy = f"return a reward for every response{'' if response else ', an empty one included'}"
            if isinstance(error, KeyError):
                remedy += f"; `extra_info` has {', '.join(EXTRA_INFO)}"
            raise reward_error(function, found, remedy) from error
    if compare and (seen := find_underpaid(paid)):
        raise reward_error(function, seen, _REMEDY)
    return paid


def find_underpaid(rewards: Sequence[float]) -> str | None:
    """The first wrong answer that is paid as much as the right one; None where there is none.

    Args:
        rewards: of the answers of `CANARIES`, in their order; the first is right in every sense.
    """
    for (response, gold, known), reward in zip(CANARIES, rewards, strict=True):
        if known < 0 and not reward < rewards[0]:
            right = f"the right response {CANARIES[0][0]!r} gets {rewards[0]:+g}"
            return f"the wrong response {response!r} (gold {gold!r}) gets {reward:+g}, and {right}"
    return None


def overlong_penalty(tokens: int, longest: int, buffer: int, largest: float) -> float:
    """What DAPO's soft penalty takes from a response's reward (arXiv 2503.14476, equation 13), 0 without a buffer.

    Args:
        tokens: the response's length.
        longest: the token limit.
        buffer: tokens before the limit over which the penalty grows.
        largest: the penalty at the limit.
    """
    return min(0.0, -(tokens - (longest - buffer)) / buffer * largest) if buffer else 0.0


def reward_canary(config: DictConfig, tokenizer: Any) -> str | None:
    """Send known responses through verl's reward manager exactly as the agent loop does.

    Args:
        config: verl's configuration of the stage.
        tokenizer: the policy's.

    Returns:
        What is wrong with the first reward that trains and is not the known one; None where all are right. With overlong
        shaping a response of the longest length is sent as well. A reward function of the user's must pay the right answer more than
        every wrong one.
    """
    import numpy as np
    import torch
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    shaping = config.reward.reward_kwargs
    buffer = shaping.overlong_buffer_cfg

    def tokens_of(response: str) -> Any:
        tokens = tokenizer(response, return_tensors="pt", add_special_tokens=False).input_ids.long()
        return tokens if tokens.shape[1] else torch.tensor([[tokenizer.eos_token_id]])

    async def score(tokens: Any, gold: str) -> float:
        prompt = torch.tensor([[tokenizer.eos_token_id]])
        arrays = {
            "data_source": np.array(["canary"], dtype=object),
            "reward_model": np.array([{"style": "rule", "ground_truth": gold}], dtype=object),
            "extra_info": np.array([{**EXTRA_INFO, RESPONSE_TOKENS: tokens.shape[1]}], dtype=object),
        }
        batch = {
            "prompts": prompt,
            "responses": tokens,
            "attention_mask": torch.ones(1, 1 + tokens.shape[1], dtype=torch.long),
        }
        data = DataProto.from_dict(tensors=batch, non_tensors=arrays)
        return float((await manager.run_single(data))["reward_score"])

    known = [(response, tokens_of(response), gold, reward) for response, gold, reward in CANARIES]
    if buffer.enable:
        response, gold, reward = CANARIES[0]
        end = torch.full((1, max(0, shaping.max_resp_len - tokens_of(response).shape[1])), tokenizer.eos_token_id)
        known.append((f"{response} …, as long as allowed", torch.cat([tokens_of(response), end], dim=1), gold, reward))

    async def score_all() -> list[float]:
        return [await score(tokens, gold) for _, tokens, gold, _ in known]

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        manager = load_reward_manager(config, tokenizer)
        rewards = loop.run_until_complete(score_all())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
    penalties = [
        overlong_penalty(tokens.shape[1], shaping.max_resp_len, buffer.len, buffer.penalty_factor)
        if buffer.enable
        else 0.0
        for _, tokens, _, _ in known
    ]
    if config.reward.custom_reward_function.reward_kwargs.function:
        unshaped = [reward - penalty for reward, penalty in zip(rewards, penalties, strict=True)]
        seen = find_underpaid(unshaped[: len(CANARIES)])
        return seen and f"{seen}; such a reward teaches wrong answers. To do: look at `rl.reward.function`"
    for (response, _, gold, right), reward, penalty in zip(known, rewards, penalties, strict=True):
        expected = right + penalty
        if not math.isclose(reward, expected, abs_tol=1e-6):
            return (
                f"the response {response!r} with gold {gold!r} got the reward {reward:+g}, expected {expected:+g}; a reward "
                "that is wrong here is wrong in training. To do: look at compass/rl/reward_function.py, and at CANARIES in "
                "compass/rl/reward_canary.py where the change was meant"
            )
    return None
