"""Settings of `base`: the policy's starting weights."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from compass.settings.prompting import Prompting
from compass.settings.section import Commit, NotNegative, Positive, Probability, Section


class Pretrain(Section):
    """Pre-training of the tiny policy: first worked solutions until it can solve, then hasty and sloppy habits."""

    hidden_size: Annotated[int, Field(ge=32, multiple_of=32)] = 128
    """Width of the transformer; a multiple of 32, vLLM's smallest head size on CPU."""

    layers: Positive = 3
    """Transformer blocks."""

    batch_size: Positive = 32
    """Solutions in an optimiser step."""

    learning_rate: Annotated[float, Field(gt=0)] = 3e-3
    """First learning rate of embeddings and norms (AdamW), falling as skill rises; matrices take five times as much (Muon)."""

    skill: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Worked solutions are learnt until their mean probability on fresh problems reaches this."""

    steps: Positive = 900
    """Most optimiser steps of that: it stops earlier, as soon as `skill` is reached; not to reach it in so many is an error."""

    habit_steps: NotNegative = 60
    """Optimiser steps that follow, on solutions mixed as below, while the learning rate falls to zero."""

    guesses: Probability = 0.55
    """Share of solutions that are a bare guess; above one half, the policy's greedy answer is a guess."""

    guess_error: Probability = 0.5
    """Chance that a guess is only near the truth."""

    careful: Probability = 0.30
    """Share of worked solutions that are right; the rest (1 - guesses - careful) is sloppy."""

    sloppy_error: Probability = 0.30
    """Chance that a step of a sloppy solution is wrong."""

    @model_validator(mode="after")
    def _shares(self) -> Pretrain:
        if self.guesses + self.careful > 1:
            raise ValueError(f"`guesses` and `careful` add up to {self.guesses + self.careful:g}, more than 1")
        return self


class WarmStart(Prompting):
    """A short supervised training of a model that is too weak to learn by RL alone, on worked solutions of chosen sources.

    The prompt should be that of `rl.data`, so that RL goes on from what was learnt here.
    """

    sources: Annotated[list[str], Field(min_length=1)]
    """Sources (by their names in `collect.sources`) whose rows with a worked solution are trained on, after dedup and denoise."""

    answer_only: Probability = 0.0
    """Share of the solutions that are replaced by the boxed answer alone. A small model is hardly ever right without its steps, and RL then
    takes this habit away first."""

    steps: Positive = 160
    """Optimiser steps."""

    batch_size: Positive = 16
    """Solutions per step."""

    learning_rate: Annotated[float, Field(gt=0)] = 3e-5
    """Highest learning rate of AdamW."""

    warmup_steps: NotNegative = 8
    """Steps over which the rate rises to it."""

    schedule: Literal["constant", "cosine"] = "constant"
    """What the rate does then: it stays, or falls to 0 at the last step."""

    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    """Weight decay."""

    max_tokens: Positive = 512
    """Longer examples (prompt and solution) are left out, and counted."""

    micro_batch_size: Positive = 8
    """Solutions in one forward and backward pass; memory against speed, no effect on results."""

    save_every: Positive = 40
    """Steps between two checkpoints."""

    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    """Compute type. Parameters and AdamW's state are in single precision in any case, and so is the model that is written."""

    gpus: NotNegative = 0
    """GPUs, a divisor of `batch_size`; 0 trains on the CPU."""

    @model_validator(mode="after")
    def _shares(self) -> WarmStart:
        if self.gpus and self.batch_size % self.gpus:
            raise ValueError(f"`batch_size` ({self.batch_size}) must be a multiple of `gpus` ({self.gpus})")
        if self.warmup_steps >= self.steps:
            raise ValueError(
                f"`warmup_steps` ({self.warmup_steps}) must be less than `steps` ({self.steps}), or the learning rate is never reached"
            )
        return self


class Base(Section):
    """Where the policy's starting weights come from: a path, a hub id, or a pre-training on generated problems."""

    model: str = ""
    """A local folder, a `.gguf` file or a hub id; empty pre-trains the tiny policy. `$COMPASS_MODEL` is filled in."""

    revision: Commit = ""
    """The commit of a hub id, 40 hex digits; required for one."""

    pretrain: Pretrain | None = None
    """How the tiny policy is pre-trained; null for a real model."""

    warm_start: WarmStart | None = None
    """Supervised training of `model` before RL; null takes it as it is."""

    @model_validator(mode="after")
    def _one_origin(self) -> Base:
        if bool(self.model) == (self.pretrain is not None):
            raise ValueError("give either `model` (a path or hub id) or `pretrain`, not both and not neither")
        if self.pretrain and self.revision:
            raise ValueError("`revision` is for a hub id in `model`; the tiny policy that `pretrain` makes has none")
        if self.pretrain and self.warm_start:
            raise ValueError("`warm_start` trains a real `model`; the tiny policy has `pretrain`")
        return self
