"""Settings of the RL stages."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from compass.settings.section import NotNegative, Positive, Section


class Rl(Section):
    """One RL stage: the GRPO variant of report section 3. Values in `rl` hold for all stages, a stage's own section wins."""

    init_from: str = "base"
    """The stage whose weights it starts from: `base` or an earlier RL stage."""

    carry_optimizer: bool = False
    """Take over the optimizer state of `init_from` as well: an RL stage with `keep_optimizer`."""

    keep_optimizer: bool = False
    """Keep the final optimizer state among the stage's outputs, for a later stage with `carry_optimizer`."""

    steps: Positive = 20
    """Optimisation iterations (rollout, reward, update)."""

    batch_size: Positive = 32
    """Problems in an iteration."""

    group_size: Annotated[int, Field(ge=2)] = 8
    """Responses sampled for each problem (G); the report does not give its value."""

    mini_batch_size: Positive = 32
    """Problems in one gradient update."""

    epochs: Positive = 1
    """Passes over an iteration's samples."""

    micro_batch_size: Positive = 64
    """Responses in one forward and backward pass; memory against speed, no effect on results."""

    learning_rate: Annotated[float, Field(gt=0)] = 1e-6
    """AdamW's learning rate."""

    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    """AdamW's weight decay."""

    warmup_steps: NotNegative = 0
    """Iterations over which the learning rate rises to its value."""

    grad_clip: Annotated[float, Field(gt=0)] = 1.0
    """Largest gradient norm."""

    max_prompt_tokens: Positive = 1024
    """Longer prompts are left out, and counted."""

    max_response_tokens: Positive = 3072
    """Longest response."""

    temperature: Annotated[float, Field(gt=0)] = 1.0
    """Rollout temperature (report: 1.0)."""

    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Rollout nucleus mass (report: 1.0)."""

    clip_low: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """epsilon_low, fixed."""

    clip_high: Annotated[float, Field(gt=0)] = 0.28
    """epsilon_high, raised (clip-higher); the report does not give its value, 0.28 is DAPO's."""

    kl_coef: Annotated[float, Field(ge=0)] = 0.0
    """Coefficient of the KL loss to the starting policy; 0 removes it, as the report does."""

    dynamic_sampling: bool = True
    """Leave out groups whose responses are all right or all wrong, and sample others in their place."""

    max_generation_batches: Positive = 10
    """With dynamic sampling: a stage that needs more batches than this for one iteration stops with a message."""

    loss_aggregation: Literal["token-mean", "seq-mean-token-mean", "seq-mean-token-sum"] = "token-mean"
    """How token losses are averaged; the report's is token-mean."""

    normalise_by_std: bool = True
    """Divide the advantage by the group's standard deviation."""

    entropy_coef: Annotated[float, Field(ge=0)] = 0.0
    """Entropy bonus."""

    overlong_buffer: NotNegative = 0
    """Tokens before the longest response over which a soft penalty grows (DAPO); 0 turns it off."""

    overlong_penalty: Annotated[float, Field(ge=0)] = 1.0
    """The largest such penalty."""

    estimator: Literal["grpo", "reinforce_plus_plus", "remax", "rloo"] = "grpo"
    """Advantage estimator."""

    save_every: Positive = 5
    """Iterations between two checkpoints."""

    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    """Compute type of trainer and rollouts."""

    gpus: NotNegative = 0
    """GPUs a node; 0 trains on the CPU."""

    nodes: Positive = 1
    """Nodes of the Ray cluster."""

    rollout_memory: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of a GPU's memory for vLLM during rollouts."""

    tensor_parallel: Positive = 1
    """GPUs one rollout engine is split over."""

    system_prompt: str = ""
    """System prompt; empty sends none."""

    prompt_suffix: str = ""
    """Text appended to every problem."""

    @model_validator(mode="after")
    def _possible(self) -> Rl:
        if self.mini_batch_size > self.batch_size or self.batch_size % self.mini_batch_size:
            raise ValueError(f"`mini_batch_size` ({self.mini_batch_size}) must divide `batch_size` ({self.batch_size})")
        if self.overlong_buffer >= self.max_response_tokens:
            raise ValueError("`overlong_buffer` must be shorter than `max_response_tokens`")
        if self.carry_optimizer and self.init_from == "base":
            raise ValueError("`carry_optimizer` needs an RL stage in `init_from`; the base has no optimizer state")
        return self
