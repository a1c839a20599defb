"""The share of groups that teach something, predicted from graded solve rates before a stage starts.

A group teaches when it holds both right and wrong responses; dynamic sampling throws the others away.
"""

from __future__ import annotations

from collections.abc import Sequence

from compass.errors import UserError


class UnfillableStageError(UserError):
    """The graded solve rates say that dynamic sampling cannot fill its batches."""


def predict_mixed_share(solve_rates: Sequence[float], group_size: int) -> float:
    """Expected share of groups with both right and wrong responses, 1 - p^G - (1-p)^G averaged over problems.

    A solve rate estimated as exactly 0 or 1 stands for an unknown rate near it; it is moved inwards by half of one
    rollout in 8, so that a small number of graded rollouts does not forbid a stage.
    """
    if not solve_rates:
        return 1.0
    inner = [min(max(rate, 1 / 16), 15 / 16) for rate in solve_rates]
    return sum(1 - p**group_size - (1 - p) ** group_size for p in inner) / len(inner)


def check_fillable(stage: str, share: float, max_generation_batches: int) -> None:
    """Raise `UnfillableStageError` when a batch is expected to need more than `max_generation_batches` batches."""
    if share * max_generation_batches < 1:
        raise UnfillableStageError(
            f"{stage}: only {share:.1%} of groups are expected to hold both right and wrong responses, so a batch needs "
            f"about {1 / max(share, 1e-9):.0f} generated batches and `max_generation_batches` allows "
            f"{max_generation_batches}; change the levels (`curriculum.mixes.{stage}`), raise `group_size`, or allow more"
        )
