"""An entropy coefficient that holds the policy's entropy at a target (Skywork-OR1, He et al. 2025, arXiv:2505.22312).

Every iteration measures the entropy of the policy that sampled. Below the target the coefficient rises by a step, otherwise it falls by one, never
below 0 nor above a bound. The loss has the entropy term only in iterations whose entropy is below the target, so that nothing pushes entropy beyond it.

`compass.rl.stage_trainer` moves the coefficient before each update. Metrics hold it, so that a stage that goes on from a checkpoint has the
coefficient that it would have had: verl's checkpoints do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compass.rl.metrics import ENTROPY

COEFFICIENT = "actor/entropy_coef"
"""Metric: the coefficient of an iteration, which the loss has where `actor/entropy` is below the target."""


def move_coefficient(history: Sequence[Mapping[str, Any]], entropy: float, loss: Mapping[str, float]) -> float:
    """The coefficient of an iteration.

    Args:
        history: the metrics of the stage's iterations before it.
        entropy: of its policy before its update, in nats per token.
        loss: settings `rl.loss`: `entropy_coef` is moved in the first iteration that has an update, towards `entropy_target` by
            `entropy_step`, to at most `entropy_coef_max`.
    """
    before = history[-1].get(COEFFICIENT, loss["entropy_coef"]) if history else loss["entropy_coef"]
    moved = before + (loss["entropy_step"] if entropy < loss["entropy_target"] else -loss["entropy_step"])
    return min(max(moved, 0.0), loss["entropy_coef_max"])


def find_applied_coefficient(metrics: Mapping[str, float], target: float) -> float:
    """What the loss of an iteration with these metrics multiplies its entropy by."""
    return metrics[COEFFICIENT] if metrics[ENTROPY] < target else 0.0
