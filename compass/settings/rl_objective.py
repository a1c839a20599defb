"""What of a recipe's objective contradicts itself: combinations of estimator, group, sampling and KL that would train on noise."""

from __future__ import annotations

from typing import Any

from compass.settings.advantage import DISCOUNTS, DIVIDES_BY_STD, GROUP_BASED
from compass.settings.recipe import Recipe


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
    alone = recipe.advantage.critic.alone
    if estimator == "gae" and alone >= steps:
        raise ValueError(
            f"`advantage.critic.alone` ({alone}) leaves none of the {steps} iterations to the policy; it must be less than `steps`"
        )
    if estimator == "gae" and recipe.optimizer.schedule == "cosine":
        critic = recipe.advantage.critic
        if critic.warmup_steps >= (recipe.optimizer.schedule_steps or steps):
            raise ValueError(
                f"`advantage.critic.warmup_steps` ({critic.warmup_steps}) must be less than the iterations of `optimizer.schedule: cosine`, "
                "which the critic's learning rate follows"
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
    if not recipe.loss.kl_coef:
        found["loss"] = {"kl_estimator"}
    if not recipe.reward.kl_coef:
        found["reward"] = {name for name in type(recipe.reward).model_fields if name.startswith("kl_")}
    elif recipe.reward.kl_controller == "fixed":
        found["reward"] = {"kl_target", "kl_horizon"}
    return found
