"""Settings of the stages that bring, sample and score models: base, evaluate, report."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from compass.settings.section import NotNegative, Positive, Probability, Section


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
    """Most optimiser steps of that; reaching them before `skill` is an error."""

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


class Base(Section):
    """Where the policy's starting weights come from: a path, a hub id, or a pre-training on generated problems."""

    model: str = ""
    """A local folder, a `.gguf` file or a hub id; empty pre-trains the tiny policy. `$COMPASS_MODEL` is filled in."""

    revision: str = ""
    """The hub revision (commit); required for a hub id."""

    pretrain: Pretrain | None = None
    """How the tiny policy is pre-trained; null for a real model."""

    @model_validator(mode="after")
    def _one_origin(self) -> Base:
        if bool(self.model) == (self.pretrain is not None):
            raise ValueError("give either `model` (a path or hub id) or `pretrain`, not both and not neither")
        return self


class Sampling(Section):
    """How vLLM samples, for grading and evaluation."""

    temperature: Annotated[float, Field(ge=0)] = 1.0
    """Sampling temperature; 0 is greedy."""

    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Nucleus mass."""

    max_tokens: Positive = 64
    """Longest response, in tokens."""

    max_model_len: Positive = 192
    """Longest prompt and response together, in tokens; longer prompts are reported, not cut."""

    batch: Positive = 2048
    """Prompts sampled between two checkpoints of the resumable work."""

    dtype: Literal["float32", "bfloat16", "auto"] = "auto"
    """Weights' type in the engine."""

    tensor_parallel: Positive = 1
    """GPUs a model is split over."""

    memory: Annotated[float, Field(gt=0, le=1)] = 0.85
    """Share of a GPU's memory the engine may take; ignored on CPU."""

    kv_cache_gib: Positive = 1
    """GiB of memory for the key-value cache on CPU; ignored on a GPU."""

    system_prompt: str = ""
    """System prompt; empty sends none."""

    prompt_suffix: str = ""
    """Text appended to every problem, such as the request for a boxed answer."""

    @model_validator(mode="after")
    def _room_for_a_prompt(self) -> Sampling:
        if self.max_tokens >= self.max_model_len:
            raise ValueError(
                f"`max_model_len` ({self.max_model_len}) must exceed `max_tokens` ({self.max_tokens}): a prompt has to fit too"
            )
        return self


class Evaluate(Section):
    """Score every model on every benchmark."""

    models: list[Literal["base", "rl-1", "rl-2", "rl-3"]] = ["base", "rl-1", "rl-2", "rl-3"]
    """The models that are scored."""

    samples: Positive = 8
    """Responses sampled for each problem; accuracy is avg@k, pass@k and maj@k use the same samples."""

    greedy: bool = True
    """Also score one greedy response for each problem."""

    sampling: Sampling = Sampling()
    """How responses are sampled."""

    bootstrap: Positive = 2000
    """Resamples of problems behind the 95% interval of a gain over the base."""

    max_problems: NotNegative = 0
    """Score only so many problems of each benchmark, drawn by a seeded hash; 0 scores all."""


class Report(Section):
    """The page a run ends with."""

    title: str = "Compass-Thinker pipeline"
    """The page's title."""
