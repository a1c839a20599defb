"""What the device decides of verl's configuration: the CPU's value and the GPUs' of each key, next to each other.

**CPU**: one rank or a few, precision as asked, as few processes as verl allows, passes of a fixed number of responses.

**GPUs**: FSDP over those of a node, which hold one copy of the training state, passes by tokens, a fused output layer. Attention is torch's own
(`sdpa`): flash-attention is published as source alone, so that it needs a CUDA compiler, and no lock file can hold it. transformers then keeps
packed responses apart by a mask that it derives from their positions. The output layer is verl's fused one in plain torch: it makes logits for 512
tokens at a time, computes log-probability and entropy in single precision (and rounds the entropy to the logits' type), and needs no
flash-attention either. Without it verl would take log-probabilities of bfloat16 logits token by token, in Python.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compass.rl.cluster import cpus_reserved, ray_init
from compass.rl.weights import transfer_bucket
from compass.settings import RlStage

STORAGE_UNITS_PER_NODE = 2
"""verl's transfer queue on GPUs: the number that its documentation asks for at least. On the CPU one in all."""

ATTENTION = "sdpa"
"""torch's attention, by transformers' name for it."""

LEAST_SEQUENCES, MOST_SEQUENCES = 256, 1024
"""Responses that a rollout engine may have in hand at once: verl's default, and vLLM's own for large GPUs."""


def device_overrides(settings: RlStage, model: Path) -> dict[str, Any]:
    """verl's keys that the device decides, with their values.

    Args:
        settings: the stage's settings.
        model: folder of the weights that the stage starts from.
    """
    resources, cpu = settings.resources, settings.resources.gpus == 0
    units = 1 if cpu else STORAGE_UNITS_PER_NODE * resources.nodes
    # The CPUs are logical: what verl reserves. Ray would count cores, and verl would wait forever for those that a small machine lacks.
    cpus = cpus_reserved(resources.ranks_per_node, 1 if cpu else STORAGE_UNITS_PER_NODE)
    return {
        "trainer.device": "cpu" if cpu else "cuda",
        "trainer.nnodes": resources.nodes,
        "trainer.n_gpus_per_node": resources.ranks_per_node,  # on the CPU logical tokens, see compass.rl.cpu.platform
        **ray_init(
            resources,
            gpus=resources.ranks_per_node,
            cpus=max(16, cpus) if cpu else cpus,
            memory=1 << 29 if cpu else None,
        ),
        **_model(settings, cpu),
        **_trained("actor_rollout_ref.actor", settings, cpu),
        **_trained("actor_rollout_ref.ref", settings, cpu),
        **_passes(settings, cpu),
        **_rollout(settings, model, cpu),
        "transfer_queue.backend.SimpleStorage.num_data_storage_units": units,
    }


def micro_batch(settings: RlStage) -> int:
    """Responses in one pass on the CPU: the largest number up to `micro_batch_size` that divides the responses of an update.

    verl refuses any other, and the number has no effect on results.
    """
    ranks = settings.resources.ranks * settings.resources.nodes
    responses = settings.optimizer.mini_batch_size * settings.rollout.group_size // ranks
    most = min(settings.resources.micro_batch_size, responses)
    return max(number for number in range(1, most + 1) if responses % number == 0)


