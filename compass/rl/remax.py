"""ReMax (Li et al. 2023): the baseline of a response is the reward of a greedy response to the same problem.

verl has the arithmetic (`compute_remax_outcome_advantage`), but its trainer samples no greedy response. Here the agent loop samples one
per problem, beside the group (`compass.rl.agent_loop`); it is scored as any other, and its reward alone goes on, as a field of
each response of the group. The trainer hands these to the estimator before it asks verl for advantages (`compass.rl.stage_trainer`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

GREEDY_BASELINE = "remax_greedy_baseline"
"""The estimator's name in verl's registry: verl's own `remax` expects the baselines from its trainer."""

REWARD = "greedy_reward"
"""The field of a response that holds the reward of the greedy one."""

METRIC = "remax/greedy_reward/mean"
"""The mean of these rewards in an iteration."""


class GreedyBaseline:
    """The estimator: verl's function, with the baselines of the iteration at hand."""

    def __init__(self) -> None:
        self.rewards: dict[str, float] = {}

    def take(self, rewards: Mapping[str, float]) -> None:
        """Remember the greedy reward of each group, by its name."""
        self.rewards = dict(rewards)

    def __call__(self, token_level_rewards: Any, response_mask: Any, index: Sequence[str], **_: Any) -> tuple[Any, Any]:
        """Advantages and returns, of shape (responses, tokens).

        Args:
            token_level_rewards: of the same shape.
            response_mask: of the same shape, 1 where the policy wrote the token.
            index: the group's name of each response.
        """
        import torch
        from verl.trainer.ppo.core_algos import compute_remax_outcome_advantage

        baselines = torch.tensor([self.rewards[str(name)] for name in index], dtype=token_level_rewards.dtype)
        return compute_remax_outcome_advantage(
            token_level_rewards=token_level_rewards,
            reward_baselines=baselines.to(token_level_rewards.device),
            response_mask=response_mask,
        )


BASELINE = GreedyBaseline()
"""That of this process, in which verl's trainer lives."""


def register() -> None:
    """Enter the estimator into verl's registry."""
    from verl.trainer.ppo.core_algos import register_adv_est

    register_adv_est(GREEDY_BASELINE)(BASELINE)
