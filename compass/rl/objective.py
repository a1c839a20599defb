"""What a stage optimises, in verl's keys: rewards with or without KL, advantages by an estimator, the policy's loss."""

from __future__ import annotations

from typing import Any

from compass.rl.remax import GREEDY_BASELINE
from compass.settings import RlStage
from compass.settings.correction import Correction

NO_DUAL_CLIP = 1e9
"""A bound that no ratio reaches: verl cuts ratios at e^20, which is less."""


def objective(settings: RlStage) -> dict[str, Any]:
    """verl's keys for KL in the reward, the estimator and the loss, with their values."""
    return {**_kl_in_reward(settings), **_advantage(settings), **_loss(settings)}


def is_one_update(settings: RlStage) -> bool:
    """Whether `compass.rl.one_update` leaves out the pass for old log-probabilities: an iteration is one update of the policy.

    KL in the reward and rollout correction need the numbers of that pass, and with a critic an iteration may have no update. On GPUs,
    where it was never run, verl's own pass stays.
    """
    whole = settings.optimizer.mini_batch_size == settings.data.batch_size and settings.optimizer.epochs == 1
    needs = settings.reward.kl_coef > 0 or settings.rollout.correction != Correction()
    return whole and not needs and settings.advantage.estimator != "gae" and settings.resources.gpus == 0


def _kl_in_reward(settings: RlStage) -> dict[str, Any]:
    ours, controller = settings.reward, "algorithm.kl_ctrl"
    return {
        "algorithm.use_kl_in_reward": ours.kl_coef > 0,
        "algorithm.kl_penalty": ours.kl_estimator,
        f"{controller}.type": ours.kl_controller,
        f"{controller}.kl_coef": ours.kl_coef,
        f"{controller}.target_kl": ours.kl_target,
        f"{controller}.horizon": ours.kl_horizon,
    }


def _advantage(settings: RlStage) -> dict[str, Any]:
    ours = settings.advantage
    return {
        "algorithm.adv_estimator": GREEDY_BASELINE if ours.estimator == "remax" else ours.estimator,
        "algorithm.norm_adv_by_std_in_grpo": ours.normalise_by_std,
        "algorithm.gamma": ours.gamma,
        "algorithm.lam": ours.lam,
        "critic.enable": ours.estimator == "gae",
        # verl updates the policy from this iteration on; the first is 1
        "trainer.critic_warmup": ours.critic.alone + 1 if ours.estimator == "gae" else 0,
    }


def _loss(settings: RlStage) -> dict[str, Any]:
    ours, actor = settings.loss, "actor_rollout_ref.actor"
    return {
        f"{actor}.clip_ratio": ours.clip_low,
        f"{actor}.clip_ratio_low": ours.clip_low,
        f"{actor}.clip_ratio_high": ours.clip_high,
        f"{actor}.loss_agg_mode": ours.aggregation,
        # Without a constant verl divides by the longest response of each pass, so that a pass of short ones weighs more.
        f"{actor}.loss_scale_factor": settings.rollout.max_response_tokens,
        f"{actor}.entropy_coeff": ours.entropy_coef,
        # else its metric comes with the old log-probabilities
        f"{actor}.calculate_entropy": ours.entropy_coef > 0 or is_one_update(settings),
        f"{actor}.clip_ratio_c": ours.dual_clip or NO_DUAL_CLIP,
        f"{actor}.use_kl_loss": ours.kl_coef > 0,
        f"{actor}.kl_loss_coef": ours.kl_coef,
        f"{actor}.kl_loss_type": ours.kl_estimator,
    }
