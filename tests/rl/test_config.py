from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from compass.rl.config import StagePaths, micro_batch, verl_config
from compass.settings import RL_STAGES, load_settings

ROOT = Path(__file__).resolve().parents[2]
PATHS = StagePaths(Path("models/base"), Path("train.parquet"), Path("work"))


@pytest.fixture(scope="module")
def tiny():
    settings = load_settings(ROOT / "profiles/tiny.yaml")
    return verl_config("rl-1", settings.rl_1, PATHS, seed=3)


def test_the_recipe_is_the_reports(tiny) -> None:
    actor = tiny.actor_rollout_ref.actor
    assert tiny.algorithm.adv_estimator == "grpo"
    assert tiny.algorithm.norm_adv_by_std_in_grpo
    assert tiny.algorithm.filter_groups.enable
    assert tiny.algorithm.filter_groups.metric == "acc"
    assert not actor.use_kl_loss
    assert not tiny.algorithm.use_kl_in_reward
    assert (actor.clip_ratio_low, actor.clip_ratio_high) == (0.2, 0.28)
    assert actor.loss_agg_mode == "token-mean"


def test_the_policy_and_the_data_are_the_stages(tiny) -> None:
    assert tiny.actor_rollout_ref.model.path == "models/base"
    assert tiny.data.train_files == "train.parquet"
    assert tiny.data.seed == tiny.actor_rollout_ref.rollout.seed == 3
    assert not tiny.actor_rollout_ref.model.trust_remote_code


def test_the_cpu_gets_full_precision_and_plain_weights(tiny) -> None:
    assert tiny.trainer.device == "cpu"
    assert tiny.actor_rollout_ref.actor.fsdp_config.mixed_precision.param_dtype == "fp32"
    extension = tiny.actor_rollout_ref.rollout.engine_kwargs.vllm.worker_extension_cls
    assert extension == "compass.rl.cpu.rollout.CpuRolloutWorker"


def test_the_largest_weight_fits_on_its_way_to_the_rollout(tmp_path: Path) -> None:
    elements = 20 * 2**20
    save_file(
        {"embedding": np.zeros(elements, np.uint8), "bias": np.zeros(3, np.uint8)}, tmp_path / "model.safetensors"
    )
    settings = load_settings(ROOT / "profiles/small.yaml")
    config = verl_config("rl-1", settings.rl_1, StagePaths(tmp_path, PATHS.train, PATHS.work), seed=0)
    bucket = config.actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes
    assert bucket * 2**20 > 4 * elements


def test_a_kl_coefficient_turns_the_kl_loss_on() -> None:
    settings = load_settings(ROOT / "profiles/tiny.yaml").rl_1.model_copy(update={"kl_coef": 0.01})
    actor = verl_config("rl-1", settings, PATHS, seed=0).actor_rollout_ref.actor
    assert actor.use_kl_loss
    assert actor.kl_loss_coef == 0.01


@pytest.mark.parametrize(("asked", "got"), [(64, 64), (100, 64), (1000, 256), (1, 1)])
def test_a_pass_holds_a_divisor_of_an_updates_responses(asked: int, got: int) -> None:
    settings = load_settings(ROOT / "profiles/tiny.yaml").rl_1.model_copy(update={"micro_batch_size": asked})
    assert micro_batch(settings) == got


@pytest.mark.parametrize("stage", RL_STAGES)
def test_the_papers_profile_trains_on_gpus(stage: str) -> None:
    settings = load_settings(ROOT / "profiles/paper.yaml").stage(stage)
    config = verl_config(stage, settings, PATHS, seed=0)
    assert config.trainer.device != "cpu"
    assert config.trainer.n_gpus_per_node == 8
    assert config.data.train_batch_size == 128
    assert config.actor_rollout_ref.actor.ppo_mini_batch_size == 32
    assert config.actor_rollout_ref.actor.optim.lr == 1e-6
    assert config.data.max_prompt_length + config.data.max_response_length == 4096
    assert "py_executable" not in config.ray_kwargs.ray_init.runtime_env or (
        config.ray_kwargs.ray_init.runtime_env.py_executable is None
    )
