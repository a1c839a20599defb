"""The guards that look at every iteration after its update and before its checkpoint.

A table: each entry says what it watches, why, and what to do, and has a function that finds it in the facts of an iteration.
A new guard is one more entry, a field of `Guards` in `compass/settings/guards.py`, and a test that provokes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from compass.rl.metrics import CUT_OFF, DISTINCT, ENTROPY, FEW, LENGTH, LOOPS, ZERO_SIGNAL

LARGEST = "training/rollout_probs_diff_max"
MEAN = "training/rollout_probs_diff_mean"
GRADIENT = "actor/grad_norm"
FINITE = (
    GRADIENT,
    ENTROPY,
    "actor/loss",
    "actor/pg_loss",
    "actor/kl_loss",
    "critic/grad_norm",
    "critic/vf_loss",
    LARGEST,
)
"""Metrics that must be numbers wherever verl gives them."""

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

RECENT = 20
"""How many of the last iterations it looks at."""


@dataclass(frozen=True)
class Facts:
    """An iteration as the guards see it: its metrics, those of earlier ones in order, the stage's device and type, and what the first RL
    stage began with where an earlier one was it."""

    metrics: Mapping[str, Any]
    history: Sequence[Mapping[str, Any]]
    device: str
    dtype: str
    beginning: Mapping[str, float] = field(default_factory=dict)

    def value(self, metric: str) -> float:
        """A metric of this iteration; not a number where it is missing."""
        return float(self.metrics.get(metric, math.nan))

    def earlier(self, metric: str) -> list[float]:
        """The finite values of a metric in earlier iterations, in order."""
        values = [float(row[metric]) for row in self.history if row.get(metric) not in (None, "")]
        return [value for value in values if math.isfinite(value)]


@dataclass(frozen=True)
class StepGuard:
    """One guard.

    Attributes:
        name: its field of `rl.guards`.
        watches: what it looks at.
        why: what goes wrong without it.
        remedy: what to do when it fires.
        find: `(facts, settings)` to what was seen, None where all is well.
        worst: the column of the rollouts' table by which the worst samples come first.
    """

    name: str
    watches: str
    why: str
    remedy: str
    find: Callable[[Facts, Mapping[str, Any]], str | None]
    worst: str


def _not_finite(facts: Facts, _: Mapping[str, Any]) -> str | None:
    broken = [name for name in FINITE if name in facts.metrics and not math.isfinite(facts.metrics[name])]
    return f"{', '.join(broken)} {'is' if len(broken) == 1 else 'are'} not finite" if broken else None


def _agreement(facts: Facts, ours: Mapping[str, Any]) -> str | None:
    """A rollout policy with other weights than the trained one: the run looks healthy and learns from another policy's responses."""
    metric, bound = BOUNDS[facts.device, facts.dtype]
    bound = bound if ours["limit"] is None else ours["limit"]
    difference = facts.metrics.get(metric)
    if difference is not None and math.isfinite(difference) and difference < bound:
        return None
    what = "largest" if metric == LARGEST else "mean"
    if difference is None:
        return f"verl did not measure the {what} difference of probabilities between rollout and trainer"
    return (
        f"the {what} difference of a token's probability between rollout and trainer is {difference:.2g} "
        f"(allowed in {facts.dtype}: {bound:g})"
    )


def _gradient_spike(facts: Facts, ours: Mapping[str, Any]) -> str | None:
    earlier, now = facts.earlier(GRADIENT)[-RECENT:], facts.value(GRADIENT)
    usual = median(earlier) if len(earlier) >= FEW else 0.0
    if not usual or not now > ours["limit"] * usual:  # after iterations without a gradient the first one is no spike
        return None
    return f"the gradient norm is {now:.3g}, {now / usual:.0f} times the median of the iterations before"


def _fallen(metric: str, what: str, over: int = 1) -> Callable[[Facts, Mapping[str, Any]], str | None]:
    """A metric far below what training began with. A warning is for the iteration in which it falls there, not for all after it.

    Args:
        metric: its name.
        what: it in words.
        over: iterations whose median is compared: several for what a single one measures on few groups.
    """

    def find(facts: Facts, ours: Mapping[str, Any]) -> str | None:
        earlier, now = facts.earlier(metric), facts.value(metric)
        begun, whose = facts.beginning.get(metric), "the first RL stage"
        if begun is None:
            if len(earlier) < FEW:
                return None
            begun, whose = median(earlier[:FEW]), "the stage"
        recent = [*earlier, now][-over:]
        if math.isnan(now) or len(recent) < over:
            return None
        seen, lowest = median(recent), ours["limit"] * begun
        before = median(earlier[-over:]) if len(earlier) >= over else begun
        if seen >= lowest or (ours["level"] == "warn" and before < lowest):
            return None
        return f"{what} is {seen:.3g}, {seen / begun:.0%} of what {whose} began with ({begun:.3g})"

    return find


