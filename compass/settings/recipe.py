"""The recipe of an RL stage, group by group: the GRPO variant of report section 3."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, field_validator, model_validator

from compass.settings.advantage import Advantage
from compass.settings.correction import Correction
from compass.settings.guards import Guards, Record
from compass.settings.optimizer import Optimizer
from compass.settings.prompting import Prompting
from compass.settings.section import NotNegative, Positive, Section, check_function_name

VerlKey = Annotated[str, Field(pattern=r"^\w+(\.\w+)+$")]
"""A key of verl's configuration, such as `actor_rollout_ref.actor.policy_loss.loss_mode`."""


class Data(Prompting):
    """The problems of an iteration, and how they become prompts."""

    batch_size: Positive = 32
    """Problems per iteration."""

    max_prompt_tokens: Positive = 1024
    """Longer prompts are left out, and counted."""


class Rollout(Section):
    """How responses are sampled, and which groups of them are trained on."""

    group_size: Positive = 8
    """Responses sampled for each problem (G); the report does not give its value. At least 2 where the estimator compares them."""

    max_response_tokens: Positive = 3072
    """Longest response."""

    temperature: Annotated[float, Field(gt=0)] = 1.0
    """Sampling temperature (report: 1.0)."""

    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Nucleus mass (report: 1.0). Less is refused: the trainer could not give the same tokens the same probability."""

    dynamic_sampling: bool = True
    """Leave out groups whose responses are all right or all wrong, and sample others in their place."""

    max_generation_batches: Positive = 10
    """With dynamic sampling: a stage that throws away more batches of groups than this in one iteration stops with a message."""

    refill: Literal[1, 2] = 2
    """With dynamic sampling: groups asked for in place of each that is left out. 2, as in verl, fills a batch sooner and throws away what is
    too much; 1 throws away none, and waits longer for the last ones. `reproducible` takes 1."""

    reproducible: bool = False
    """Draw each response from a seed of its own (of run, iteration, problem and sample) and replace left-out groups one by one, so that neither
    the number of engines nor the order in which responses end changes what is trained on. Costs some time of every iteration."""

    correction: Correction = Correction()
    """What corrects for a rollout engine whose probabilities are not the trainer's."""

    quantization: Literal["none", "fp8"] = "none"
    """On GPUs: `fp8` keeps the rollout engine's weights in 8 bits, made anew from the trainer's after every update. It samples faster, and
    from other probabilities than the trainer's: `correction.weights` has to be set, and the guard `agreement` not to stop at its own limit."""

    @field_validator("top_p")
    @classmethod
    def _all_tokens(cls, value: float) -> float:
        if value < 1:
            raise ValueError(
                "must be 1 in training: vLLM gives probabilities among the tokens that top-p leaves, the trainer among all, so that equal "
                "weights differ and the guard `agreement` stops the stage; leave it out (to sample likelier tokens lower "
                "`rollout.temperature`, with which both compute)"
            )
        return value


PAID = "+1 for an answer that equals the published one by the pipeline's verifier, and -1 for any other"
"""What the pipeline's own reward pays, as cards of models say it."""


class Reward(Section):
    """The reward: +1 for a right and -1 for any other response, or a function of yours, and what shapes it."""

    function: str = ""
    """A reward function of yours, `package.module:function` (docs/guides/own_reward.md); empty takes the pipeline's."""

    @field_validator("function")
    @classmethod
    def _named(cls, value: str) -> str:
        if value:
            check_function_name(value)
        if value.startswith(("compass.", "stages.", "flows.")):
            raise ValueError(
                "must be outside the pipeline's own packages; to change its reward see docs/guides/changing.md"
            )
        return value

    overlong_buffer: NotNegative = 0
    """Tokens before the longest response over which a soft penalty grows (DAPO); 0 turns it off."""

    overlong_penalty: Annotated[float, Field(ge=0)] = 1.0
    """The largest such penalty."""

    kl_coef: Annotated[float, Field(ge=0)] = 0.0
    """Coefficient of the KL to the starting policy that is taken off each token's reward; 0 leaves rewards alone. The
    adaptive controller begins with it."""

    kl_estimator: Literal["k1", "k2", "k3", "abs"] = "k1"
    """How that KL is estimated per token from the log-probabilities (docs/reference/estimators.md)."""

    kl_controller: Literal["fixed", "adaptive"] = "fixed"
    """Whether the coefficient stays, or follows `kl_target` (Ziegler et al. 2019)."""

    kl_target: Annotated[float, Field(gt=0)] = 0.1
    """Adaptive: the KL per token to hold. Above it the coefficient grows, below it shrinks."""

    kl_horizon: Positive = 10_000
    """Adaptive: responses over which the coefficient changes by a fifth at most."""


