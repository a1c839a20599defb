"""The complete verl configuration of a stage: what each setting becomes, and what the profiles amount to."""

import re
from pathlib import Path
from typing import Any

import pytest

from compass.prompts.prompt import TEMPLATES
from compass.rl.config import is_one_update, overrides, verl_config, watch_config
from compass.rl.correction import BYPASS_COPY
from compass.rl.paths import StagePaths
from compass.rl.verl_keys import NOT_IN_VERLS_FILES, VerlKeyError, has_key, verls_own
from compass.settings import RlStage, load_settings
from compass.settings.advantage import Critic
from compass.settings.correction import Correction
from compass.settings.guards import Guards, Record
from compass.settings.recipe import Advantage, Checkpoint, Data, Lora, Loss, Optimizer, Resources, Reward, Rollout

ROOT = Path(__file__).resolve().parents[2]
PATHS = StagePaths(Path("models/base"), Path("train.parquet"), Path("work"))
TINY = load_settings(ROOT / "profiles/tiny.yaml").rl.stages["rl-1"]

PPO = Advantage(
    estimator="gae", gamma=0.98, lam=0.94, critic=Critic(learning_rate=7e-6, warmup_steps=2, alone=4, value_clip=0.35)
)

# No two values that could be taken for each other.
ODD = RlStage(
    init_from="base",
    steps=23,
    data=Data(batch_size=60, max_prompt_tokens=700, prompt="few-shot"),
    rollout=Rollout(
        group_size=6,
        max_response_tokens=900,
        temperature=0.9,
        max_generation_batches=7,
        correction=Correction(weights="token", weight_above=1.7, weight_below=0.4),
    ),
    reward=Reward(
        function="rewards.mine:reward",
        overlong_buffer=50,
        overlong_penalty=0.7,
        kl_coef=0.03,
        kl_estimator="k2",
        kl_controller="adaptive",
        kl_target=0.15,
        kl_horizon=7000,
    ),
    advantage=Advantage(estimator="grpo", normalise_by_std=False),
    loss=Loss(
        mode="dppo_tv",
        clip_low=0.21,
        clip_high=0.31,
        dual_clip=4.5,
        aggregation="seq-mean-token-sum-norm",
        kl_coef=0.01,
        kl_estimator="k3+",
        entropy_coef=0.02,
    ),
    optimizer=Optimizer(
        learning_rate=3e-6,
        weight_decay=0.04,
        betas=[0.85, 0.97],
        eps=1e-7,
        warmup_steps=5,
        schedule="cosine",
        min_learning_rate=7.5e-7,
        schedule_steps=41,
        cycles=0.4,
        zero_indexed=False,
        grad_clip=0.6,
        mini_batch_size=20,
        epochs=3,
    ),
    lora=Lora(),
    checkpoint=Checkpoint(save_every=11),
    resources=Resources(gpus=4, nodes=2, dtype="float32", rollout_memory=0.45, tensor_parallel=2),
    guards=Guards(),
    record=Record(rollouts_every=3),
    verl={},
)


def test_what_decides_an_update_reaches_its_own_key() -> None:
    """What is here neither in test_loss, test_kl, test_schedule, test_reward_canary or test_correction, by verl's functions,
    nor in test_device or, for a critic, below."""
    actor, rollout = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
    expected = {
        "actor_rollout_ref.model.custom_chat_template": TEMPLATES["question-answer"],
        "data.max_response_length": 900,
        f"{rollout}.max_model_len": 1600,
        **{f"{role}.temperature": 0.9 for role in (rollout, f"{rollout}.val_kwargs")},
        f"{rollout}.top_k": -1,
        f"{actor}.optim.override_optimizer_config": {"eps": 1e-7, "fused": True},
        "reward.custom_reward_function.reward_kwargs": {"function": "rewards.mine:reward"},
        f"{actor}.optim.num_cycles": 0.2,  # 18 of the schedule's 36 iterations after the warm-up
        f"{actor}.optim.clip_grad": 0.6,
        "data.train_files": "train.parquet",
        "trainer.save_freq": 11,
        "trainer.default_local_dir": "work/checkpoints",
        "trainer.test_freq": -1,
        "trainer.total_training_steps": 23,
        **{f"{key}seed": 3 for key in ("data.", f"{rollout}.", f"{actor}.data_loader_")},
    }
    values = overrides("warm", ODD, PATHS, seed=3)
    assert {key: values[key] for key in expected} == expected
    sampler = values["trainer.v1.sampler.sampler_kwargs"]
    assert (sampler["train_batch_size"], sampler["max_generation_batches"], sampler["reproducible"]) == (60, 7, False)


def test_the_sampler_gets_verls_number_of_batches_in_flight() -> None:
    ours = ODD.model_copy(update={"verl": {"algorithm.filter_groups.max_inflight_gen_batches": 3}})
    config = verl_config("warm", ours, PATHS, seed=3)
    assert config.trainer.v1.sampler.sampler_kwargs.max_inflight_gen_batches == 3


OVERLONG = "reward.reward_kwargs.overlong_buffer_cfg"


