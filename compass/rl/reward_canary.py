"""Known answers through verl's own reward path, before the first iteration: a broken reward trains on silently."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

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


class RewardCanaryError(RuntimeError):
    """The reward path gives a known answer a wrong reward."""


def reward_canary(config: DictConfig, tokenizer: Any) -> None:
    """Send known responses through verl's reward manager exactly as the agent loop does.

    Raises:
        RewardCanaryError: a reward is not the known one.
    """
    import numpy as np
    import torch
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    async def score(response: str, gold: str) -> float:
        tokens = tokenizer(response, return_tensors="pt", add_special_tokens=False).input_ids.long()
        if tokens.shape[1] == 0:
            tokens = torch.tensor([[tokenizer.eos_token_id]])
        prompt = torch.tensor([[tokenizer.eos_token_id]])
        arrays = {
            "data_source": np.array(["canary"], dtype=object),
            "reward_model": np.array([{"style": "rule", "ground_truth": gold}], dtype=object),
            "extra_info": np.array([{"id": "canary"}], dtype=object),
        }
        batch = {
            "prompts": prompt,
            "responses": tokens,
            "attention_mask": torch.ones(1, 1 + tokens.shape[1], dtype=torch.long),
        }
        data = DataProto.from_dict(tensors=batch, non_tensors=arrays)
        return float((await manager.run_single(data))["reward_extra_info"]["score"])

    async def score_all() -> list[float]:
        return [await score(response, gold) for response, gold, _ in CANARIES]

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        manager = load_reward_manager(config, tokenizer)
        rewards = loop.run_until_complete(score_all())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
    for (response, gold, expected), reward in zip(CANARIES, rewards, strict=True):
        if reward != expected:
            raise RewardCanaryError(
                f"the response {response!r} with gold {gold!r} got the reward {reward:+g}, expected {expected:+g}; "
                "nothing was trained"
            )
