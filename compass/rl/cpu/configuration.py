"""How verl's configuration differs on the CPU: one rank, full precision where asked, as few processes as verl allows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any


def cpu_overrides(dtype: str, model: Path) -> dict[str, Any]:
    """verl's keys that differ without an accelerator, with their values.

    Args:
        dtype: compute type, `float32` or `bfloat16`.
        model: folder of the weights that the stage starts from.
    """
    rollout, actor = "actor_rollout_ref.rollout", "actor_rollout_ref.actor"
    precision = {"float32": "fp32", "bfloat16": "bf16"}[dtype]
    return {
        "trainer.device": "cpu",
        "ray_kwargs.ray_init.num_gpus": 1,  # a logical token, see compass.rl.cpu.platform
        "ray_kwargs.ray_init.num_cpus": 16,  # logical as well: verl's actors each ask for one
        "ray_kwargs.ray_init.include_dashboard": False,
        "ray_kwargs.ray_init.object_store_memory": 1 << 29,
        "actor_rollout_ref.model.override_config.attn_implementation": "sdpa",
        "actor_rollout_ref.model.use_remove_padding": False,
        "actor_rollout_ref.model.enable_gradient_checkpointing": False,
        f"{actor}.use_torch_compile": False,
        f"{actor}.fsdp_config.use_torch_compile": False,
        f"{actor}.fsdp_config.mixed_precision": {
            "param_dtype": precision,
            "reduce_dtype": "fp32",
            "buffer_dtype": "fp32",
        },
        f"{rollout}.enforce_eager": True,
        f"{rollout}.free_cache_engine": False,
        f"{rollout}.enable_sleep_mode": False,
        f"{rollout}.max_num_seqs": 256,
        f"{rollout}.max_num_batched_tokens": 8192,
        f"{rollout}.agent.num_workers": 1,
        # weights travel to the rollout in single precision, and none in parts
        f"{rollout}.checkpoint_engine.update_weights_bucket_megabytes": max(
            64, -(-4 * largest_weight(model) // 2**20) + 1
        ),
        f"{rollout}.engine_kwargs.vllm": {
            "worker_extension_cls": "compass.rl.cpu.rollout.CpuRolloutWorker",
            "distributed_executor_backend": "uni",  # one process less than verl's default
        },
        "transfer_queue.backend.SimpleStorage.num_data_storage_units": 1,
    }


def largest_weight(model: Path) -> int:
    """Elements of the largest tensor in a model folder; 0 where it holds no weights."""
    from safetensors import safe_open

    largest = 0
    for path in sorted(model.glob("*.safetensors")):
        with safe_open(path, framework="numpy") as file:
            names = file.keys()
            largest = max([largest, *(math.prod(file.get_slice(name).get_shape()) for name in names)])
    return largest
