"""From an RL stage's settings to one complete verl configuration.

`verl_config` composes verl's own defaults with the overrides below, so that what is written to disk, printed by
`compass rl --dry-run` and logged is everything that runs, not the differences.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.settings import Rl

if TYPE_CHECKING:
    from omegaconf import DictConfig


@dataclass(frozen=True)
class StagePaths:
    """Where an RL stage reads and writes.

    Attributes:
        model: folder of the weights it starts from.
        train: verl's parquet of training problems.
        work: the stage's resumable state: `checkpoints/`, `metrics.jsonl`, `rewards.jsonl`.
    """

    model: Path
    train: Path
    work: Path

    @property
    def checkpoints(self) -> Path:
        """verl's checkpoints, one folder an iteration that was saved."""
        return self.work / "checkpoints"

    @property
    def metrics(self) -> Path:
        """verl's metrics, one JSON line an iteration."""
        return self.work / "metrics.jsonl"

    @property
    def live_metrics(self) -> Path:
        """The same as verl is writing it; verl starts it anew with every process."""
        return self.work / "metrics.live.jsonl"

    @property
    def rewards(self) -> Path:
        """Rewards, one JSON line a group."""
        return self.work / "rewards.jsonl"


def verl_config(stage: str, settings: Rl, paths: StagePaths, *, seed: int) -> DictConfig:
    """The complete verl configuration of one RL stage.

    Args:
        stage: the stage's name, `rl-1` to `rl-3`.
        settings: the stage's settings, the shared recipe included.
        paths: where it reads and writes.
        seed: seed of data order, rollouts and updates.

    Raises:
        omegaconf.errors.ConfigKeyError: an override names a key that the installed verl does not have.
    """
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    verl = importlib.util.find_spec("verl")
    if verl is None or not verl.submodule_search_locations:
        raise ModuleNotFoundError("verl is not installed; run `make setup`")
    folder = Path(next(iter(verl.submodule_search_locations))) / "trainer" / "config"
    with initialize_config_dir(config_dir=str(folder), version_base=None):
        config = compose(config_name="ppo_trainer")
    OmegaConf.set_struct(config, False)
    overrides = (
        _recipe(settings) | _data(settings, paths, seed) | _rollout(settings, seed) | _trainer(stage, settings, paths)
    )
    if settings.gpus == 0:
        from compass.rl.cpu.configuration import cpu_overrides

        overrides |= cpu_overrides(settings.dtype, paths.model)
    for key, value in overrides.items():
        OmegaConf.update(config, key, value, force_add=True)
    return config


