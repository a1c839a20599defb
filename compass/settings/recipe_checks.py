"""What of a stage's recipe contradicts itself, its length or the hardware that it names; verl would say so after minutes, or never."""

from __future__ import annotations

from typing import Any

from compass.settings.advantage import DISCOUNTS, DIVIDES_BY_STD, GROUP_BASED
from compass.settings.recipe import UNUSED_BY_MODE, Recipe, Resources

GPU_ALONE = ("tensor_parallel", "offload", "micro_batch_tokens", "rollout_memory")
CPU_ALONE = ("ranks", "micro_batch_size", "kv_cache_gib")
"""Fields of `resources` that mean nothing on a CPU, and those that mean nothing on GPUs; there each has to keep its default."""


def check_objective(recipe: Recipe, steps: int) -> None:
    """Check that estimator, groups, dynamic sampling and KL of a stage go together.

    Args:
        recipe: the stage's.
        steps: its iterations.

    Raises:
        ValueError: they do not; the message names the settings, says why and what to change.
    """
    estimator, rollout = recipe.advantage.estimator, recipe.rollout
    if estimator in GROUP_BASED and rollout.group_size == 1:
        raise ValueError(
            f"`rollout.group_size` (1) must be at least 2: `advantage.estimator: {estimator}` compares the responses to one "
            "problem with each other; raise it, or take remax, reinforce_plus_plus or gae"
        )
    if estimator not in GROUP_BASED and rollout.dynamic_sampling:
        raise ValueError(
            f"`rollout.dynamic_sampling: true` leaves out groups that are all right or all wrong, and `advantage.estimator: "
            f"{estimator}` learns from them: its baseline is not the group's mean; set `rollout.dynamic_sampling: false`"
        )
    if recipe.loss.overlong_filter and not rollout.dynamic_sampling:
        raise ValueError(
            "`loss.overlong_filter` needs `rollout.dynamic_sampling: true`: an iteration of nothing but responses that were cut off would "
            "have no token to train on; set one of them otherwise"
        )
    if recipe.loss.overlong_filter and estimator == "opo":
        raise ValueError(
            "`loss.overlong_filter` cannot go with `advantage.estimator: opo`, whose baseline weighs responses by the tokens that train: those "
            "that were cut off, the longest, would weigh nothing; leave one of them out"
        )
    if recipe.loss.overlong_filter and rollout.correction.bypass:
        raise ValueError(
            "`loss.overlong_filter` cannot go with `rollout.correction.bypass`: there verl compares rollout and trainer in each pass, and fails on "
            "one of nothing but responses that were cut off; leave one of them out"
        )
    if recipe.loss.mode != "vanilla" and rollout.correction.bypass:
        raise ValueError(
            f"`rollout.correction.bypass` has losses of its own (`rollout.correction.loss`), and `loss.mode` is {recipe.loss.mode}; "
            "leave one of them out"
        )
    alone = recipe.advantage.critic.alone
    if estimator == "gae" and alone >= steps:
        raise ValueError(
            f"`advantage.critic.alone` ({alone}) leaves none of the {steps} iterations to the policy; it must be less than `steps`"
        )
    if estimator == "gae":
        critic = recipe.advantage.critic
        length = recipe.optimizer.schedule_steps or steps
        if recipe.optimizer.warmup_steps >= steps - alone:
            raise ValueError(
                f"`optimizer.warmup_steps` ({recipe.optimizer.warmup_steps}) must be less than the {steps - alone} iterations that "
                f"`advantage.critic.alone` ({alone}) leaves to the policy: its learning rate would never reach its value"
            )
        if critic.warmup_steps >= length:
            raise ValueError(
                f"`advantage.critic.warmup_steps` ({critic.warmup_steps}) must be less than the {length} iterations of the schedule: the "
                "critic's learning rate would never reach its value"
            )
    if recipe.reward.kl_controller == "adaptive" and not recipe.reward.kl_coef:
        raise ValueError(
            "`reward.kl_controller: adaptive` multiplies `reward.kl_coef`, which is 0 and stays 0; give the coefficient it begins with, or "
            "take `fixed`"
        )
    responses, horizon = recipe.data.batch_size * rollout.group_size, recipe.reward.kl_horizon
    if recipe.reward.kl_coef and recipe.reward.kl_controller == "adaptive" and horizon < responses:
        raise ValueError(
            f"`reward.kl_horizon` ({horizon}) must be at least the responses of an iteration (`data.batch_size` x "
            f"`rollout.group_size` = {responses}), or one iteration could turn the coefficient over"
        )
    if (
        recipe.reward.kl_coef
        and estimator in DIVIDES_BY_STD
        and recipe.advantage.normalise_by_std
        and not rollout.dynamic_sampling
    ):
        raise ValueError(
            f"`reward.kl_coef` ({recipe.reward.kl_coef:g}) makes the rewards of a group that is all right or all wrong differ by "
            "their KL alone, and `advantage.normalise_by_std` blows that up to the size of a right answer; set "
            "`rollout.dynamic_sampling: true`, `advantage.normalise_by_std: false`, or use `loss.kl_coef` instead"
        )


