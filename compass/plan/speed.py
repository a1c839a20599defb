"""How long GPUs and CPUs take to sample and to train: formulas with one set of constants for all models and machines.

Generation is a batch that thins out: responses have exponential lengths, cut at the limit, so that the last ones run nearly alone. A step
of the engine takes what is longer, its products or its reading of weights and keys, and an overhead. A pass of training takes the FLOPs of
`Shape.training_flops` at a model-FLOPs utilisation. Back-tested on published step times by `benchmarks/plan_backtest.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from compass.plan.hardware import Gpu
from compass.plan.shape import Shape

ENGINE_STEP_S = 0.004
"""Seconds that a step of the engine takes besides the GPU's work: scheduling and launching."""

ENGINE_SHARE = 0.6
"""Share of a GPU's peak products and bandwidth that the engine reaches."""

MOST_SEQUENCES = 1024
"""Responses that an engine has in hand at once (vLLM's `max_num_seqs` on large GPUs)."""

OPTIMIZER_STEP_S = 1.0
"""Seconds of an optimizer step: gathering gradients, AdamW."""

WEIGHTS_S = 5.0
"""Seconds to hand the new weights to the engines and to wake them, per iteration."""

FORWARD, WITH_RECOMPUTATION = 1 / 3, 4 / 3
"""A forward pass alone, and forward, recomputation and backward, as shares of forward and backward."""

PIECES = 64
"""Pieces into which the lengths are cut to integrate over them."""


@dataclass(frozen=True)
class Load:
    """Responses to one kind of prompt."""

    responses: float
    prompt: float
    """Mean tokens of a prompt."""

    mean: float
    """Mean tokens of a response."""

    most: int
    """The limit on a response's tokens."""

    @property
    def tokens(self) -> float:
        """Tokens to sample."""
        return self.responses * self.mean

    @property
    def squares(self) -> float:
        """The sum of squared lengths of prompts and responses; a cut exponential's second moment is near twice its squared mean."""
        return self.responses * (self.prompt**2 + 2 * self.prompt * self.mean + 2 * self.mean**2)


def exponential_scale(mean: float, most: float) -> float:
    """The scale of an exponential that has this mean when it is cut at `most`; a mean of half of `most` and above is as good as flat."""
    mean = min(mean, 0.9 * most)
    low, high = mean, 100.0 * most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * (1 - math.exp(-most / middle)) < mean else (low, middle)
    return low


def sampling_seconds(load: Load, shape: Shape, gpu: Gpu, gpus: int, *, split: int = 1, memory: float = 0.85) -> float:
    """Seconds that engines on so many GPUs take for a load, the slow tail of long responses included.

    Args:
        load: what is sampled.
        shape: the model's.
        gpu: the kind of GPU.
        gpus: how many there are.
        split: GPUs per engine (tensor parallel).
        memory: share of a GPU's memory for the engine.
    """
    engines = max(1, gpus // split)
    responses = load.responses / engines
    room = memory * gpu.memory_gb * 1e9 * split - 2 * shape.parameters
    context = load.prompt + load.mean
    in_hand = max(1.0, min(MOST_SEQUENCES, room / (shape.kv_bytes * (load.prompt + load.most)) * 2, responses))

    def step(active: float, length: float) -> float:
        products = 2 * shape.matrix_parameters * active / (ENGINE_SHARE * gpu.tflops * 1e12 * split)
        read = (2 * shape.parameters + shape.kv_bytes * active * length) / (ENGINE_SHARE * gpu.bandwidth * 1e9 * split)
        return max(products, read) + ENGINE_STEP_S

    seconds = max(0.0, responses - in_hand) * load.mean / in_hand * step(in_hand, context)
    scale, piece = exponential_scale(load.mean, load.most), load.most / PIECES
    for number in range(PIECES):
        at = (number + 0.5) * piece
        active = in_hand * math.exp(-at / scale)
        # past the length that fewer than one response reaches, nothing runs
        seconds += piece * min(1.0, active) * step(max(active, 1.0), load.prompt + at)
    prefill = 2 * shape.matrix_parameters * responses * load.prompt / (ENGINE_SHARE * gpu.tflops * 1e12 * split)
    return seconds + prefill


def training_seconds(
    load: Load, shape: Shape, gpu: Gpu, gpus: int, *, passes: int, steps: int, mfu: float
) -> tuple[float, float]:
    """Seconds for the log-probabilities of a load, and for its updates.

    Args:
        load: the responses of an iteration.
        shape: the model's.
        gpu: the kind of GPU.
        gpus: how many there are.
        passes: over all responses.
        steps: of the optimizer, in all passes together.
        mfu: share of the peak that training reaches.
    """
    flops = shape.training_flops(load.responses * (load.prompt + load.mean), load.squares)
    rate = gpus * gpu.tflops * 1e12 * mfu
    return FORWARD * flops / rate, WITH_RECOMPUTATION * passes * flops / rate + steps * OPTIMIZER_STEP_S