def micro_batch(s: Rl) -> int:
    """Responses in one pass: the largest number up to `micro_batch_size` that divides a rank's share of an update.

    verl refuses any other, and the number has no effect on results.
    """
    rows = max(1, s.mini_batch_size * s.group_size // (max(s.gpus, 1) * s.nodes))
    return max(number for number in range(1, min(s.micro_batch_size, rows) + 1) if rows % number == 0)


def _recipe(s: Rl) -> dict[str, Any]:
    """The algorithm: report section 3."""
    actor = "actor_rollout_ref.actor"
    return {
        "algorithm.adv_estimator": s.estimator,
        "algorithm.norm_adv_by_std_in_grpo": s.normalise_by_std,
        "algorithm.use_kl_in_reward": False,
        "algorithm.filter_groups.enable": s.dynamic_sampling,
        # accuracy, not score: under a shaped reward an all-wrong group would keep a gradient of noise
        "algorithm.filter_groups.metric": "acc",
        f"{actor}.optim.lr": s.learning_rate,
        f"{actor}.optim.weight_decay": s.weight_decay,
        f"{actor}.optim.lr_warmup_steps": s.warmup_steps,
        f"{actor}.grad_clip": s.grad_clip,
        f"{actor}.optim.clip_grad": s.grad_clip,
        f"{actor}.ppo_mini_batch_size": s.mini_batch_size,
        f"{actor}.ppo_micro_batch_size_per_gpu": micro_batch(s),
        f"{actor}.ppo_epochs": s.epochs,
        f"{actor}.clip_ratio": s.clip_low,
        f"{actor}.clip_ratio_low": s.clip_low,
        f"{actor}.clip_ratio_high": s.clip_high,
        f"{actor}.loss_agg_mode": s.loss_aggregation,
        f"{actor}.entropy_coeff": s.entropy_coef,
        f"{actor}.calculate_entropy": True,
        f"{actor}.use_kl_loss": s.kl_coef > 0,
        f"{actor}.kl_loss_coef": s.kl_coef,
        "reward.num_workers": 0,  # the agent loop scores
        "reward.custom_reward_function.path": "pkg://compass.rl.reward_function",
        "reward.custom_reward_function.name": "compute_score",
        "reward.reward_manager.name": "dapo",
        "reward.reward_kwargs": {
            "max_resp_len": s.max_response_tokens,
            "overlong_buffer_cfg": {
                "enable": s.overlong_buffer > 0,
                "len": s.overlong_buffer,
                "penalty_factor": s.overlong_penalty,
                "log": True,
            },
        },
    }


def _data(s: Rl, paths: StagePaths, seed: int) -> dict[str, Any]:
    return {
        "data.train_files": str(paths.train),
        "data.val_files": str(paths.train),  # verl wants a file; validation is the evaluate stage's
        "data.val_max_samples": 1,
        "data.train_batch_size": s.batch_size,
        "data.max_prompt_length": s.max_prompt_tokens,
        "data.max_response_length": s.max_response_tokens,
        "data.filter_overlong_prompts": False,  # compass.rl.dataset leaves them out and counts them
        "data.truncation": "error",
        "data.shuffle": True,
        "data.seed": seed,
        "data.dataloader_num_workers": 0,
    }


def _rollout(s: Rl, seed: int) -> dict[str, Any]:
    rollout = "actor_rollout_ref.rollout"
    return {
        f"{rollout}.name": "vllm",
        f"{rollout}.n": s.group_size,
        f"{rollout}.temperature": s.temperature,
        f"{rollout}.top_p": s.top_p,
        f"{rollout}.seed": seed,
        f"{rollout}.dtype": s.dtype,
        f"{rollout}.gpu_memory_utilization": s.rollout_memory,
        f"{rollout}.tensor_model_parallel_size": s.tensor_parallel,
        f"{rollout}.max_model_len": s.max_prompt_tokens + s.max_response_tokens,
        f"{rollout}.log_prob_micro_batch_size_per_gpu": micro_batch(s),
        f"{rollout}.calculate_log_probs": True,
        f"{rollout}.disable_log_stats": True,
        f"{rollout}.agent.agent_loop_manager_class": "compass.rl.agent_loop.AgentLoopManager",
    }


def _trainer(stage: str, s: Rl, paths: StagePaths) -> dict[str, Any]:
    return {
        "actor_rollout_ref.model.path": str(paths.model),
        "actor_rollout_ref.model.trust_remote_code": False,
        "actor_rollout_ref.actor.strategy": "fsdp2",
        "actor_rollout_ref.actor.fsdp_config.dtype": s.dtype,
        "actor_rollout_ref.actor.checkpoint.save_contents": ["model", "optimizer", "extra", "hf_model"],
        "actor_rollout_ref.actor.checkpoint.load_contents": ["model", "optimizer", "extra"],
        "trainer.logger": ["console", "file", "mlflow"],
        "trainer.project_name": "compass",
        "trainer.experiment_name": stage,
        "trainer.total_training_steps": s.steps,
        # Iterations end a stage. Dynamic sampling consumes more problems than iterations need, so that epochs, which
        # verl counts by iterations, must not end it first.
        "trainer.total_epochs": s.steps + 1,
        "trainer.val_before_train": False,
        "trainer.test_freq": -1,
        "trainer.save_freq": s.save_every,
        "trainer.max_actor_ckpt_to_keep": 2,
        "trainer.default_local_dir": str(paths.checkpoints),
        "trainer.resume_mode": "auto",
        "trainer.nnodes": s.nodes,
        "trainer.n_gpus_per_node": max(s.gpus, 1),
        "trainer.v1.sampler.custom_sampler.path": "pkg://compass.rl.group_sampler",
        "trainer.v1.sampler.custom_sampler.name": "GroupSampler",
        "trainer.v1.sampler.sampler_kwargs": {
            "filter_groups_metric": "acc" if s.dynamic_sampling else None,
            "train_batch_size": s.batch_size,
            "gen_batch_size": 1,
            "max_generation_batches": s.max_generation_batches,
            "rewards_file": str(paths.rewards),
        },
    }
