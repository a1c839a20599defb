"""Settings of rollout correction: what an update makes of the probabilities that the rollout engine gave its own tokens.

verl's `algorithm.rollout_correction`. The ratio is that of the trainer's probability of a token, or of a whole response, to the rollout
engine's. What else verl offers there is set by its own keys, under `rl.verl` (docs/reference/rollout_correction.md).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from compass.settings.section import Section

Above = Annotated[float, Field(gt=0)]


class Correction(Section):
    """What corrects for a rollout engine whose probabilities are not the trainer's; docs/reference/rollout_correction.md."""

    bypass: bool = False
    """Take the rollout engine's log-probabilities for the old ones, instead of computing them again with the trainer: saves one
    forward pass per response."""

    loss: Literal["ppo_clip", "reinforce"] = "ppo_clip"
    """With `bypass`: the clipped loss on the ratio, or REINFORCE with `weights` and without clipping."""

    weights: Literal["none", "token", "sequence"] = "none"
    """Weigh each token's loss by its own ratio (`token`: biased, low variance), or by its whole response's (`sequence`)."""

    weight_above: Above = 2.0
    """Larger weights are cut to this."""

    weight_below: Above | None = None
    """With a value, a weight below it or above `weight_above` is 0 instead (IcePop)."""

    @model_validator(mode="after")
    def _possible(self) -> Correction:
        if self.loss == "reinforce" and not self.bypass:
            raise ValueError("`loss: reinforce` is for `bypass: true`; without it the policy's own loss is used")
        if self.bypass and self.loss == "ppo_clip" and self.weights != "none":
            raise ValueError(
                f"`weights: {self.weights}` does nothing with `bypass: true` and `loss: ppo_clip`, whose clipped ratio already is to the "
                "rollout engine; set `weights: none`, or `loss: reinforce`"
            )
        if self.weight_below is not None and self.weight_below >= self.weight_above:
            raise ValueError(
                f"`weight_below` ({self.weight_below:g}) must be less than `weight_above` ({self.weight_above:g})"
            )
        return self
