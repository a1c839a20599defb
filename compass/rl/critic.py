"""The critic of `estimator: gae`, in verl's keys: a value model that is trained as the policy is, but for what it has of its own.

It begins with the weights that the stage starts from and a head that gives one number per token, and it stays with the stage:
the next one begins with a critic of its own, unless it takes over the training state (`checkpoint.carry_optimizer`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compass.settings import RlStage

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
            "ulysses_sequence_parallel_size",
            "data_loader_seed",
            "ppo_micro_batch_size_per_gpu",
            "ppo_max_token_len_per_gpu",
        )
    },
}
"""The policy's keys, or how they begin, and the critic's. Batches, passes and aggregation are the policy's by verl's own defaults."""


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
        # transformers' configuration carries it to compass.rl.value_model
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
