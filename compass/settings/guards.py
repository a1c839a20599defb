"""Settings of the guards of an RL stage: what each does when it fires, and where its limit is."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from compass.settings.section import NotNegative, Positive, Probability, Section


def _word(value: Any) -> Any:
    """YAML reads a bare `off` as false."""
    return "off" if value is False else value


Level = Annotated[Literal["off", "warn", "stop"], BeforeValidator(_word)]
Above = Annotated[float, Field(gt=0)]


class Guard(Section):
    """A guard without a number to set."""

    level: Level
    """What it does when it fires: `off` nothing, `warn` a line in the log and in the stage's record, `stop` ends the stage."""


class ShareGuard(Guard):
    """A guard with a limit that is a share."""

    limit: Probability
    """The share, from 0 to 1, beyond which it fires."""


class RatioGuard(Guard):
    """A guard that compares an iteration with earlier ones."""

    limit: Above
    """The multiple of earlier iterations beyond which it fires."""


class AgreementGuard(Guard):
    """The guard that compares rollout and trainer."""

    limit: Above | None = None
    """Largest difference of probabilities; null takes the one for the device and type (docs/reference/rl.md)."""


class Watchdog(Guard):
    """The guard that notices when nothing moves."""

    limit: Above
    """Multiple of the median iteration's time after which it fires."""

    least_seconds: Positive
    """It never fires before an iteration has taken this long."""

    start_seconds: Positive
    """Time that start-up and the first iteration may take."""


class Guards(Section):
    """What watches an RL stage. A guard that is left out, or a part of it, has its default."""

    mixed_groups: Guard = Guard(level="stop")
    """Before launch: the expected share of groups with right and wrong responses fills a batch."""

    reward_canary: Guard = Guard(level="stop")
    """Before launch: known answers get their known rewards."""

    failed_rollouts: ShareGuard = ShareGuard(level="stop", limit=0.01)
    """Groups with a response that could not be sampled or scored; `limit` as a share of `data.batch_size`."""

    not_finite: Guard = Guard(level="stop")
    """Loss, gradient, entropy and probabilities are numbers."""

    agreement: AgreementGuard = AgreementGuard(level="stop")
    """Rollout and trainer give the same tokens the same probability."""

    gradient_spike: RatioGuard = RatioGuard(level="warn", limit=10.0)
    """Gradient norm; `limit` times the median of earlier iterations."""

    entropy_collapse: ShareGuard = ShareGuard(level="warn", limit=0.3)
    """Entropy; `limit` as a share of what the first RL stage began with."""

    narrowing: ShareGuard = ShareGuard(level="warn", limit=0.3)
    """How far the right responses of a group differ; `limit` as a share of what the first RL stage began with."""

    response_length: RatioGuard = RatioGuard(level="warn", limit=2.0)
    """Mean response length; `limit` times the median of earlier iterations."""

    cut_off: ShareGuard = ShareGuard(level="warn", limit=0.5)
    """Share of responses that reach `rollout.max_response_tokens`."""

    loops: ShareGuard = ShareGuard(level="warn", limit=0.2)
    """Share of responses that end in a repeated passage."""

    zero_signal: ShareGuard = ShareGuard(level="warn", limit=0.9)
    """Share of sampled groups whose responses are all right or all wrong."""

    watchdog: Watchdog = Watchdog(level="stop", limit=10.0, least_seconds=600, start_seconds=3600)
    """Time since the last finished iteration."""

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, values: Any) -> Any:
        """Fill what a guard does not give from its default."""
        if not isinstance(values, dict):
            return values
        defaults = {name: field.default.model_dump() for name, field in cls.model_fields.items()}
        return {
            name: {**defaults[name], **own} if isinstance(own, dict) and name in defaults else own
            for name, own in values.items()
        }


class Record(Section):
    """What is kept of a stage for people to look at."""

    rollouts_every: NotNegative = 5
    """Iterations between two whose rollouts are kept, besides the first and the last; 0 keeps none."""