_BOUNDS = frozenset({"clip_low", "clip_high"})
UNUSED_BY_MODE: dict[str, frozenset[str]] = {
    "vanilla": frozenset(),
    "gspo": frozenset({"dual_clip"}),
    "cispo": frozenset({"dual_clip"}),
    "sapo": frozenset({"dual_clip", "aggregation"}) | _BOUNDS,
    "dppo_tv": frozenset(),
    "dppo_kl": frozenset(),
    "clip_cov": frozenset({"dual_clip"}),
    "kl_cov": frozenset({"dual_clip"}) | _BOUNDS,
    "geo_mean": frozenset({"dual_clip", "aggregation"}),
}
"""Fields of `loss` that verl's loss of each mode does not read; `aggregation` is that of KL and entropy as well."""

PER_PASS = ("clip_cov", "kl_cov")
"""Modes of `loss` that choose among the tokens of a pass: what is a pass, `resources.micro_batch_size` or `micro_batch_tokens`, changes the update."""


class Loss(Section):
    """The policy's loss."""

    mode: Literal["vanilla", "gspo", "cispo", "sapo", "dppo_tv", "dppo_kl", "clip_cov", "kl_cov", "geo_mean"] = (
        "vanilla"
    )
    """verl's loss by its name there: `vanilla` is the clipped loss of the report's formula; the others are in docs/reference/estimators.md."""

    clip_low: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """epsilon_low, fixed."""

    clip_high: Annotated[float, Field(gt=0)] = 0.28
    """epsilon_high, raised (clip-higher); the report does not give its value, 0.28 is DAPO's."""

    dual_clip: Annotated[float, Field(ge=0)] = 3.0
    """A response worse than its group counts at most this many times its advantage, however much likelier it has become
    (dual clip, verl's default; not in the report's formula). 0 turns it off; else more than 1."""

    aggregation: Literal[
        "token-mean", "token-sum", "seq-mean-token-mean", "seq-mean-token-sum", "seq-mean-token-sum-norm"
    ] = "token-mean"
    """How token losses are averaged; the report's is token-mean. `seq-mean-token-sum-norm` divides the sum of each response
    by `rollout.max_response_tokens` (Dr. GRPO)."""

    kl_coef: Annotated[float, Field(ge=0)] = 0.0
    """Coefficient of the KL loss to the starting policy; 0 removes it, as the report does."""

    kl_estimator: Literal["k1", "k1+", "k2", "k3", "k3+", "abs", "abs+"] = "k3"
    """How that KL is estimated per token; a `+` takes the gradient of k2 with the value of the other (docs/reference/estimators.md)."""

    entropy_coef: Annotated[float, Field(ge=0)] = 0.0
    """Entropy bonus; with `entropy_target` what the coefficient begins with."""

    entropy_target: Annotated[float, Field(ge=0)] = 0.0
    """Entropy to hold, in nats per token: below it the coefficient rises, else it falls (Skywork-OR1). 0 keeps `entropy_coef` as it is."""

    entropy_step: Annotated[float, Field(gt=0)] = 1e-4
    """With `entropy_target`: how much the coefficient changes per iteration; the default is that of Skywork-OR1's scripts."""

    entropy_coef_max: Annotated[float, Field(gt=0)] = 5e-3
    """With `entropy_target`: the largest coefficient; the default is that of Skywork-OR1's scripts."""

    overlong_filter: bool = False
    """Leave responses that were cut off at `rollout.max_response_tokens` out of the loss (DAPO's overlong filtering), and their tokens out of what
    `aggregation: token-mean` divides by; the others go on dividing by all responses of the update. In their group's mean they count as what they
    are paid. Needs `rollout.dynamic_sampling`, whose groups have a right response."""

    @model_validator(mode="after")
    def _bound(self) -> Loss:
        if 0 < self.dual_clip <= 1:
            raise ValueError(f"`dual_clip` ({self.dual_clip:g}) must be more than 1, or 0, which turns it off")
        return self

    @model_validator(mode="after")
    def _begins_within_its_range(self) -> Loss:
        if self.entropy_target and self.entropy_coef > self.entropy_coef_max:
            raise ValueError(
                f"`entropy_coef` ({self.entropy_coef:g}) must be at most `entropy_coef_max` ({self.entropy_coef_max:g}): it is what "
                "`entropy_target` begins with"
            )
        return self


