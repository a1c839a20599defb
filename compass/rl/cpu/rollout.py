"""vLLM's worker on the CPU: verl's extension of it (`rollout.engine_kwargs.vllm.worker_extension_cls`), and what it changes inside vLLM."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from verl.workers.rollout.vllm_rollout.utils import vLLMColocateWorkerExtension


class CpuRolloutWorker(vLLMColocateWorkerExtension):
    """verl's worker extension, with weights that verl can update in place and draws that need no compiler."""

    def __new__(cls, **arguments: Any) -> CpuRolloutWorker:
        """Patch vLLM before the worker loads a model."""
        keep_plain_weights()
        draw_by_gumbel_noise()
        draw_from_each_seed()
        return super().__new__(cls, **arguments)


def keep_plain_weights() -> None:
    """Have vLLM's linear layers read their live parameters.

    vLLM's CPU backend repacks the weights of linear layers for its own kernels and drops the originals. verl's in-place
    weight update then fails, and vLLM's `reload_weights` leaves a tied output layer stale, so that training would go on
    with rollouts of an old policy. `dispatch_cpu_unquantized_gemm` is a private name of vLLM, so vLLM's version is
    pinned and every RL stage asserts that the probabilities of rollout and trainer agree (the guard `agreement`).
    """
    import vllm.model_executor.layers.utils as layers

    def apply_live_parameter(layer: torch.nn.Module, remove_weight: bool) -> None:
        layer.cpu_linear = lambda x, weight, bias: torch.nn.functional.linear(x, weight, bias)

    layers.dispatch_cpu_unquantized_gemm = apply_live_parameter


def draw_by_gumbel_noise() -> None:
    """Have vLLM draw tokens without a compiler: the same distribution, as fast as its compiled function is.

    Without `torch.compile` (`compass.rl.cpu.environment`) vLLM's own function takes three times as long.
    """
    import vllm.v1.sample.ops.topk_topp_sampler as sampler

    sampler.compiled_random_sample = sample_tokens


def draw_from_each_seed() -> None:
    """Have vLLM draw each response from its own seed, where it has one.

    vLLM's CPU backend forgets all seeds of a pass in which one response has none, such as a greedy one among seeded ones.
    """
    from vllm.v1.sample.ops.topk_topp_sampler import TopKTopPSampler

    original = TopKTopPSampler.forward_cpu

    def forward_cpu(
        self: TopKTopPSampler,
        logits: torch.Tensor,
        generators: dict[int, torch.Generator],
        k: torch.Tensor | None,
        p: torch.Tensor | None,
    ) -> Any:
        return (self.forward_native if generators else partial(original, self))(logits, generators, k, p)

    TopKTopPSampler.forward_cpu = forward_cpu


def sample_tokens(logits: torch.Tensor) -> torch.Tensor:
    """One token per row, drawn from the softmax of its logits with torch's default generator, by the Gumbel-max trick: add Gumbel noise to every
    logit and take the largest.

    The noise is made from uniform numbers: torch's `exponential_` draws one number after the other in double precision,
    which takes longer than the rest of the draw. A uniform number of exactly 0 only rules its token out for this draw.

    Args:
        logits: (rows, vocabulary); -inf for a token that must not be drawn.

    Returns:
        (rows,), token ids.
    """
    minus_noise = torch.rand_like(logits, dtype=torch.float32).log_().neg_().log_()
    return (logits - minus_noise).argmax(dim=-1)
