"""verl's extension of vLLM's worker, on the CPU (`rollout.engine_kwargs.vllm.worker_extension_cls`)."""

from __future__ import annotations

from typing import Any

from verl.workers.rollout.vllm_rollout.utils import vLLMColocateWorkerExtension

from compass.rl.cpu.patches import draw_by_gumbel_noise, draw_from_each_seed, keep_plain_weights


class CpuRolloutWorker(vLLMColocateWorkerExtension):
    """verl's worker extension, with weights that verl can update in place and draws that need no compiler."""

    def __new__(cls, **arguments: Any) -> CpuRolloutWorker:
        """Patch vLLM before the worker loads a model."""
        keep_plain_weights()
        draw_by_gumbel_noise()
        draw_from_each_seed()
        return super().__new__(cls, **arguments)
