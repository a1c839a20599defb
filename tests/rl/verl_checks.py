"""Pass a stage's configuration through everything of verl that reads it, as its trainer and workers do, without starting them."""

from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from compass.rl.cluster import check_cluster, reserved
from compass.rl.config import verl_config
from compass.rl.estimators import register_estimators
from compass.rl.paths import StagePaths
from compass.rl.start import check_start
from compass.settings import RlStage


def accepted(
    stage: str, settings: RlStage, *, model: Path, train: Path, cluster: dict[str, float] | None = None
) -> Any:
    """verl's typed configuration of the policy, after the project's checks and verl's.

    Args:
        stage: its name.
        settings: its settings.
        model: a folder with a model's configuration and tokenizer.
        train: its training set.
        cluster: resources of the only node of the Ray cluster; None has nodes with what verl reserves.
    """
    from verl.trainer.ppo.core_algos import get_adv_estimator_fn, get_kl_controller
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import omega_conf_to_dataclass, validate_config

    check_start(stage, settings, model=model, train=train)
    config = verl_config(stage, settings, StagePaths(model, train, Path("work")), seed=0)
    OmegaConf.to_container(config, resolve=True)
    nodes = config.trainer.nnodes
    enough = {name: amount / nodes for name, amount in reserved(config).items()}
    check_cluster(config, dict.fromkeys(map(str, range(nodes)), enough) if cluster is None else {"one": cluster})
    register_estimators()
    get_adv_estimator_fn(config.algorithm.adv_estimator)
    if config.algorithm.use_kl_in_reward:
        get_kl_controller(config.algorithm.kl_ctrl)
    policy = need_reference_policy(config)
    validate_config(config, use_reference_policy=policy, use_critic=need_critic(config))
    ours = config.actor_rollout_ref
    for section in (ours.rollout, ours.rollout.checkpoint_engine, ours.model, config.algorithm):
        omega_conf_to_dataclass(section)
    if policy:
        omega_conf_to_dataclass(_as_a_worker_reads_it(ours.ref, ours.actor))
    if need_critic(config):
        _assert_that_the_critic_is_as_the_policy(omega_conf_to_dataclass(config.critic), config)
    _assert_what_workers_assert(config)
    return omega_conf_to_dataclass(ours.actor)


def _as_a_worker_reads_it(ref: DictConfig, actor: DictConfig) -> DictConfig:
    """The reference's section with the names of the policy's, as `ActorRolloutRefWorker.init_model` gives them to it."""
    given = OmegaConf.to_container(ref, resolve=True)
    renamed = {
        "ppo_mini_batch_size": actor.ppo_mini_batch_size,
        "ppo_micro_batch_size": given.pop("log_prob_micro_batch_size"),
        "ppo_micro_batch_size_per_gpu": given.pop("log_prob_micro_batch_size_per_gpu"),
        "use_dynamic_bsz": given.pop("log_prob_use_dynamic_bsz"),
        "ppo_max_token_len_per_gpu": given.pop("log_prob_max_token_len_per_gpu"),
    }
    return OmegaConf.create({**given, **renamed})


def _assert_that_the_critic_is_as_the_policy(critic: Any, config: DictConfig) -> None:
    """The critic as `PPOTrainer._setup` hands it to its worker: precision, attention, passes and updates of the policy."""
    actor, model = config.actor_rollout_ref.actor, config.actor_rollout_ref.model
    ranks = config.trainer.nnodes * config.trainer.n_gpus_per_node
    responses = critic.ppo_mini_batch_size * config.actor_rollout_ref.rollout.n
    engine = critic.engine
    assert critic.strategy == engine.strategy == actor.strategy
    assert engine.dtype == actor.fsdp_config.dtype
    assert engine.mixed_precision == OmegaConf.to_container(actor.fsdp_config.mixed_precision)
    assert critic.model.path == model.path
    assert critic.model.hf_config._attn_implementation == model.override_config.attn_implementation
    assert critic.model.use_remove_padding == model.use_remove_padding
    assert (critic.ppo_mini_batch_size, critic.ppo_epochs) == (actor.ppo_mini_batch_size, actor.ppo_epochs)
    assert (critic.shuffle, critic.loss_agg_mode) == (actor.shuffle, actor.loss_agg_mode)
    assert responses % ranks == 0  # engine_workers.py, train_mini_batch
    assert engine.use_dynamic_bsz == actor.use_dynamic_bsz
    if engine.use_dynamic_bsz:  # seqlen_balancing.py, rearrange_micro_batches
        most = critic.ppo_infer_max_token_len_per_gpu
        assert most >= config.actor_rollout_ref.rollout.max_model_len
    else:  # workers/engine/utils.py, prepare_micro_batches
        assert responses // ranks % engine.micro_batch_size_per_gpu == 0
        assert responses // ranks % engine.infer_micro_batch_size_per_gpu == 0


def _assert_what_workers_assert(config: DictConfig) -> None:
    """The assertions of verl's workers that a configuration decides, one by one with their place in verl 0.9.1."""
    actor, ref, rollout = (config.actor_rollout_ref[role] for role in ("actor", "ref", "rollout"))
    ranks = config.trainer.nnodes * config.trainer.n_gpus_per_node
    responses = actor.ppo_mini_batch_size * rollout.n
    assert actor.use_dynamic_bsz == rollout.log_prob_use_dynamic_bsz  # engine_workers.py, init_model
    assert ranks % rollout.tensor_model_parallel_size == 0  # the same
    assert config.trainer.n_gpus_per_node % rollout.tensor_model_parallel_size == 0  # vllm_async_server.py
    assert responses % ranks == 0  # engine_workers.py, train_mini_batch
    assert config.data.train_batch_size % actor.ppo_mini_batch_size == 0  # tensordict_utils.py, make_iterator
    for role, given in (("ppo", actor), ("log_prob", ref), ("log_prob", rollout)):
        if actor.use_dynamic_bsz:  # seqlen_balancing.py, rearrange_micro_batches
            assert given[f"{role}_max_token_len_per_gpu"] >= rollout.max_model_len
        else:  # workers/engine/utils.py, prepare_micro_batches
            assert responses // ranks % given[f"{role}_micro_batch_size_per_gpu"] == 0