class Checkpoint(Section):
    """What is saved during a stage, and handed on to the next."""

    save_every: Positive = 5
    """Iterations between two checkpoints."""

    validation_problems: NotNegative = 0
    """Problems of the stage that it does not train on, but samples at every checkpoint; its model is then made of the checkpoint that
    solved most of them, the earlier of equals. 0: the last checkpoint, and no such problems."""

    keep_optimizer: bool = False
    """Keep the final optimizer state among the stage's outputs, for a later stage with `carry_optimizer`."""

    carry_optimizer: bool = False
    """Take over the optimizer state of `init_from` as well: an RL stage with `keep_optimizer`."""


class Lora(Section):
    """What is trained in place of the weights: two thin matrices per linear layer, whose product is added to it (LoRA, Hu et al. 2021)."""

    rank: NotNegative = 0
    """Rows of the one and columns of the other; 0 trains the weights themselves."""

    alpha: Positive = 32
    """The product counts `alpha` / `rank` times."""


class Resources(Section):
    """The hardware, and how it is used."""

    gpus: NotNegative = 0
    """GPUs per node; 0 trains on the CPU."""

    ranks: Positive = 1
    """On a CPU: trainer ranks per node, each with a rollout engine of its own (verl's `trainer.n_gpus_per_node`). On GPUs every GPU
    is a rank, and this stays 1."""

    nodes: Positive = 1
    """Nodes of the Ray cluster. Several are a running cluster that the stage joins: that of `ray_address`, or of the variable
    `RAY_ADDRESS`, or the one that this machine belongs to."""

    ray_address: Annotated[str, Field(pattern=r"^([^\s/:]+:\d+)?$")] = ""
    """`HOST:PORT` of a running Ray cluster to join, with one node as well. Empty with one node: a cluster of the stage's own."""

    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    """Compute type of trainer, reference and rollouts. Parameters and AdamW's state are in single precision in any case."""

    micro_batch_size: Positive = 64
    """On a CPU: responses in one forward and backward pass; memory against speed, no effect on results but of the losses `clip_cov` and `kl_cov`."""

    kv_cache_gib: Positive = 1
    """On a CPU: GiB of memory for the key-value cache of each rollout engine."""

    micro_batch_tokens: Positive = 4096
    """On GPUs: tokens in one forward and backward pass, about, at least the longest prompt and response; memory against speed."""

    offload: Literal["none", "idle", "always"] = "none"
    """What waits in the nodes' memory instead of the GPUs': nothing; parameters and optimizer while responses are sampled
    (`idle`); or these and the gradients at all times, layer by layer on the GPU when it is their turn (`always`, slow)."""

    rollout_memory: Annotated[float, Field(gt=0, le=1)] = 0.5
    """On GPUs: share of a GPU's memory for vLLM during rollouts."""

    tensor_parallel: Positive = 1
    """GPUs one rollout engine is split over."""

    @property
    def ranks_per_node(self) -> int:
        """Trainer ranks per node: its GPUs, or `ranks` on a CPU."""
        return self.gpus or self.ranks

    @property
    def mesh(self) -> tuple[int, int]:
        """Trainer ranks per node, and nodes."""
        return self.ranks_per_node, self.nodes

    @property
    def joins(self) -> bool:
        """Whether the stage joins a running Ray cluster, rather than starting one of its own."""
        return self.nodes > 1 or bool(self.ray_address)


class Recipe(Section):
    """A whole recipe. Every group is in the parameter file, if only as `{}`: DVC compares parameters by name."""

    data: Data
    rollout: Rollout
    reward: Reward
    advantage: Advantage
    loss: Loss
    optimizer: Optimizer
    lora: Lora
    checkpoint: Checkpoint
    resources: Resources
    guards: Guards
    record: Record
    verl: dict[VerlKey, JsonValue]
    """Keys of verl's own configuration that no setting above decides, dots between their parts, with their values (docs/reference/rl.md)."""