@pytest.mark.parametrize(
    ("group", "changes", "key", "value"),
    [
        ("loss", {"kl_coef": 0.0}, "actor_rollout_ref.actor.use_kl_loss", False),
        ("loss", {"entropy_coef": 0.0}, "actor_rollout_ref.actor.calculate_entropy", False),
        # verl computes it in an update whose coefficient is not 0
        (
            "loss",
            {"entropy_target": 0.1, "aggregation": "token-mean"},
            "actor_rollout_ref.actor.calculate_entropy",
            False,
        ),
        ("loss", {"dual_clip": 0.0}, "actor_rollout_ref.actor.clip_ratio_c", 1e9),
        ("loss", {"mode": "gspo"}, "actor_rollout_ref.actor.policy_loss.loss_mode", "gspo"),
        ("rollout", {"dynamic_sampling": False}, "algorithm.filter_groups.enable", False),
        ("rollout", {"dynamic_sampling": False}, "trainer.v1.sampler.sampler_kwargs.filter_groups_metric", None),
        ("reward", {"overlong_buffer": 0}, f"{OVERLONG}.enable", False),
        ("resources", {"gpus": 1}, "trainer.n_gpus_per_node", 1),
        ("resources", {"gpus": 0}, "trainer.n_gpus_per_node", 1),
        ("resources", {"gpus": 0}, "trainer.device", "cpu"),
        ("resources", {"gpus": 0}, "actor_rollout_ref.actor.fsdp_config.mixed_precision.param_dtype", "fp32"),
        ("resources", {"gpus": 1}, "trainer.device", "cuda"),  # verl's own
    ],
)
def test_a_setting_turns_a_part_on_or_off(group: str, changes: dict[str, Any], key: str, value: Any) -> None:
    from omegaconf import OmegaConf

    settings = ODD.model_copy(update={group: getattr(ODD, group).model_copy(update=changes)})
    assert OmegaConf.select(verl_config("warm", settings, PATHS, seed=3), key) == value


def test_a_key_is_listed_as_absent_from_verls_files_only_if_it_is_and_is_set() -> None:
    fresh = verls_own("ppo_trainer")
    changed = ODD.model_copy(update={"advantage": PPO, "lora": Lora(rank=4)})
    written = {*overrides("warm", changed, PATHS, seed=3), BYPASS_COPY}
    assert [key for key in NOT_IN_VERLS_FILES if has_key(fresh, key) or key not in written] == []


def test_a_critic_is_the_policy_in_all_but_its_own_settings() -> None:
    values = overrides("warm", ODD.model_copy(update={"advantage": PPO}), PATHS, seed=3)
    critic = {key: value for key, value in values.items() if key not in overrides("warm", ODD, PATHS, seed=3)}
    own = {
        "critic.model.use_fused_kernels": False,
        "critic.model.override_config.value_head_seed": 3,
        "critic.optim.lr": 7e-6,
        "critic.optim.lr_warmup_steps": 2,
        "critic.optim.num_cycles": 0.4 * 21 / 39,
        "critic.cliprange_value": 0.35,
        "critic.fsdp.use_dynamic_bsz": True,
        "critic.fsdp.micro_batch_size_per_gpu": None,
        "critic.fsdp.infer_micro_batch_size_per_gpu": None,
        "critic.ppo_infer_max_token_len_per_gpu": 4096,
        "trainer.max_critic_ckpt_to_keep": None,
    }
    assert own.items() <= critic.items()
    shared = {key: value for key, value in critic.items() if key not in own}
    assert shared["critic.model.path"] == "models/base"
    assert shared["critic.optim.weight_decay"] == 0.04
    assert shared["critic.fsdp.dtype"] == "float32"
    for key, value in shared.items():
        section = "actor_rollout_ref" if key.startswith("critic.model.") else "actor_rollout_ref.actor"
        assert values[key.replace("critic.fsdp.", "critic.fsdp_config.").replace("critic", section, 1)] == value
    assert {key: values[key] for key in ("algorithm.gamma", "algorithm.lam", "trainer.critic_warmup")} == {
        "algorithm.gamma": 0.98,
        "algorithm.lam": 0.94,
        "trainer.critic_warmup": 5,
    }
    assert values["critic.enable"] is True


def test_low_rank_matrices_are_merged_for_the_rollouts_and_saved_alone() -> None:
    lora = Lora(rank=6, alpha=9)
    values = overrides("warm", ODD.model_copy(update={"lora": lora}), PATHS, seed=3)
    changed = {key: value for key, value in values.items() if value != overrides("warm", ODD, PATHS, seed=3).get(key)}
    assert changed == {
        "actor_rollout_ref.model.lora_rank": 6,
        "actor_rollout_ref.model.lora_alpha": 9,
        "actor_rollout_ref.model.lora.merge": True,
        "actor_rollout_ref.actor.fsdp_config.seed": 3,
        "actor_rollout_ref.actor.checkpoint.save_lora_only": True,
    }


