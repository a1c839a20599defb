"""How verl is configured with GPUs: FSDP over all of them, batches by tokens, a fused output layer.

It sets the same keys as `compass.rl.cpu.configuration`, so that no key is left to a default that was meant for the
other device.

Attention is torch's own (`sdpa`): flash-attention is published as source alone, so that it needs a CUDA compiler, and
no lock file can hold it. transformers then keeps packed responses apart by a mask that it derives from their positions.
The output layer is verl's fused one in plain torch: it makes logits for 512 tokens at a time, gives log-probability and
entropy in single precision, and needs no flash-attention either. Without it verl would take log-probabilities of
bfloat16 logits token by token, in Python.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compass.rl.cluster import cpus_reserved, ray_init
from compass.rl.weights import transfer_bucket
from compass.settings import RlStage

STORAGE_UNITS_PER_NODE = 2
"""verl's transfer queue: the number that its documentation asks for at least."""


def gpu_overrides(settings: RlStage, model: Path) -> dict[str, Any]:
    """verl's keys that the device decides, with their values on GPUs.

    Args:
        settings: the stage's settings; `resources.gpus` is at least 1.
        model: folder of the weights that the stage starts from.
    """
    resources = settings.resources
    return {
        "trainer.device": "cuda",
        "trainer.nnodes": resources.nodes,
        "trainer.n_gpus_per_node": resources.gpus,
        **_ray(settings),
        **_model(settings),
        **_trained("actor_rollout_ref.actor", settings),
        **_trained("actor_rollout_ref.ref", settings),
        **_passes(settings),
        **_rollout(settings, model),
        "transfer_queue.backend.SimpleStorage.num_data_storage_units": STORAGE_UNITS_PER_NODE * resources.nodes,
    }


def _ray(settings: RlStage) -> dict[str, Any]:
    gpus = settings.resources.gpus
    # The CPUs are logical: what verl reserves. Ray would count cores, and verl would wait for ever for those that a small
    # machine lacks.
    return ray_init(settings.resources, gpus=gpus, cpus=cpus_reserved(gpus, STORAGE_UNITS_PER_NODE), memory=None)


def _model(settings: RlStage) -> dict[str, Any]:
    model = "actor_rollout_ref.model"
    return {
        f"{model}.override_config.attn_implementation": settings.resources.attention,
        f"{model}.use_remove_padding": True,
        f"{model}.enable_gradient_checkpointing": True,
        f"{model}.use_fused_kernels": True,
        f"{model}.external_lib": None,
        f"{model}.fused_kernel_options.impl_backend": "torch",
    }


def _trained(role: str, settings: RlStage) -> dict[str, Any]:
    """The trained policy (`actor`) and its reference (`ref`) have the same precision, or their KL is not 0 at the start.

    verl keeps parameters and AdamW's state in single precision in either case; `dtype` is what is computed with.
    """
    resources = settings.resources
    precision = {"float32": "fp32", "bfloat16": "bf16"}[resources.dtype]
    idle, always = resources.offload == "idle", resources.offload == "always"
    return {
        f"{role}.use_torch_compile": False,  # of the entropy alone, which the fused output layer gives
        f"{role}.ulysses_sequence_parallel_size": resources.sequence_parallel,
        f"{role}.entropy_from_logits_with_chunking": True,
        f"{role}.entropy_checkpointing": True,
        f"{role}.fsdp_config.use_torch_compile": False,
        f"{role}.fsdp_config.model_dtype": "fp32",
        f"{role}.fsdp_config.dtype": resources.dtype,
        f"{role}.fsdp_config.mixed_precision": {
            "param_dtype": precision,
            "reduce_dtype": "fp32",
            "buffer_dtype": "fp32",
        },
        f"{role}.fsdp_config.param_offload": idle,
        f"{role}.fsdp_config.optimizer_offload": idle,
        f"{role}.fsdp_config.offload_policy": always,
    }


def _passes(settings: RlStage) -> dict[str, Any]:
    """How many responses one forward or backward pass holds: as many as have `micro_batch_tokens` tokens together."""
    actor, ref, rollout = (f"actor_rollout_ref.{role}" for role in ("actor", "ref", "rollout"))
    tokens = settings.resources.micro_batch_tokens
    return {
        f"{actor}.use_dynamic_bsz": True,
        f"{actor}.ppo_micro_batch_size_per_gpu": None,
        f"{actor}.ppo_max_token_len_per_gpu": tokens,
        **{f"{role}.log_prob_use_dynamic_bsz": True for role in (ref, rollout)},
        **{f"{role}.log_prob_micro_batch_size_per_gpu": None for role in (ref, rollout)},
        **{f"{role}.log_prob_max_token_len_per_gpu": tokens for role in (ref, rollout)},
    }


def _rollout(settings: RlStage, model: Path) -> dict[str, Any]:
    resources, rollout = settings.resources, "actor_rollout_ref.rollout"
    return {
        f"{rollout}.dtype": resources.dtype,
        f"{rollout}.gpu_memory_utilization": resources.rollout_memory,
        f"{rollout}.tensor_model_parallel_size": resources.tensor_parallel,
        f"{rollout}.enforce_eager": False,
        f"{rollout}.free_cache_engine": True,
        f"{rollout}.enable_sleep_mode": True,
        f"{rollout}.max_num_seqs": 256,
        f"{rollout}.max_num_batched_tokens": 8192,
        f"{rollout}.agent.num_workers": 2 * resources.nodes,  # each scores in its own process
        f"{rollout}.checkpoint_engine.update_weights_bucket_megabytes": transfer_bucket(model, at_least=2048),
        f"{rollout}.engine_kwargs.vllm": {},
    }
