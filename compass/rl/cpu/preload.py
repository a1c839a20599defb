"""What every process of an RL stage imports: imported once, before the fork server starts."""

from __future__ import annotations

import gc
import importlib

MODULES = (
    "compass.rl.agent_loop",
    "compass.rl.cpu.engine",
    "compass.rl.cpu.rollout",
    "compass.rl.dynamic_sampling",
    "compass.rl.group_server",
    "compass.rl.one_update",
    "compass.rl.reward_function",
    "transfer_queue",
    "transformers.models.qwen2.modeling_qwen2",
    "verl.experimental.reward_loop",
    "verl.trainer.ppo.v1",
    "verl.workers.engine.fsdp",
    "verl.workers.engine_workers",
    "verl.workers.rollout.vllm_rollout.vllm_async_server",
    "vllm.model_executor.models.qwen2",
    "vllm.v1.engine.core",
    "vllm.v1.worker.cpu_worker",
)
"""A module missing here costs seconds in each process."""


def preload() -> None:
    """Import them all, with the garbage collector at rest: it finds nothing among eight thousand modules, and takes a quarter of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        for module in MODULES:
            importlib.import_module(module)
    finally:
        if was_on:
            gc.enable()
