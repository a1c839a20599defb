"""From an RL stage's settings to one complete verl configuration.

`verl_config` composes verl's own defaults with the keys below, so that what is written to disk, printed by `compass rl show` and logged is
everything that runs, not the differences. The keys follow the recipe group by group (`compass/settings/recipe.py`). What the device decides
is in `compass.rl.device`. Any other key of verl is set by `rl.verl`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from compass.prompts.registry import find_prompt
from compass.rl.checkpoint import VALIDATION_SAMPLES
from compass.rl.correction import BYPASS_COPY, correction_overrides
from compass.rl.device import device_overrides
from compass.rl.estimators import advantage_overrides, critic_overrides
from compass.rl.export import read_beginning
from compass.rl.paths import StagePaths
from compass.settings import RlStage
from compass.settings.advantage import GROUP_BASED
from compass.settings.correction import Correction
from compass.settings.recipe import Reward
from compass.settings.section import Section

if TYPE_CHECKING:
    from omegaconf import DictConfig

PIPELINE = ""
"""The owner of keys that no setting decides, but the pipeline."""

NO_DUAL_CLIP = 1e9
"""A bound that no ratio reaches: verl cuts ratios at e^20, which is less."""


def verl_config(stage: str, settings: RlStage, paths: StagePaths, *, seed: int) -> DictConfig:
    """The complete verl configuration of one RL stage.

    Args:
        stage: the stage's name in `rl.stages`.
        settings: the stage's settings, the shared recipe included.
        paths: where it reads and writes.
        seed: seed of data order, rollouts and updates.

    Raises:
        VerlKeyError: the installed verl lacks a key, or `rl.verl` gives one that another setting decides.
    """
    from omegaconf import OmegaConf

    from compass.rl.verl_keys import set_key, set_own_keys, verls_own

    config = deepcopy(verls_own("ppo_trainer"))
    by_setting = overrides_by_setting(stage, settings, paths, seed=seed)
    for values in by_setting.values():
        for key, value in values.items():
            set_key(config, key, value)
    changed = partial(overrides_by_setting, stage, paths=paths, seed=seed)
    set_own_keys(config, settings.verl, by_setting, partial(_name_settings, settings, changed))
    if settings.rollout.correction.bypass:
        set_key(config, BYPASS_COPY, OmegaConf.to_container(config.algorithm.rollout_correction))
    return config


def _name_settings(
    settings: RlStage, overrides_of: Callable[..., Mapping[str, Mapping[str, Any]]], group: str, key: str
) -> list[str]:
    """The settings that decide a key of verl, by their names: those of its group whose change changes it, or the group where none alone does.

    Args:
        settings: the stage's.
        overrides_of: the overrides by group of given settings.
        group: a group of the recipe; `advantage.critic` is one.
        key: verl's.
    """
    now, (above, _, inner) = overrides_of(settings)[group].get(key), group.partition(".")
    outer = getattr(settings, above)
    section = getattr(outer, inner) if inner else outer
    found = []
    for name in type(section).model_fields:
        other = section.model_copy(update={name: _another_value(section, name)})
        whole = outer.model_copy(update={inner: other}) if inner else other
        if overrides_of(settings.model_copy(update={above: whole}))[group].get(key) != now:
            found.append(f"rl.{group}.{name}")
    return found or [f"rl.{group}"]


def _another_value(section: Section, name: str) -> Any:
    """A value of a setting's kind that it does not have."""
    value, kind = getattr(section, name), type(section).model_fields[name].annotation
    if choices := [one for one in get_args(kind) if isinstance(one, str) and one != value]:
        return choices[0]
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) else value


def overrides(stage: str, settings: RlStage, paths: StagePaths, *, seed: int) -> dict[str, Any]:
    """What a stage's typed settings make of verl's configuration: values by verl's keys, dots between their parts."""
    by_setting = overrides_by_setting(stage, settings, paths, seed=seed)
    return {key: value for values in by_setting.values() for key, value in values.items()}


