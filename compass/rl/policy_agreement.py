"""Rollout and trainer give the same tokens the same probability, after every iteration on the CPU.

A stale rollout policy trains on silently: the run looks healthy and learns from another policy's responses.
"""

from __future__ import annotations

from typing import Any

from compass.errors import UserError

AGREEMENT = {"float32": 1e-4}
"""Largest difference of a token's probability between rollout and trainer, by compute type; half precision has none
small enough to tell a stale policy from rounding."""


class PolicyMismatchError(UserError):
    """Rollouts come from other weights than those being trained."""


def check_agreement(step: int, metrics: dict[str, Any], dtype: str) -> None:
    """Compare the probabilities that rollout and trainer give to the same tokens.

    Args:
        step: the iteration.
        metrics: verl's metrics of that iteration.
        dtype: compute type of the stage; only `float32` has a bound.

    Raises:
        PolicyMismatchError: they differ by more than rounding, or were not measured.
    """
    bound = AGREEMENT.get(dtype)
    if bound is None:
        return
    difference = metrics.get("training/rollout_probs_diff_max")
    if difference is None or not difference < bound:
        raise PolicyMismatchError(
            f"iteration {step}: a token's probability differs by {difference} between rollout and trainer (allowed: {bound:g}); "
            "the rollout policy is not the trained one. Check that vLLM is the pinned version (requirements/) and that "
            "the vocabulary is no larger than the tokenizer's"
        )