def _response_length(facts: Facts, ours: Mapping[str, Any]) -> str | None:
    earlier, now = facts.earlier(LENGTH)[-RECENT:], facts.value(LENGTH)
    if len(earlier) < FEW or not now > ours["limit"] * median(earlier):
        return None
    return f"responses have {now:.0f} tokens on average, {now / median(earlier):.1f} times the median before"


def _share(metric: str, what: str) -> Callable[[Facts, Mapping[str, Any]], str | None]:
    def find(facts: Facts, ours: Mapping[str, Any]) -> str | None:
        share = facts.value(metric)
        return f"{share:.0%} of {what} (allowed: {ours['limit']:.0%})" if share > ours["limit"] else None

    return find


STEP_GUARDS = (
    StepGuard(
        "not_finite",
        watches="loss, gradient norm, entropy and probabilities are numbers",
        why="verl leaves out an update whose gradient is not finite, prints a line and trains on",
        remedy="lower `optimizer.learning_rate` or `optimizer.grad_clip`, or use float32; the last checkpoint is from before",
        find=_not_finite,
        worst="gap_max",
    ),
    StepGuard(
        "agreement",
        watches="the difference of token probabilities between rollout and trainer",
        why="with other weights in the rollout engine, a run looks healthy and learns from another policy's responses",
        remedy=(
            "check that vLLM is the pinned version (requirements/) and that the model's vocabulary is no larger than the "
            "tokenizer's; if it stays near the limit in bfloat16, set `rollout.correction: {weights: token}` and "
            "`guards.agreement.level: warn`"
        ),
        find=_agreement,
        worst="gap_max",
    ),
    StepGuard(
        "gradient_spike",
        watches="the gradient norm, against the median of the last iterations",
        why="one update far from the others can undo many, and comes before divergence",
        remedy="lower `optimizer.learning_rate` or `optimizer.grad_clip`, and look at the samples for a wrong gold",
        find=_gradient_spike,
        worst="advantage_size",
    ),
    StepGuard(
        "entropy_collapse",
        watches="entropy, against the beginning of the first RL stage",
        why="a policy that always says the same explores nothing, and its groups have no signal",
        remedy=(
            "set `loss.entropy_target`, raise `loss.clip_high`, take `loss.mode: clip_cov`, lower `optimizer.learning_rate`, or give other levels "
            "(`curriculum.mixes`)"
        ),
        find=_fallen(ENTROPY, "entropy"),
        worst="advantage_size",
    ),
    StepGuard(
        "narrowing",
        watches="how far the right responses of a group differ, against the beginning of the first RL stage",
        why="a policy that solves a problem in one way alone has less to choose from on others: pass@k falls while accuracy rises",
        remedy=(
            "read the samples for a form that pays everywhere; set `loss.entropy_target`, lower `optimizer.learning_rate`, or give more and other "
            "problems (`curriculum.problems`, `curriculum.mixes`)"
        ),
        find=_fallen(
            DISTINCT,
            "the share of different texts among a group's right responses (0: all are the same, 1: no two are)",
            over=FEW,
        ),
        worst="advantage_size",
    ),
    StepGuard(
        "response_length",
        watches="mean response length, against the median of the last iterations",
        why="responses that grow without a limit are mostly repetition, and end cut off",
        remedy="read the samples; `reward.overlong_buffer` penalises length",
        find=_response_length,
        worst="response_tokens",
    ),
    StepGuard(
        "cut_off",
        watches="the share of responses that reach the longest length",
        why="a response that is cut off has no answer and is punished for its length, whatever it says",
        remedy="raise `rollout.max_response_tokens`, or read the samples for repetition",
        find=_share(CUT_OFF, "responses are cut off at `rollout.max_response_tokens`"),
        worst="response_tokens",
    ),
    StepGuard(
        "loops",
        watches="the share of responses that end in a repeated passage",
        why="loops fill the batch with tokens that teach nothing and are a first sign of collapse",
        remedy="lower `optimizer.learning_rate`, or go on from an earlier checkpoint",
        find=_share(LOOPS, "responses end in a repeated passage"),
        worst="loop",
    ),
    StepGuard(
        "zero_signal",
        watches="the share of sampled groups whose responses are all right or all wrong",
        why="they cost generation and have no gradient",
        remedy="change the levels (`curriculum.mixes`) or raise `rollout.group_size`",
        find=_share(ZERO_SIGNAL, "the sampled groups are all right or all wrong"),
        worst="reward",
    ),
)
"""In the order in which they are asked; the first of level `stop` that fires ends the stage."""