def overrides_by_setting(stage: str, settings: RlStage, paths: StagePaths, *, seed: int) -> dict[str, dict[str, Any]]:
    """The same by the group of settings that decides them; that of `PIPELINE` no setting decides."""
    policy = {
        "data": _data(settings),
        "rollout": _rollout(settings, seed) | correction_overrides(settings.rollout.correction),
        "reward": _reward(settings) | _kl_in_reward(settings),
        "advantage": advantage_overrides(settings),
        "loss": _loss(settings),
        "optimizer": _optimizer(settings, seed),
        "lora": _lora(settings, seed),
        "checkpoint": _checkpoint(settings, paths),
        "resources": device_overrides(settings, paths.model),
        PIPELINE: _pipeline(stage, settings, paths, seed),
    }
    flat = {key: value for values in policy.values() for key, value in values.items()}
    return {**policy, "advantage.critic": critic_overrides(settings, flat, seed)}


def is_one_update(settings: RlStage) -> bool:
    """Whether `compass.rl.policy_loss` leaves out the pass for old log-probabilities: an iteration is one update of the policy.

    KL in the reward, rollout correction and a target of entropy need the numbers of that pass, so may a key of `rl.verl` or another loss, and with a critic
    an iteration may have no update. On GPUs, where it was never run, verl's own pass stays.
    """
    whole = settings.optimizer.mini_batch_size == settings.data.batch_size and settings.optimizer.epochs == 1
    needs = settings.reward.kl_coef > 0 or settings.rollout.correction != Correction() or bool(settings.verl)
    needs = needs or settings.loss.mode != "vanilla" or settings.loss.entropy_target > 0
    return whole and not needs and settings.advantage.estimator != "gae" and settings.resources.gpus == 0


def _data(settings: RlStage) -> dict[str, Any]:
    return {
        "data.train_batch_size": settings.data.batch_size,
        "data.max_prompt_length": settings.data.max_prompt_tokens,
        "data.max_response_length": settings.rollout.max_response_tokens,
        "actor_rollout_ref.model.custom_chat_template": find_prompt(settings.data.model_dump()).chat_template,
    } | ({"data.apply_chat_template_kwargs": dict(given)} if (given := settings.data.chat_template_kwargs) else {})


def _rollout(settings: RlStage, seed: int) -> dict[str, Any]:
    ours, rollout = settings.rollout, "actor_rollout_ref.rollout"
    return {
        f"{rollout}.n": ours.group_size,
        f"{rollout}.temperature": ours.temperature,
        f"{rollout}.top_p": ours.top_p,
        f"{rollout}.top_k": -1,  # as with top_p, the trainer could not give the same probabilities
        f"{rollout}.seed": seed,
        f"{rollout}.val_kwargs.n": VALIDATION_SAMPLES,
        f"{rollout}.val_kwargs.do_sample": True,
        f"{rollout}.val_kwargs.temperature": ours.temperature,
        f"{rollout}.val_kwargs.top_p": ours.top_p,
        f"{rollout}.max_model_len": settings.data.max_prompt_tokens + ours.max_response_tokens,
        "algorithm.filter_groups.enable": ours.dynamic_sampling,
        # accuracy, not score: under a shaped reward an all-wrong group would keep a gradient of noise
        "algorithm.filter_groups.metric": "acc",
    }


SHAPING = frozenset(name for name in Reward.model_fields if name.startswith(("overlong_", "kl_")))
"""Settings of the reward that verl's own keys have; `compute_score` takes each of the others by its name."""


def _reward(settings: RlStage) -> dict[str, Any]:
    ours = settings.reward
    return {
        "reward.custom_reward_function.reward_kwargs": ours.model_dump(mode="json", exclude=SHAPING),
        "reward.reward_kwargs": {
            "max_resp_len": settings.rollout.max_response_tokens,
            "overlong_buffer_cfg": {
                "enable": ours.overlong_buffer > 0,
                "len": ours.overlong_buffer,
                "penalty_factor": ours.overlong_penalty,
                "log": True,
            },
        },
    }


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


