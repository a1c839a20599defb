"""Settings of the optimizer of an RL stage: AdamW, its learning rate over the iterations, and the updates of one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from compass.settings.section import NotNegative, Positive, Section

Decay = Annotated[float, Field(ge=0, lt=1)]


class Optimizer(Section):
    """AdamW and its gradient updates."""

    learning_rate: Annotated[float, Field(gt=0)] = 1e-6
    """Learning rate, the highest of the schedule."""

    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    """Weight decay."""

    betas: list[Decay] = [0.9, 0.999]
    """Decay of AdamW's two moments, per update."""

    eps: Annotated[float, Field(gt=0)] = 1e-8
    """Added to the root of AdamW's second moment."""

    warmup_steps: NotNegative = 0
    """Iterations over which the learning rate rises from 0 to its value."""

    schedule: Literal["constant", "cosine"] = "constant"
    """After the warm-up: the learning rate stays, or falls along a cosine to `min_learning_rate`."""

    min_learning_rate: Annotated[float, Field(ge=0)] = 0.0
    """With `cosine`: the lowest learning rate after the warm-up."""

    schedule_steps: NotNegative = 0
    """With `cosine`: the iteration at which the fall ends. 0 takes the stage's `steps`, and a change of `steps` then trains the stage
    again from its beginning."""

    cycles: Annotated[float, Field(gt=0)] = 0.5
    """With `cosine`: periods of the cosine over the schedule. 0.5 falls once; more rises again."""

    zero_indexed: bool = True
    """With `cosine`: the first iteration has the schedule's value at 0, which is 0 if there is a warm-up; false has that at 1."""

    grad_clip: Annotated[float, Field(gt=0)] = 1.0
    """Largest gradient norm."""

    mini_batch_size: Positive = 32
    """Problems per gradient update; divides `data.batch_size`."""

    epochs: Positive = 1
    """Passes over an iteration's samples."""

    @model_validator(mode="after")
    def _possible(self) -> Optimizer:
        if len(self.betas) != 2:
            raise ValueError(f"`betas` must be two numbers, found {self.betas}")
        if self.schedule == "constant":
            for name in ("min_learning_rate", "schedule_steps", "cycles", "zero_indexed"):
                if getattr(self, name) != type(self).model_fields[name].default:
                    raise ValueError(f"`{name}` needs `schedule: cosine`; with `constant` it does nothing")
        if self.min_learning_rate > self.learning_rate:
            raise ValueError(
                f"`min_learning_rate` ({self.min_learning_rate:g}) must be at most `learning_rate` ({self.learning_rate:g})"
            )
        return self

    def with_rate(self, learning_rate: float, warmup_steps: int) -> Optimizer:
        """The same with another highest rate and warm-up, the lowest rate in proportion: a critic's beside its policy's."""
        lowest = learning_rate * self.min_learning_rate / self.learning_rate
        rates = {"learning_rate": learning_rate, "warmup_steps": warmup_steps, "min_learning_rate": lowest}
        return self.model_copy(update=rates)

    def check_length(self, steps: int) -> None:
        """Check the schedule against a stage's iterations.

        Raises:
            ValueError: it ends before the stage does, or it or the stage before the warm-up.
        """
        if 0 < self.schedule_steps < steps:
            raise ValueError(
                f"`optimizer.schedule_steps` ({self.schedule_steps}) must be at least `steps` ({steps}), or 0, which takes `steps`: "
                "verl's cosine rises again after its end"
            )
        length = self.schedule_steps or steps
        if self.warmup_steps >= length:
            raise ValueError(
                f"`optimizer.warmup_steps` ({self.warmup_steps}) must be less than the {length} iterations of the schedule: the learning "
                "rate would never reach its value"
            )

    def cycles_within(self, steps: int) -> float:
        """Periods of the cosine within a stage's iterations: verl's trainer always takes these for the length of the schedule."""
        if not self.schedule_steps:
            return self.cycles
        return self.cycles * (steps - self.warmup_steps) / max(1, self.schedule_steps - self.warmup_steps)

    @property
    def follows_steps(self) -> bool:
        """Whether another number of iterations changes the learning rate of the same iteration."""
        return self.schedule == "cosine" and not self.schedule_steps
