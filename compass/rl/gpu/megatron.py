"""How verl is configured for Megatron instead of FSDP2, and for SGLang instead of vLLM.

Configured, never run here: the keys are verl's own, checked against its configuration and classes; neither package is in the
project's locked environments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compass.settings import RlStage

FSDP_ALONE = (
    "actor.grad_clip",
    ".ulysses_sequence_parallel_size",
    ".entropy_checkpointing",
    ".use_torch_compile",
    ".optim.lr_scheduler_type",
    ".optim.min_lr_ratio",
    ".optim.num_cycles",
    ".optim.zero_indexed_step",
)
"""How keys of the policy and its reference end that verl's files for Megatron lack; `fsdp_config` goes as a whole."""

PARALLEL = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")

SGLANG_SCORERS = 8
"""verl's own agent loop, which alone knows SGLang, sends responses to this many processes that score them."""


def megatron_overrides(values: Mapping[str, Any], settings: RlStage) -> dict[str, Any]:
    """The keys of a stage with Megatron in the place of FSDP2.

    Args:
        values: what the stage sets of verl's configuration for FSDP2.
        settings: the stage's.
    """
    actor, ref = "actor_rollout_ref.actor", "actor_rollout_ref.ref"
    resources = settings.resources
    idle = resources.offload == "idle"
    degrees = dict(zip(PARALLEL, (resources.tensor_parallel, resources.pipeline_parallel, 1), strict=True))
    kept = {key: value for key, value in values.items() if not _is_fsdps(key)}
    return {
        **kept,
        f"{actor}.strategy": "megatron",
        # Its fused output layer wants flash-attention, and a model in verl's own list.
        "actor_rollout_ref.model.use_fused_kernels": False,
        f"{actor}.entropy_from_logits_with_chunking": True,
        f"{actor}.optim.lr_decay_style": settings.optimizer.schedule,
        f"{actor}.optim.lr_decay_steps": settings.optimizer.schedule_steps or None,  # the stage's iterations
        f"{actor}.optim.min_lr": settings.optimizer.min_learning_rate,
        f"{actor}.optim.override_optimizer_config": {"adam_eps": settings.optimizer.eps},  # Megatron's name for it
        **{f"{actor}.megatron.{name}": degree for name, degree in degrees.items()},
        # a tensor-parallel trainer divides norms and dropout by sequence too, which needs at least two GPUs
        f"{actor}.megatron.sequence_parallel": resources.tensor_parallel > 1,
        f"{actor}.megatron.dtype": resources.dtype,
        f"{actor}.megatron.param_offload": idle,
        f"{actor}.megatron.optimizer_offload": idle,
        f"{ref}.megatron.sequence_parallel": resources.tensor_parallel > 1,
        f"{ref}.megatron.dtype": resources.dtype,
    }


def sglang_overrides() -> dict[str, Any]:
    """The keys that differ with SGLang in the place of vLLM."""
    rollout = "actor_rollout_ref.rollout"
    return {
        f"{rollout}.name": "sglang",
        f"{rollout}.engine_kwargs.sglang": {},
        f"{rollout}.agent.agent_loop_manager_class": None,  # ours asks vLLM for a group at once
        "reward.num_workers": SGLANG_SCORERS,
    }


def _is_fsdps(key: str) -> bool:
    role = key.startswith(("actor_rollout_ref.actor.", "actor_rollout_ref.ref."))
    return role and (".fsdp_config." in key or key.endswith(FSDP_ALONE))
