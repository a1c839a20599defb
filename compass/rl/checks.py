"""Checks around an RL stage: a broken reward or a stale rollout policy trains on silently, and exit code 0 is no proof.

- `predict_mixed_share` before launch: can dynamic sampling fill its batches at all?
- `reward_canary` before step 1: known answers through verl's own reward manager, as the agent loop calls it.
- `check_agreement` after every iteration on the CPU: rollout and trainer give the same tokens the same probability.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from compass.errors import UserError

if TYPE_CHECKING:
    from omegaconf import DictConfig

AGREEMENT = {"float32": 1e-4}
"""Largest difference of a token's probability between rollout and trainer, by compute type; half precision has none
small enough to tell a stale policy from rounding."""

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


class PolicyMismatchError(UserError):
    """Rollouts come from other weights than those being trained."""


class UnfillableStageError(UserError):
    """The graded solve rates say that dynamic sampling cannot fill its batches."""


def predict_mixed_share(solve_rates: Sequence[float], group_size: int) -> float:
    """Expected share of groups with both right and wrong responses, 1 - p^G - (1-p)^G averaged over problems.

    A solve rate estimated as exactly 0 or 1 stands for an unknown rate near it; it is moved inwards by half of one
    rollout in 8, so that a small number of graded rollouts does not forbid a stage.
    """
    if not solve_rates:
        return 1.0
    inner = [min(max(rate, 1 / 16), 15 / 16) for rate in solve_rates]
    return sum(1 - p**group_size - (1 - p) ** group_size for p in inner) / len(inner)


def check_fillable(stage: str, share: float, max_generation_batches: int) -> None:
    """Raise `UnfillableStageError` when a batch is expected to need more than `max_generation_batches` batches."""
    if share * max_generation_batches < 1:
        raise UnfillableStageError(
            f"{stage}: only {share:.1%} of groups are expected to hold both right and wrong responses, so a batch needs "
            f"about {1 / max(share, 1e-9):.0f} generated batches and `max_generation_batches` allows "
            f"{max_generation_batches}; change the levels (`curriculum.mixes.{stage}`), raise `group_size`, or allow more"
        )


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
        found = loop.run_until_complete(score_all())
    finally:
        asyncio.set_event_loop(None)
        loop.close()
    for (response, gold, expected), reward in zip(CANARIES, found, strict=True):
        if reward != expected:
            raise RewardCanaryError(
                f"the response {response!r} with gold {gold!r} got the reward {reward:+g}, expected {expected:+g}; "
                "nothing was trained"
            )


def check_agreement(step: int, metrics: dict[str, Any], dtype: str) -> None:
    """Compare the probabilities that rollout and trainer give to the same tokens.

    Args:
        step: the iteration.
        metrics: verl's metrics of that iteration.
        dtype: compute type of the stage; only `float32` has a bound.

    Raises:
        PolicyMismatchError: they differ by more than rounding, or were not measured.
    """
    bound = AGREEMENT.get(dtype)
    if bound is None:
        return
    found = metrics.get("training/rollout_probs_diff_max")
    if found is None or not found < bound:
        raise PolicyMismatchError(
            f"iteration {step}: a token's probability differs by {found} between rollout and trainer (allowed: {bound:g}); "
            "the rollout policy is not the trained one. Check that vLLM is the pinned version (requirements/) and that "
            "the vocabulary is no larger than the tokenizer's"
        )
