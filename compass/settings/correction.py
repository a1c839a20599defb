"""Settings of rollout correction: what an update makes of the probabilities that the rollout engine gave its own tokens.

verl's `algorithm.rollout_correction`, with its presets (verl/trainer/config/algorithm.py). The ratio is that of the trainer's probability of
a token, or of a whole response, to the rollout engine's.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from compass.settings.section import Section

GEOMETRIC = {"reject": "seq_mean_k1", "reject_above": 1.001, "reject_below": 0.999}
K3 = {"reject": "seq_mean_k3", "reject_above": 0.01}
BYPASS, REINFORCE = {"bypass": True}, {"bypass": True, "loss": "reinforce"}
TOKEN, SEQUENCE = {"weights": "token"}, {"weights": "sequence"}
ICEPOP = {"weights": "token", "weight_above": 5.0, "weight_below": 0.5}

PRESETS: dict[str, dict[str, Any]] = {
    "disabled": {},
    "decoupled_token_is": TOKEN,
    "decoupled_seq_is": SEQUENCE,
    "decoupled_token_icepop": ICEPOP,
    "decoupled_seq_is_rs": SEQUENCE | {"reject": "seq_sum_k1", "reject_above": 2.0, "reject_below": 0.5},
    "decoupled_geo_rs": GEOMETRIC,
    "decoupled_geo_rs_seq_tis": GEOMETRIC | SEQUENCE,
    "decoupled_geo_rs_token_tis": GEOMETRIC | TOKEN,
    "decoupled_k3_rs": K3,
    "decoupled_k3_rs_seq_tis": K3 | SEQUENCE,
    "decoupled_k3_rs_token_tis": K3 | TOKEN,
    "bypass_ppo_clip": BYPASS,
    "bypass_ppo_clip_geo_rs": BYPASS | GEOMETRIC,
    "bypass_ppo_clip_k3_rs": BYPASS | K3,
    "bypass_pg_is": REINFORCE | SEQUENCE,
    "bypass_pg_token_icepop": REINFORCE | ICEPOP,
    "bypass_pg_geo_rs": REINFORCE | GEOMETRIC,
    "bypass_pg_geo_rs_seq_tis": REINFORCE | GEOMETRIC | SEQUENCE,
    "bypass_pg_geo_rs_token_tis": REINFORCE | GEOMETRIC | TOKEN,
}
"""verl's presets by the names of its factories, as these settings."""

Above = Annotated[float, Field(gt=0)]


class Correction(Section):
    """What corrects for a rollout engine whose probabilities are not the trainer's; docs/rollout_correction.md."""

    preset: Literal[
        "disabled",
        "decoupled_token_is",
        "decoupled_seq_is",
        "decoupled_token_icepop",
        "decoupled_seq_is_rs",
        "decoupled_geo_rs",
        "decoupled_geo_rs_seq_tis",
        "decoupled_geo_rs_token_tis",
        "decoupled_k3_rs",
        "decoupled_k3_rs_seq_tis",
        "decoupled_k3_rs_token_tis",
        "bypass_ppo_clip",
        "bypass_ppo_clip_geo_rs",
        "bypass_ppo_clip_k3_rs",
        "bypass_pg_is",
        "bypass_pg_token_icepop",
        "bypass_pg_geo_rs",
        "bypass_pg_geo_rs_seq_tis",
        "bypass_pg_geo_rs_token_tis",
    ] = "disabled"
    """One of verl's presets; it gives the fields below, and what stands beside it wins."""

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

    normalise_weights: bool = False
    """Divide weights by their mean over the batch."""

    reject: Literal[
        "none",
        "token_k1",
        "token_k2",
        "token_k3",
        "seq_sum_k1",
        "seq_sum_k2",
        "seq_sum_k3",
        "seq_mean_k1",
        "seq_mean_k2",
        "seq_mean_k3",
        "seq_max_k2",
        "seq_max_k3",
    ] = "none"
    """Leave out tokens (`token_`) or whole responses (`seq_`) whose divergence is beyond the limits. k1 is the ratio (of a response: the
    product, or with `mean` the geometric mean of its tokens'); k2 is log(ratio)^2 / 2, k3 is ratio - 1 - log(ratio)."""

    reject_above: Above | None = None
    """With `reject`: the largest ratio (k1) or divergence (k2, k3) that stays."""

    reject_below: Above | None = None
    """With k1: the smallest ratio that stays; null takes 1 / `reject_above`."""

    @model_validator(mode="before")
    @classmethod
    def _preset(cls, values: Any) -> Any:
        """Fill what is not given from the preset."""
        if not isinstance(values, dict) or not isinstance(values.get("preset"), str):
            return values
        return {**PRESETS.get(values["preset"], {}), **values}

    @model_validator(mode="after")
    def _possible(self) -> Correction:
        if self.loss == "reinforce" and not self.bypass:
            raise ValueError("`loss: reinforce` is for `bypass: true`; without it the policy's own loss is used")
        if self.bypass and self.loss == "ppo_clip" and self.weights != "none":
            raise ValueError(
                f"`weights: {self.weights}` does nothing with `bypass: true` and `loss: ppo_clip`, whose clipped ratio already is to the "
                "rollout engine; set `weights: none`, or `loss: reinforce`"
            )
        if self.normalise_weights and (self.weights == "none" or self.bypass):
            raise ValueError(
                "`normalise_weights` needs `weights`, and `bypass: false`: with it verl would normalise within each pass, and results would "
                "depend on `resources.micro_batch_size`"
            )
        if self.weight_below is not None and self.weight_below >= self.weight_above:
            raise ValueError(
                f"`weight_below` ({self.weight_below:g}) must be less than `weight_above` ({self.weight_above:g})"
            )
        self._check_limits()
        return self

    def _check_limits(self) -> None:
        if self.reject == "none":
            if self.reject_above is not None or self.reject_below is not None:
                raise ValueError("`reject_above` and `reject_below` need `reject`, which is `none`")
            return
        if self.reject_above is None:
            raise ValueError(f"`reject: {self.reject}` needs `reject_above`, the largest that stays")
        if not self.reject.endswith("k1"):
            if self.reject_below is not None:
                raise ValueError(f"`reject_below` is for k1; `reject: {self.reject}` has an upper limit alone")
            return
        below = 1 / self.reject_above if self.reject_below is None else self.reject_below
        if below >= self.reject_above:
            raise ValueError(
                f"`reject_above` ({self.reject_above:g}) must be more than "
                + ("1" if self.reject_below is None else f"`reject_below` ({below:g})")
                + f" for `reject: {self.reject}`, whose limits are of a ratio"
            )
