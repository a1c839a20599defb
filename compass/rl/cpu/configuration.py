"""How verl is configured on the CPU: one rank or a few, precision as asked, as few processes as verl allows.

It sets the same keys as `compass.rl.gpu.configuration`, so that no key is left to a default that was meant for the
other device.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compass.rl.cluster import cpus_reserved, ray_init
from compass.rl.weights import transfer_bucket
from compass.settings import RlStage

STORAGE_UNITS = 1
"""verl's transfer queue."""


def cpu_overrides(settings: RlStage, model: Path) -> dict[str, Any]:
    """verl's keys that the device decides, with their values on a CPU.

    Args:
        settings: the stage's settings.
        model: folder of the weights that the stage starts from.
    """
    return {
        "trainer.device": "cpu",
        "trainer.nnodes": settings.resources.nodes,
        "trainer.n_gpus_per_node": settings.resources.ranks,
        **_ray(settings),
        **_model(),
        **_trained("actor_rollout_ref.actor", settings),
        **_trained("actor_rollout_ref.ref", settings),
        **_passes(settings),
        **_rollout(settings, model),
        "transfer_queue.backend.SimpleStorage.num_data_storage_units": STORAGE_UNITS,
    }


def micro_batch(settings: RlStage) -> int:
    """Responses in one pass: the largest number up to `micro_batch_size` that divides the responses of an update.

    verl refuses any other, and the number has no effect on results.
    """
    ranks = settings.resources.ranks * settings.resources.nodes
    responses = settings.optimizer.mini_batch_size * settings.rollout.group_size // ranks
    most = min(settings.resources.micro_batch_size, responses)
    return max(number for number in range(1, most + 1) if responses % number == 0)


def _ray(settings: RlStage) -> dict[str, Any]:
    ranks = settings.resources.ranks
    return ray_init(
        settings.resources,
        gpus=ranks,  # logical tokens, see compass.rl.cpu.platform
        cpus=max(16, cpus_reserved(ranks, STORAGE_UNITS)),  # logical as well
        memory=1 << 29,
    )


def _model() -> dict[str, Any]:
    model = "actor_rollout_ref.model"
    return {
        f"{model}.override_config.attn_implementation": "sdpa",
        f"{model}.use_remove_padding": False,
        f"{model}.enable_gradient_checkpointing": False,
        f"{model}.use_fused_kernels": False,
        f"{model}.external_lib": "compass.rl.cpu.engine",
        f"{model}.fused_kernel_options.impl_backend": "torch",
    }


def _trained(role: str, settings: RlStage) -> dict[str, Any]:
    """The trained policy (`actor`) and its reference (`ref`) have the same precision, or their KL is not 0 at the start."""
    precision = {"float32": "fp32", "bfloat16": "bf16"}[settings.resources.dtype]
    return {
        f"{role}.use_torch_compile": False,
        f"{role}.ulysses_sequence_parallel_size": 1,
        f"{role}.entropy_from_logits_with_chunking": False,
        f"{role}.entropy_checkpointing": False,
        f"{role}.fsdp_config.use_torch_compile": False,
        f"{role}.fsdp_config.model_dtype": "fp32",
        f"{role}.fsdp_config.dtype": settings.resources.dtype,
        f"{role}.fsdp_config.mixed_precision": {
            "param_dtype": precision,
            "reduce_dtype": "fp32",
            "buffer_dtype": "fp32",
        },
        f"{role}.fsdp_config.param_offload": False,
        f"{role}.fsdp_config.optimizer_offload": False,
        f"{role}.fsdp_config.offload_policy": False,
    }


def _passes(settings: RlStage) -> dict[str, Any]:
    """How many responses one forward or backward pass holds: a fixed number."""
    actor, ref, rollout = (f"actor_rollout_ref.{role}" for role in ("actor", "ref", "rollout"))
    longest = settings.data.max_prompt_tokens + settings.rollout.max_response_tokens
    responses = micro_batch(settings)
    return {
        f"{actor}.use_dynamic_bsz": False,
        f"{actor}.ppo_micro_batch_size_per_gpu": responses,
        f"{actor}.ppo_max_token_len_per_gpu": responses * longest,
        **{f"{role}.log_prob_use_dynamic_bsz": False for role in (ref, rollout)},
        **{f"{role}.log_prob_micro_batch_size_per_gpu": responses for role in (ref, rollout)},
        **{f"{role}.log_prob_max_token_len_per_gpu": responses * longest for role in (ref, rollout)},
    }


def _rollout(settings: RlStage, model: Path) -> dict[str, Any]:
    rollout = "actor_rollout_ref.rollout"
    return {
        f"{rollout}.dtype": settings.resources.dtype,
        f"{rollout}.gpu_memory_utilization": settings.resources.rollout_memory,  # vLLM reads VLLM_CPU_KVCACHE_SPACE
        f"{rollout}.tensor_model_parallel_size": 1,
        f"{rollout}.enforce_eager": True,
        f"{rollout}.free_cache_engine": False,
        f"{rollout}.enable_sleep_mode": False,
        f"{rollout}.max_num_seqs": 256,
        f"{rollout}.max_num_batched_tokens": 8192,
        f"{rollout}.agent.num_workers": 1,
        f"{rollout}.checkpoint_engine.update_weights_bucket_megabytes": transfer_bucket(model, at_least=64),
        f"{rollout}.engine_kwargs.vllm": {
            "worker_extension_cls": "compass.rl.cpu.rollout.CpuRolloutWorker",
            "distributed_executor_backend": "uni",  # one process less than verl's default
            # Only whole blocks are shared between requests: vLLM's 128 tokens are more than most prompts have.
            "block_size": 32,
        },
    }