def _loss(settings: RlStage) -> dict[str, Any]:
    ours, actor = settings.loss, "actor_rollout_ref.actor"
    return {
        **({f"{actor}.policy_loss.loss_mode": ours.mode} if not settings.rollout.correction.bypass else {}),
        f"{actor}.clip_ratio": ours.clip_low,
        f"{actor}.clip_ratio_low": ours.clip_low,
        f"{actor}.clip_ratio_high": ours.clip_high,
        f"{actor}.loss_agg_mode": ours.aggregation,
        # Without a constant verl divides by the longest response of each pass, so that a pass of short ones weighs more.
        f"{actor}.loss_scale_factor": settings.rollout.max_response_tokens,
        f"{actor}.entropy_coeff": ours.entropy_coef,
        # else its metric comes with the old log-probabilities, and verl computes it in an update whose coefficient is not 0
        f"{actor}.calculate_entropy": (ours.entropy_coef > 0 and not ours.entropy_target) or is_one_update(settings),
        f"{actor}.clip_ratio_c": ours.dual_clip or NO_DUAL_CLIP,
        f"{actor}.use_kl_loss": ours.kl_coef > 0,
        f"{actor}.kl_loss_coef": ours.kl_coef,
        f"{actor}.kl_loss_type": ours.kl_estimator,
    }


def _optimizer(settings: RlStage, seed: int) -> dict[str, Any]:
    ours, actor = settings.optimizer, "actor_rollout_ref.actor"
    return {
        f"{actor}.optim.lr": ours.learning_rate,
        f"{actor}.optim.weight_decay": ours.weight_decay,
        f"{actor}.optim.betas": ours.betas,
        f"{actor}.optim.override_optimizer_config": {"eps": ours.eps, **_fused(settings)},
        f"{actor}.optim.lr_warmup_steps": ours.warmup_steps,
        f"{actor}.optim.lr_scheduler_type": ours.schedule,
        f"{actor}.optim.min_lr_ratio": ours.min_learning_rate / ours.learning_rate,
        f"{actor}.optim.num_cycles": ours.cycles_within(settings.steps),
        f"{actor}.optim.zero_indexed_step": ours.zero_indexed,
        f"{actor}.optim.clip_grad": ours.grad_clip,
        f"{actor}.grad_clip": ours.grad_clip,
        f"{actor}.ppo_mini_batch_size": ours.mini_batch_size,
        f"{actor}.ppo_epochs": ours.epochs,
        # verl hands over responses in the order in which they ended, the short ones first: without a shuffle the
        # mini-batches of an iteration would differ by length, in the same order in every pass.
        f"{actor}.shuffle": True,
        f"{actor}.data_loader_seed": seed,
    }


def _fused(settings: RlStage) -> dict[str, bool]:
    """torch's AdamW in one pass over all numbers; an optimizer that `rl.verl` names may not know the word."""
    other = any(key.startswith("actor_rollout_ref.actor.optim.optimizer") for key in settings.verl)
    return {} if other else {"fused": True}


def _lora(settings: RlStage, seed: int) -> dict[str, Any]:
    """verl's LoRA, whose matrices go to the rollouts merged into the weights, and into checkpoints alone."""
    ours, model = settings.lora, "actor_rollout_ref.model"
    if not ours.rank:
        return {f"{model}.lora_rank": 0}
    return {
        f"{model}.lora_rank": ours.rank,
        f"{model}.lora_alpha": ours.alpha,
        f"{model}.lora.merge": True,
        "actor_rollout_ref.actor.fsdp_config.seed": seed,  # of the first matrices; compass.rl.cpu.engine reads it
        "actor_rollout_ref.actor.checkpoint.save_lora_only": True,
    }


def _checkpoint(settings: RlStage, paths: StagePaths) -> dict[str, Any]:
    held_out = settings.checkpoint.validation_problems
    return {
        # verl wants a file where there is no validation, too
        "data.val_files": str(paths.validation if held_out else paths.train),
        "data.val_max_samples": held_out or 1,
        "trainer.save_freq": settings.checkpoint.save_every,
        "trainer.test_freq": settings.checkpoint.save_every if held_out else -1,
    }


