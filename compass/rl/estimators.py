"""Advantage estimators (`rl.advantage`): verl's keys for them, the critic of `gae`, and ReMax, which verl's trainer lacks a part of.

A new estimator: its name in `compass/settings/advantage.py`; if verl does not have it, a function here that `register_estimators` enters
into verl's registry (docs/guides/changing.md).

**The critic** is a value model that is trained as the policy is, but for what it has of its own. It begins with the weights that the stage
starts from and a head that gives one number per token, and it stays with the stage: the next one begins with a critic of its own, unless it
takes over the training state (`checkpoint.carry_optimizer`). verl's own loader of value models asks for flash-attention, which a CPU lacks
and which on GPUs has to be compiled, whatever its configuration says, and draws the head's first weights from a generator that nothing seeds.

**ReMax** (Li et al. 2023): the baseline of a response is the reward of a greedy response to the same problem. verl has the arithmetic
(`compute_remax_outcome_advantage`), but its trainer samples no greedy response. Here the agent loop samples one per problem, next to the group
(`compass.rl.agent_loop`); it is scored as any other, and its reward alone is passed on, as a field of each response of the group. The trainer
hands these to the estimator before it asks verl for advantages (`compass.rl.stage_trainer`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compass.settings import RlStage

GREEDY_BASELINE = "remax_greedy_baseline"
"""The estimator's name in verl's registry: verl's own `remax` expects the baselines from its trainer."""

REWARD = "greedy_reward"
"""The field of a response that holds the reward of the greedy one."""

METRIC = "remax/greedy_reward/mean"
"""The mean of these rewards in an iteration."""

AS_THE_POLICY = {
    "actor_rollout_ref.model.": "critic.model.",
    "actor_rollout_ref.actor.fsdp_config.": "critic.fsdp.",
    "actor_rollout_ref.actor.optim.": "critic.optim.",
    "actor_rollout_ref.actor.checkpoint.": "critic.checkpoint.",
    **{
        f"actor_rollout_ref.actor.{name}": f"critic.{name}"
        for name in (
            "strategy",
            "grad_clip",
            "data_loader_seed",
            "ppo_micro_batch_size_per_gpu",
            "ppo_max_token_len_per_gpu",
        )
    },
}
"""The policy's keys, or how they begin, and the critic's. Batches, passes and aggregation are the policy's by verl's own defaults."""


def advantage_overrides(settings: RlStage) -> dict[str, Any]:
    """verl's keys of a stage's estimator, with their values."""
    ours = settings.advantage
    return {
        "algorithm.adv_estimator": GREEDY_BASELINE if ours.estimator == "remax" else ours.estimator,
        "algorithm.norm_adv_by_std_in_grpo": ours.normalise_by_std,
        "algorithm.gamma": ours.gamma,
        "algorithm.lam": ours.lam,
        "critic.enable": ours.estimator == "gae",
        # verl updates the policy from this iteration on; the first is 1
        "trainer.critic_warmup": ours.critic.alone + 1 if ours.estimator == "gae" else 0,
    }


def critic_overrides(settings: RlStage, policy: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """verl's keys of the critic, with their values; none without a critic.

    Args:
        settings: the stage's.
        policy: what the stage sets of verl's configuration for its policy.
        seed: seed of the value head's first weights.
    """
    if settings.advantage.estimator != "gae":
        return {}
    shared = {
        critics + key.removeprefix(policys): value
        for policys, critics in AS_THE_POLICY.items()
        for key, value in policy.items()
        if (key.startswith(policys) if policys.endswith(".") else key == policys)
    }
    optimizer = settings.optimizer.with_rate(
        settings.advantage.critic.learning_rate, settings.advantage.critic.warmup_steps
    )
    ours, actor = settings.advantage.critic, "actor_rollout_ref.actor"
    passes = policy[f"{actor}.ppo_micro_batch_size_per_gpu"]
    return {
        **shared,
        "critic.model.use_fused_kernels": False,  # they are for an output layer with a vocabulary
        # transformers' configuration carries it to load_value_model
        "critic.model.override_config.value_head_seed": seed,
        "critic.optim.lr": ours.learning_rate,
        "critic.optim.lr_warmup_steps": ours.warmup_steps,
        "critic.optim.num_cycles": optimizer.cycles_within(settings.steps),
        "critic.cliprange_value": ours.value_clip,
        # verl gives the critic's engine none of these of its own accord
        "critic.fsdp.use_dynamic_bsz": policy[f"{actor}.use_dynamic_bsz"],
        "critic.fsdp.micro_batch_size_per_gpu": passes,
        "critic.fsdp.infer_micro_batch_size_per_gpu": passes,
        "critic.ppo_infer_max_token_len_per_gpu": policy[f"{actor}.ppo_max_token_len_per_gpu"],
        "trainer.max_critic_ckpt_to_keep": None,
    }


class GreedyBaseline:
    """The estimator: verl's function, with the baselines of the iteration at hand."""

    def __init__(self) -> None:
        self.rewards: dict[str, float] = {}

    def set_rewards(self, rewards: Mapping[str, float]) -> None:
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
"""The estimator of this process, in which verl's trainer lives."""


def register_estimators() -> None:
    """Enter the estimators that verl does not have into its registry."""
    from verl.trainer.ppo.core_algos import register_adv_est

    register_adv_est(GREEDY_BASELINE)(BASELINE)
