"""Groups that teach something: those with both right and wrong responses; dynamic sampling throws the others away.

Their share is predicted from graded solve rates before a stage starts, and what was thrown away is bounded while it runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compass.errors import UserError

NEAREST = 1 / 16
"""How near to 0 and 1 a solve rate is taken to be: half of one rollout in 8.

A rate estimated as exactly 0 or 1 stands for an unknown one near it, so that a few graded rollouts do not forbid a stage.
The bound is the same however many rollouts were graded: a rate of 1/64, seen in 64 rollouts, is taken as 1/16 too, so that
the predicted share is never small where groups are large.
"""


class UnfillableStageError(UserError):
    """The graded solve rates say that dynamic sampling cannot fill its batches."""


class SaturatedError(RuntimeError):
    """Too few groups with both right and wrong responses to fill an iteration."""


def predict_mixed_share(solve_rates: Sequence[float], group_size: int) -> float:
    """Expected share of groups with both right and wrong responses, 1 - p^G - (1-p)^G averaged over problems.

    Args:
        solve_rates: the graded solve rate of each problem, 0..1; taken no nearer to 0 and 1 than `NEAREST`.
        group_size: responses per group, G.

    Returns:
        0..1; 1 where nothing was graded.
    """
    if not solve_rates:
        return 1.0
    inner = [min(max(rate, NEAREST), 1 - NEAREST) for rate in solve_rates]
    return sum(1 - p**group_size - (1 - p) ** group_size for p in inner) / len(inner)


def check_fillable(stage: str, share: float, max_generation_batches: int) -> None:
    """Raise `UnfillableStageError` when a batch is expected to need more than `max_generation_batches` batches."""
    if share * max_generation_batches < 1:
        raise UnfillableStageError(
            f"{stage}: only {share:.1%} of groups are expected to hold both right and wrong responses, so a batch needs "
            f"about {1 / max(share, 1e-9):.0f} generated batches and `rollout.max_generation_batches` allows "
            f"{max_generation_batches}; change the levels (`curriculum.mixes.{stage}`), raise `rollout.group_size`, or allow more"
        )


def check_saturation(step: int, thrown_away: Mapping[float, int], batch_size: int, max_generation_batches: int) -> None:
    """Stop an iteration that generates without an end.

    Args:
        step: the iteration.
        thrown_away: groups that this iteration has thrown away, by the accuracy that all their responses share.
        batch_size: groups per batch; 0 sets no bound.
        max_generation_batches: batches of groups that an iteration may throw away.

    Raises:
        SaturatedError: more were thrown away; the message says whether the problems are too easy or too hard.
    """
    groups = sum(thrown_away.values())
    if not batch_size or groups <= max_generation_batches * batch_size:
        return
    solved = sum(count for accuracy, count in thrown_away.items() if accuracy >= 1)
    problems, levels = ("easy", "harder") if solved * 2 >= groups else ("hard", "easier")
    raise SaturatedError(
        f"iteration {step} threw away {groups} groups ({solved} all right, {groups - solved} all wrong) without filling "
        f"a batch of {batch_size}; the problems are too {problems} for the policy: give the stage {levels} levels "
        "(`curriculum.mixes`), more responses (`group_size`), or raise `max_generation_batches`"
    )