def check_lora(recipe: Recipe) -> None:
    """Check that nothing of a stage contradicts the low-rank matrices that it trains.

    Raises:
        ValueError: something does; the message names the settings, says why and what to change.
    """
    if not recipe.lora.rank:
        return
    given, checkpoint, resources = f"`lora.rank` ({recipe.lora.rank})", recipe.checkpoint, recipe.resources
    for name in ("keep_optimizer", "carry_optimizer"):
        if getattr(checkpoint, name):
            raise ValueError(
                f"`checkpoint.{name}` conflicts with {given}: every stage begins with new matrices, and the moments of others mean nothing "
                "to them; set it to false"
            )
    if recipe.advantage.estimator == "gae":
        raise ValueError(
            f"`advantage.estimator: gae` conflicts with {given}: the critic would be trained whole, beside a policy that is not; take "
            "another estimator, or leave `lora.rank` out"
        )
    if resources.gpus and resources.dtype == "float32":
        raise ValueError(
            f"`resources.dtype: float32` on GPUs conflicts with {given}: verl rounds the merged weights to bfloat16 on their way to the "
            "rollouts, so that trainer and rollouts would differ; set `resources.dtype: bfloat16`"
        )
    if resources.offload == "always":
        raise ValueError(
            f"`resources.offload: always` conflicts with {given}: verl merges the matrices where the weights are, and GPUs cannot exchange "
            "what is in the node's memory; set `resources.offload: idle`"
        )


def without_effect(recipe: Recipe) -> dict[str, Any]:
    """The settings of the objective that this recipe's other settings switch off, as pydantic's `exclude`."""
    advantage = recipe.advantage
    off = {
        "normalise_by_std": advantage.estimator not in DIVIDES_BY_STD,
        "gamma": advantage.estimator not in DISCOUNTS,
        "lam": advantage.estimator != "gae",
        "critic": advantage.estimator != "gae",
    }
    found: dict[str, Any] = {"advantage": {name for name, is_off in off.items() if is_off}}
    found["loss"] = {"kl_estimator"} if not recipe.loss.kl_coef else set()
    if not recipe.loss.entropy_target:
        found["loss"] |= {"entropy_target", "entropy_step", "entropy_coef_max"}
    unused = UNUSED_BY_MODE[recipe.loss.mode]
    terms = recipe.loss.kl_coef or recipe.loss.entropy_coef or recipe.loss.entropy_target
    found["loss"] |= unused - {"aggregation"} if terms else unused
    if not recipe.lora.rank:
        found["lora"] = True
    if not recipe.reward.kl_coef:
        found["reward"] = {name for name in type(recipe.reward).model_fields if name.startswith("kl_")}
    elif recipe.reward.kl_controller == "fixed":
        found["reward"] = {"kl_target", "kl_horizon"}
    return found


def check_device(recipe: Recipe) -> None:
    """Check a stage's recipe against the device that its `resources` name.

    Raises:
        ValueError: they contradict each other; the message names the settings and what to change.
    """
    resources = recipe.resources
    cpu = resources.gpus == 0
    for name in GPU_ALONE if cpu else CPU_ALONE:
        value = getattr(resources, name)
        if value != Resources.model_fields[name].default:
            meant, remedy = ("GPUs", "leave it out, or name the GPUs") if cpu else ("a CPU", "leave it out")
            raise ValueError(
                f"`resources.{name}` ({value}) is for {meant}, and `resources.gpus` is {resources.gpus}; {remedy}"
            )
    if recipe.rollout.quantization != "none":
        _check_quantization(recipe, cpu)
    if cpu:
        _check_shares(recipe, resources.ranks * resources.nodes, "`resources.ranks` x `resources.nodes`")
    else:
        _check_gpus(recipe)


def _check_quantization(recipe: Recipe, cpu: bool) -> None:
    """A rollout engine with coarser weights than the trainer's needs a correction, and a guard that knows of it."""
    given, agreement = f"`rollout.quantization: {recipe.rollout.quantization}`", recipe.guards.agreement
    if cpu:
        raise ValueError(f"{given} is for GPUs, and `resources.gpus` is 0; leave it out, or name the GPUs")
    correction = recipe.rollout.correction
    clips_to_rollout = (
        correction.bypass and correction.loss == "ppo_clip"
    )  # the clipped ratio already is to the rollout engine
    if correction.weights == "none" and not clips_to_rollout:
        raise ValueError(
            f"{given} samples from other probabilities than the trainer's, and nothing corrects for it; set "
            "`rollout.correction: {weights: token}`"
        )
    if agreement.level == "stop" and agreement.limit is None:
        raise ValueError(
            f"{given} differs from the trainer by more than the guard `agreement` allows for equal weights, which would stop the stage; set "
            "`guards.agreement: {level: warn}`, or give it a `limit`"
        )


def _check_shares(recipe: Recipe, ranks: int, product: str) -> None:
    """Each rank takes the same number of an update's responses."""
    mini_batch, group = recipe.optimizer.mini_batch_size, recipe.rollout.group_size
    if mini_batch * group % ranks:
        raise ValueError(
            f"`optimizer.mini_batch_size` x `rollout.group_size` ({mini_batch} x {group} = {mini_batch * group} responses) "
            f"must be a multiple of the {ranks} ranks ({product})"
        )


def _check_gpus(recipe: Recipe) -> None:
    resources = recipe.resources
    if resources.gpus % resources.tensor_parallel:
        raise ValueError(
            f"`resources.tensor_parallel` ({resources.tensor_parallel}) must divide `resources.gpus` ({resources.gpus})"
        )
    _check_shares(recipe, resources.gpus * resources.nodes, "`resources.gpus` x `resources.nodes`")
    longest = recipe.data.max_prompt_tokens + recipe.rollout.max_response_tokens
    if resources.micro_batch_tokens < longest:
        raise ValueError(
            f"`resources.micro_batch_tokens` ({resources.micro_batch_tokens}) must hold the longest prompt and response "
            f"(`data.max_prompt_tokens` + `rollout.max_response_tokens` = {longest})"
        )