def engine_sequences(settings: RlStage) -> int:
    """Responses that an engine may have in hand at once: its share of an iteration, or those of a batch would wait for each other."""
    resources = settings.resources
    engines = resources.ranks_per_node * resources.nodes // resources.tensor_parallel
    share = -(-settings.data.batch_size * settings.rollout.group_size // engines)
    return min(MOST_SEQUENCES, max(LEAST_SEQUENCES, share))


def _model(settings: RlStage, cpu: bool) -> dict[str, Any]:
    model = "actor_rollout_ref.model"
    return {
        f"{model}.override_config.attn_implementation": ATTENTION,
        f"{model}.use_remove_padding": not cpu,
        f"{model}.enable_gradient_checkpointing": not cpu,
        f"{model}.use_fused_kernels": not cpu,
        f"{model}.external_lib": "compass.rl.cpu.engine" if cpu else None,
        f"{model}.fused_kernel_options.impl_backend": "torch",
    }


def _trained(role: str, settings: RlStage, cpu: bool) -> dict[str, Any]:
    """The trained policy (`actor`) and its reference (`ref`) have the same precision, or their KL is not 0 at the start.

    verl keeps parameters and AdamW's state in single precision in either case; `dtype` is what is computed with.
    """
    resources = settings.resources
    precision = {"float32": "fp32", "bfloat16": "bf16"}[resources.dtype]
    idle = resources.offload == "idle"
    return {
        f"{role}.use_torch_compile": False,  # of the entropy alone, which the fused output layer gives
        f"{role}.entropy_from_logits_with_chunking": not cpu,
        f"{role}.entropy_checkpointing": not cpu,
        # Over several nodes each holds a whole copy: no pass gathers weights across the network, only gradients go there.
        f"{role}.fsdp_config.fsdp_size": resources.gpus if resources.nodes > 1 and not cpu else -1,
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
        f"{role}.fsdp_config.offload_policy": resources.offload == "always",
    }


def _passes(settings: RlStage, cpu: bool) -> dict[str, Any]:
    """How much one forward or backward pass holds: on the CPU a number of responses, on GPUs as many as have so many tokens together."""
    actor, ref, rollout = (f"actor_rollout_ref.{role}" for role in ("actor", "ref", "rollout"))
    longest = settings.data.max_prompt_tokens + settings.rollout.max_response_tokens
    responses = micro_batch(settings) if cpu else None
    tokens = responses * longest if responses else settings.resources.micro_batch_tokens
    return {
        f"{actor}.use_dynamic_bsz": not cpu,
        f"{actor}.ppo_micro_batch_size_per_gpu": responses,
        f"{actor}.ppo_max_token_len_per_gpu": tokens,
        **{f"{role}.log_prob_use_dynamic_bsz": not cpu for role in (ref, rollout)},
        **{f"{role}.log_prob_micro_batch_size_per_gpu": responses for role in (ref, rollout)},
        **{f"{role}.log_prob_max_token_len_per_gpu": tokens for role in (ref, rollout)},
    }


def _rollout(settings: RlStage, model: Path, cpu: bool) -> dict[str, Any]:
    resources, rollout = settings.resources, "actor_rollout_ref.rollout"
    cpu_engine = {
        "worker_extension_cls": "compass.rl.cpu.rollout.CpuRolloutWorker",
        "distributed_executor_backend": "uni",  # one process less than verl's default
        # Only whole blocks are shared between requests: vLLM's 128 tokens are more than most prompts have.
        "block_size": 32,
    }
    return {
        f"{rollout}.dtype": resources.dtype,
        f"{rollout}.quantization": None if settings.rollout.quantization == "none" else settings.rollout.quantization,
        f"{rollout}.gpu_memory_utilization": resources.rollout_memory,  # on the CPU vLLM reads VLLM_CPU_KVCACHE_SPACE
        f"{rollout}.tensor_model_parallel_size": resources.tensor_parallel,
        f"{rollout}.enforce_eager": cpu,
        f"{rollout}.free_cache_engine": not cpu,
        f"{rollout}.enable_sleep_mode": not cpu,
        f"{rollout}.max_num_seqs": LEAST_SEQUENCES if cpu else engine_sequences(settings),
        f"{rollout}.max_num_batched_tokens": 8192,
        f"{rollout}.agent.num_workers": 1 if cpu else 2 * resources.nodes,  # each scores in its own process
        f"{rollout}.checkpoint_engine.update_weights_bucket_megabytes": transfer_bucket(model, 64 if cpu else 2048),
        f"{rollout}.engine_kwargs.vllm": cpu_engine if cpu else {},
    }
