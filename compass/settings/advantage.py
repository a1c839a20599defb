"""How rewards become advantages: the estimators of verl that run here, and the critic of one of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from compass.settings.section import NotNegative, Probability, Section

GROUP_BASED = ("grpo", "rloo", "opo", "grpo_passk", "reinforce_plus_plus_baseline")
"""Estimators that compare the responses to one problem with each other: they need two at least, and learn nothing from equal ones."""

DIVIDES_BY_STD = ("grpo", "grpo_passk")
"""Estimators that read `normalise_by_std`."""

DISCOUNTS = ("gae", "reinforce_plus_plus")
"""Estimators that read `gamma`."""

OTHER_NAMES = {
    "ppo": "PPO with a critic is `estimator: gae`",
    "dr_grpo": (
        "Dr. GRPO is `estimator: grpo` with `normalise_by_std: false` and `loss.aggregation: seq-mean-token-sum-norm`"
    ),
    "gpg": "for rewards of +1 and -1 verl's gpg is `estimator: grpo` with `normalise_by_std: false`",
    "grpo_vectorized": "it gives the same advantages as `estimator: grpo`",
    "rloo_vectorized": "it gives the same advantages as `estimator: rloo`",
    "optimal_token_baseline": "verl's trainer does not hand it the sums of squared probabilities that it needs",
    "tir_optimal_token_baseline": "verl's trainer does not hand it the sums of squared probabilities that it needs",
    "gdpo": "it takes several rewards per response, and there is one here",
}
"""Names that people know or verl has, and what to do instead."""


class Critic(Section):
    """The value model of `estimator: gae`. Its optimizer is otherwise the policy's (`rl.optimizer`)."""

    learning_rate: Annotated[float, Field(gt=0)] = 1e-5
    """Learning rate of the critic."""

    warmup_steps: NotNegative = 0
    """Iterations over which the critic's learning rate rises to its value."""

    alone: NotNegative = 0
    """Iterations at the stage's beginning that train the critic and leave the policy as it is. The policy's learning-rate schedule begins
    after them."""

    value_clip: Annotated[float, Field(gt=0)] = 0.5
    """How far an update may move a value from what it was at the iteration's beginning before the loss stops counting it."""


class Advantage(Section):
    """How rewards become advantages. docs/reference/estimators.md compares the estimators."""

    estimator: Literal[
        "grpo",
        "rloo",
        "opo",
        "grpo_passk",
        "reinforce_plus_plus",
        "reinforce_plus_plus_baseline",
        "remax",
        "gae",
    ] = "grpo"
    """Advantage estimator, by verl's name; `gae` is PPO with a critic."""

    normalise_by_std: bool = True
    """Divide the advantage by the group's standard deviation; false is Dr. GRPO's choice. Acts on `grpo` and `grpo_passk`."""

    gamma: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Discount per token. Acts on `gae` and `reinforce_plus_plus`."""

    lam: Probability = 1.0
    """The lambda of generalised advantage estimation: 1 trusts the rewards alone, less the critic. Acts on `gae`."""

    critic: Critic = Critic()
    """The value model. Acts on `gae`."""

    @field_validator("estimator", mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        if reason := OTHER_NAMES.get(value if isinstance(value, str) else ""):
            raise ValueError(reason)
        return value

    @model_validator(mode="after")
    def _acts(self) -> Advantage:
        without_effect = [
            (not self.normalise_by_std, "normalise_by_std: false", DIVIDES_BY_STD, "normalise_by_std: true"),
            (self.gamma != 1, f"gamma: {self.gamma:g}", DISCOUNTS, "gamma: 1.0"),
            (self.lam != 1, f"lam: {self.lam:g}", ("gae",), "lam: 1.0"),
        ]
        for given, what, acts_on, remedy in without_effect:
            if given and self.estimator not in acts_on:
                raise ValueError(
                    f"`{what}` acts on {' and '.join(f'`estimator: {name}`' for name in acts_on)} alone, and `estimator` is "
                    f"{self.estimator}; set `{remedy}`"
                )
        return self
