"""Groups that teach something: those with both right and wrong responses; dynamic sampling throws the others away.

Their share is predicted from graded solve rates before a stage starts, and what was thrown away is bounded while it runs.

A graded rate is an estimate: of a problem that one of 8 rollouts solved, the true rate may be 0.01 or 0.3, and the two fill
a batch very differently. The problems themselves say which is likely: the prediction fits a beta distribution of rates to
all that were graded (beta-binomial, by moments), and takes each problem's rate from that distribution given its own rollouts.
All, since a stage's own were chosen by their rates: among them the few that one lucky rollout brought in look like many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.special import betaln

from compass.errors import UserError

WEAKEST = 0.5
"""The least weight of the fitted distribution, in rollouts. The most is that of a problem's own rollouts: few problems may look
more alike than they are."""


class UnfillableStageError(UserError):
    """The graded solve rates say that dynamic sampling cannot fill its batches."""


class SaturatedError(RuntimeError):
    """Too few groups with both right and wrong responses to fill an iteration."""


@dataclass(frozen=True)
class MixedGroups:
    """The predicted share of groups with both right and wrong responses.

    Attributes:
        share: expected, 0..1.
        low: lower end of its 95% interval.
        high: upper end.
        problems: how many are trained on and were graded.
        unsolved: of these, how many no rollout solved.
        solved: of these, how many every rollout solved.
    """

    share: float
    low: float
    high: float
    problems: int
    unsolved: int
    solved: int

    def __str__(self) -> str:
        return (
            f"{self.share:.1%} of groups (95% interval {self.low:.1%} to {self.high:.1%}) are expected to hold both right and "
            f"wrong responses; of its {self.problems} graded problems no rollout solved {self.unsolved}, and every rollout "
            f"solved {self.solved}"
        )


Graded = Sequence[tuple[float, int]]
"""Of each graded problem the solve rate, 0..1, and how many rollouts it comes from, 1 or more."""


def predict_mixed_groups(chosen: Graded, group_size: int, others: Graded = ()) -> MixedGroups:
    """Predict how many groups teach something: 1 - p^G - (1-p)^G averaged over problems and over what p may be.

    Args:
        chosen: the problems that are trained on, at least one.
        group_size: responses per group, G.
        others: all that were graded beside them.
    """
    a, b = _fit([*chosen, *others])
    means, variances = [], []
    for rate, n in chosen:
        first, second = _moments(a + rate * n, b + n - rate * n, group_size)
        means.append(first)
        variances.append(max(0.0, second - first * first))
    problems = len(means)
    share, spread = sum(means) / problems, 1.96 * math.sqrt(sum(variances)) / problems
    return MixedGroups(
        share,
        low=max(0.0, share - spread),
        high=min(1.0, share + spread),
        problems=problems,
        unsolved=sum(rate == 0 for rate, _ in chosen),
        solved=sum(rate == 1 for rate, _ in chosen),
    )


def cannot_fill(expected: MixedGroups, max_generation_batches: int) -> str | None:
    """Why a batch is expected to need more than `max_generation_batches` batches; None where it does not."""
    if expected.share * max_generation_batches >= 1:
        return None
    return (
        f"only {expected}, so a batch needs about {1 / max(expected.share, 1e-9):.0f} generated batches and "
        f"`rollout.max_generation_batches` allows {max_generation_batches}"
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


def _fit(graded: Graded) -> tuple[float, float]:
    """The beta distribution of the problems' true rates: its mean, and its weight from how much rates differ."""
    total = sum(n for _, n in graded)
    mean = (sum(rate * n for rate, n in graded) + 0.5) / (total + 1)
    # Var(k) = n m (1-m) (1 + (n-1) rho): what rates differ beyond what n coin flips would, rho = 1 / (weight + 1).
    flips = mean * (1 - mean)
    excess = sum((n * (rate - mean)) ** 2 - n * flips for rate, n in graded)
    pairs = sum(n * (n - 1) for _, n in graded) * flips
    rho = excess / pairs if pairs else 0.0
    own = total / len(graded)
    weight = min(max(1 / rho - 1, WEAKEST), own) if rho > 0 else own
    return mean * weight, (1 - mean) * weight


def _moments(a: float, b: float, group_size: int) -> tuple[float, float]:
    """Mean and second moment of 1 - p^G - (1-p)^G where p is Beta(a, b)."""
    g = group_size
    all_right, all_wrong = _power(a, b, g, 0), _power(a, b, 0, g)
    squares = _power(a, b, 2 * g, 0) + _power(a, b, 0, 2 * g) + 2 * _power(a, b, g, g)
    first = 1 - all_right - all_wrong
    return first, 1 - 2 * (all_right + all_wrong) + squares


def _power(a: float, b: float, x: int, y: int) -> float:
    """The mean of p^x (1-p)^y where p is Beta(a, b)."""
    return math.exp(betaln(a + x, b + y) - betaln(a, b))