def _pipeline(stage: str, settings: RlStage, paths: StagePaths, seed: int) -> dict[str, Any]:
    """What makes verl's run a stage of the pipeline: its files, its end, and the parts of verl that are replaced."""
    actor, rollout, sampler = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "trainer.v1.sampler"
    return {
        "data.train_files": str(paths.train),
        "data.filter_overlong_prompts": False,  # compass.rl.dataset leaves them out and counts them
        "data.truncation": "error",
        "data.shuffle": True,
        "data.seed": seed,
        "data.dataloader_num_workers": 0,
        "actor_rollout_ref.model.path": str(paths.model),
        "actor_rollout_ref.model.trust_remote_code": False,
        f"{actor}.strategy": "fsdp2",
        f"{actor}.checkpoint.save_contents": ["model", "optimizer", "extra"],  # compass.rl.export makes the model
        f"{actor}.checkpoint.load_contents": ["model", "optimizer", "extra"],
        f"{rollout}.name": "vllm",
        f"{rollout}.calculate_log_probs": True,
        f"{rollout}.disable_log_stats": True,
        f"{rollout}.agent.agent_loop_manager_class": "compass.rl.agent_loop.AgentLoopManager",
        "reward.num_workers": 0,  # the agent loop scores
        "reward.custom_reward_function.path": "pkg://compass.rl.reward_function",
        "reward.custom_reward_function.name": "compute_score",
        "reward.reward_manager.name": "dapo",
        "trainer.logger": ["console", "file"],
        "trainer.project_name": "compass",
        "trainer.experiment_name": stage,
        "trainer.total_training_steps": settings.steps,
        # Iterations end a stage. Dynamic sampling consumes more problems than iterations need, so that epochs, which
        # verl counts by iterations, must not end it first.
        "trainer.total_epochs": settings.steps + 1,
        "trainer.val_before_train": False,
        "trainer.max_actor_ckpt_to_keep": None,  # compass.rl.launch removes them: verl forgets them over a restart
        "trainer.default_local_dir": str(paths.checkpoints),
        "trainer.resume_mode": "auto",
        f"{sampler}.sync_refill_failed_groups": True,  # prompts are fetched singly, to replace failed groups
        f"{sampler}.custom_sampler.path": "pkg://compass.rl.dynamic_sampling",
        f"{sampler}.custom_sampler.name": "GroupSampler",
        f"{sampler}.sampler_kwargs": {
            "filter_groups_metric": "acc" if settings.rollout.dynamic_sampling else None,
            "train_batch_size": settings.data.batch_size,
            "gen_batch_size": 1,
            "max_generation_batches": settings.rollout.max_generation_batches,
            # verl hands its own key to its own sampler alone
            "max_inflight_gen_batches": "${algorithm.filter_groups.max_inflight_gen_batches}",
            "refill": settings.rollout.refill,
            "reproducible": settings.rollout.reproducible,
            "overlong_filter": settings.loss.overlong_filter,
            "watch": watch_config(settings, paths),
        },
    }


def watch_config(settings: RlStage, paths: StagePaths) -> dict[str, Any]:
    """What the sampler and the trainer need to watch themselves, and where they write it."""
    guards = settings.guards.model_dump()
    if settings.advantage.estimator not in GROUP_BASED:
        guards["zero_signal"]["level"] = "off"  # groups that are all right or all wrong do teach these estimators
    return {
        "guards": guards,
        "device": "cuda" if settings.resources.gpus else "cpu",
        "dtype": settings.resources.dtype,
        "steps": settings.steps,
        "rollouts_every": settings.record.rollouts_every,
        "beginning": read_beginning(paths.model, settings.rollout.temperature),
        "one_update": is_one_update(settings),
        "entropy": settings.loss.model_dump(
            include={"entropy_coef", "entropy_target", "entropy_step", "entropy_coef_max"}
        ),
        "rewards": str(paths.rewards),
        "metrics": str(paths.metrics),
        "saved_metrics": str(paths.saved_metrics),
        "findings": str(paths.findings),
        "progress": str(paths.progress),
        "lost": str(paths.lost),
        "notice": str(paths.notice),
        "stopped": str(paths.stopped),
        "rollouts": str(paths.rollouts),
        "samples": str(paths.samples),
    }
