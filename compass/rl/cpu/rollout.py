"""verl's extension of vLLM's worker, on the CPU (`rollout.engine_kwargs.vllm.worker_extension_cls`)."""

from __future__ import annotations

from typing import Any

from verl.workers.rollout.vllm_rollout.utils import vLLMColocateWorkerExtension

from compass.rl.cpu.patches import keep_plain_weights


class CpuRolloutWorker(vLLMColocateWorkerExtension):
    """verl's worker extension, with weights that verl can update in place."""

    def __new__(cls, **arguments: Any) -> CpuRolloutWorker:
        """Patch vLLM before the worker loads a model."""
        keep_plain_weights()
        return super().__new__(cls, **arguments)
