"""vLLM's CPU worker with weights that can be updated.

vLLM's CPU backend repacks the weights of linear layers for its own kernels and drops the originals. verl's in-place
weight update then fails, and vLLM's `reload_weights` leaves a tied output layer stale, so that training would go on
with rollouts of an old policy. Here every linear layer reads its live parameter instead. It leans on a private name of
vLLM (`dispatch_cpu_unquantized_gemm`), so vLLM's version is pinned and every RL stage asserts that the probabilities of
rollout and trainer agree (`compass.rl.checks`).
"""

from __future__ import annotations

import torch
import vllm.model_executor.layers.utils as layer_utils
from verl.workers.rollout.vllm_rollout.utils import vLLMColocateWorkerExtension


def keep_plain_weights(layer: torch.nn.Module, remove_weight: bool) -> None:
    """Replace vLLM's repacking: apply the layer by its parameter as it is at that moment."""
    layer.cpu_linear = lambda x, weight, bias: torch.nn.functional.linear(x, weight, bias)


layer_utils.dispatch_cpu_unquantized_gemm = keep_plain_weights


class CpuRolloutWorker(vLLMColocateWorkerExtension):
    """verl's worker extension; loading this module is what makes the weights plain."""
