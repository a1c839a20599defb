"""Rollout and trainer give the same tokens the same probability, in every precision.

A rollout policy with other weights than the trained one trains on silently: the run looks healthy and learns from another
policy's responses. verl measures the difference in every iteration, on the tokens that were just sampled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

LARGEST = "training/rollout_probs_diff_max"
MEAN = "training/rollout_probs_diff_mean"

BOUNDS = {
    ("cpu", "float32"): (LARGEST, 1e-4),
    ("cuda", "float32"): (MEAN, 1e-3),
    ("cpu", "bfloat16"): (MEAN, 0.01),
    ("cuda", "bfloat16"): (MEAN, 0.01),
}
"""verl's metric and the largest value of it, by device and compute type.

In float32 on the CPU both sides compute alike: the largest difference is rounding (1e-5). Elsewhere single tokens differ
by much more, because kernels round in other places (on GPUs float32 products may run in TF32); there the mean counts.
verl's documentation calls a mean below 0.005 normal and one above 0.01 a problem of the inference engine."""


def disagreement(metrics: Mapping[str, Any], device: str, dtype: str, limit: float | None) -> str | None:
    """How far rollout and trainer are apart, where that is too far.

    Args:
        metrics: verl's metrics of an iteration.
        device: `cpu` or `cuda`.
        dtype: compute type, `float32` or `bfloat16`.
        limit: the largest difference allowed; None takes it from `BOUNDS`.
    """
    metric, bound = BOUNDS[device, dtype]
    bound = bound if limit is None else limit
    difference = metrics.get(metric)
    if difference is not None and math.isfinite(difference) and difference < bound:
        return None
    what = "largest" if metric == LARGEST else "mean"
    if difference is None:
        return f"verl did not measure the {what} difference of probabilities between rollout and trainer"
    return (
        f"the {what} difference of a token's probability between rollout and trainer is {difference:.2g} "
        f"(allowed in {dtype}: {bound:g})"
    )