@pytest.mark.parametrize(("estimator", "level"), [("grpo", "warn"), ("remax", "off"), ("gae", "off")])
def test_equal_groups_are_no_finding_where_they_teach_something(estimator: str, level: str) -> None:
    settings = ODD.model_copy(update={"advantage": Advantage(estimator=estimator)})
    assert watch_config(settings, PATHS)["guards"]["zero_signal"]["level"] == level


def test_validation_has_problems_of_its_own_at_every_checkpoint() -> None:
    chosen = ODD.model_copy(update={"checkpoint": Checkpoint(save_every=11, validation_problems=30)})
    values = overrides("warm", chosen, PATHS, seed=3)
    changed = {key: value for key, value in values.items() if value != overrides("warm", ODD, PATHS, seed=3)[key]}
    assert changed == {"data.val_files": "validation.parquet", "data.val_max_samples": 30, "trainer.test_freq": 11}


@pytest.mark.parametrize(
    ("section", "values", "expected"),
    [
        ("optimizer", {}, True),
        ("optimizer", {"epochs": 2}, False),
        ("optimizer", {"mini_batch_size": 16}, False),
        ("resources", {"gpus": 1}, False),
        ("reward", {"kl_coef": 0.01}, False),
        ("advantage", {"estimator": "gae"}, False),
        ("rollout", {"correction": Correction(weights="token")}, False),
        ("rollout", {"correction": Correction(bypass=True)}, False),
        ("loss", {"mode": "gspo"}, False),
        ("verl", {"actor_rollout_ref.actor.policy_loss.clip_cov_ub": 4.0}, False),
    ],
)
def test_an_iteration_is_one_update_where_nothing_needs_the_pass_before_it(
    section: str, values: dict[str, Any], expected: bool
) -> None:
    changed = values if section == "verl" else getattr(TINY, section).model_copy(update=values)
    changed = TINY.model_copy(update={section: changed})
    assert is_one_update(changed) is expected


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("actor_rollout_ref.actor.policy_loss.clip_cov_ub", 4.0),
        ("actor_rollout_ref.rollout.max_num_seqs", 64),  # the pipeline's own value gives way
        ("actor_rollout_ref.rollout.engine_kwargs.vllm.seed_with", [1, {"a": None}]),  # verl leaves this mapping open
    ],
)
def test_any_other_key_of_verl_is_set_by_its_name(key: str, value: Any) -> None:
    from omegaconf import OmegaConf

    config = verl_config("warm", ODD.model_copy(update={"verl": {key: value}}), PATHS, seed=3)
    assert OmegaConf.select(config, key) == value
    plain = verl_config("warm", ODD, PATHS, seed=3)
    section = key.split(".")[0]
    assert {name for name in config if config[name] != plain[name]} == {section}


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (
            "actor_rollout_ref.actor.policy_los.loss_mode",
            "no such key; the nearest is `actor_rollout_ref.actor.policy_loss",
        ),
        ("actor_rollout_ref.actor.policy_loss.loss_mode", "which `rl.loss.mode` decides"),
        ("actor_rollout_ref.actor.optim.lr", "which `rl.optimizer.learning_rate` decides"),
        ("actor_rollout_ref.actor.optim", "which `rl.optimizer.learning_rate` decides"),
        ("actor_rollout_ref.actor.ppo_epochs", "which `rl.optimizer.epochs` decides"),
        ("actor_rollout_ref.actor.shuffle", "which `rl.optimizer` decides"),
        ("actor_rollout_ref.rollout.n", "which `rl.rollout.group_size` decides"),
        (
            "reward.reward_kwargs.overlong_buffer_cfg.len",
            "which `rl.reward.overlong_buffer` and `rl.reward.overlong_penalty` decide",
        ),
        ("trainer.n_gpus_per_node", "which `rl.resources.gpus` decides"),
        ("trainer.v1.sampler.sampler_kwargs.watch", "which the pipeline itself decides"),
    ],
)
def test_a_key_that_verl_lacks_or_a_setting_decides_is_refused(key: str, message: str) -> None:
    with pytest.raises(VerlKeyError, match=re.escape(f"`rl.verl` has `{key}`")) as error:
        verl_config("warm", ODD.model_copy(update={"verl": {key: 1}}), PATHS, seed=3)
    assert message in str(error.value)


def test_what_decides_a_key_is_named_also_with_a_warm_up_of_one_iteration() -> None:
    warm = ODD.model_copy(
        update={
            "optimizer": ODD.optimizer.model_copy(update={"warmup_steps": 1}),
            "verl": {"actor_rollout_ref.actor.optim.weight_decay": 0.1},
        }
    )
    with pytest.raises(VerlKeyError, match=r"which `rl\.optimizer\.weight_decay` decides"):
        verl_config("warm", warm, PATHS, seed=3)


def test_another_optimizer_is_not_asked_for_torchs_fused_one() -> None:
    key = "actor_rollout_ref.actor.optim.override_optimizer_config"
    own = {"actor_rollout_ref.actor.optim.optimizer": "AdamW8bit"}
    assert overrides("warm", ODD.model_copy(update={"verl": own}), PATHS, seed=3)[key] == {"eps": 1e-7}
