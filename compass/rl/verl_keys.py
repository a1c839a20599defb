"""verl's own configurations, setting keys of them, and refusing those that verl does not have."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.errors import UserError, find_nearest

if TYPE_CHECKING:
    from omegaconf import DictConfig

NOT_IN_VERLS_FILES = {
    "actor_rollout_ref.model.override_config.attn_implementation": "read by HFModelConfig",
    "actor_rollout_ref.actor.checkpoint.save_lora_only": "a field of CheckpointConfig",
    "actor_rollout_ref.actor.fsdp_config.mixed_precision": "a field of FSDPEngineConfig",
    "actor_rollout_ref.ref.fsdp_config.mixed_precision": "a field of FSDPEngineConfig",
    "actor_rollout_ref.actor.policy_loss.rollout_correction": "a field of PolicyLossConfig",
    "actor_rollout_ref.rollout.agent.agent_loop_manager_class": "a field of AgentLoopConfig",
    "actor_rollout_ref.rollout.enable_sleep_mode": "a field of RolloutConfig",
    "critic.fsdp.infer_micro_batch_size_per_gpu": "a field of EngineConfig",
    "critic.fsdp.micro_batch_size_per_gpu": "a field of EngineConfig",
    "critic.fsdp.mixed_precision": "a field of FSDPEngineConfig",
    "critic.fsdp.use_dynamic_bsz": "a field of EngineConfig",
    "critic.model.override_config.attn_implementation": "read by HFModelConfig",
    "critic.model.override_config.value_head_seed": "read by compass.rl.weights.load_value_model",
    "critic.ppo_infer_max_token_len_per_gpu": "a field of CriticConfig",
    "ray_kwargs.ray_init.address": "passed on to ray.init",
    "ray_kwargs.ray_init.num_gpus": "passed on to ray.init",
    "ray_kwargs.ray_init.include_dashboard": "passed on to ray.init",
    "ray_kwargs.ray_init.object_store_memory": "passed on to ray.init",
    "reward.custom_reward_function.reward_kwargs": "passed on to the reward function",
    "reward.reward_kwargs": "passed on to the reward manager",
}
"""Keys that verl reads though its YAML files lack them, and who reads them."""


MAY_DIFFER = frozenset(
    {
        "actor_rollout_ref.actor.entropy_checkpointing",
        "actor_rollout_ref.actor.entropy_from_logits_with_chunking",
        "actor_rollout_ref.actor.fsdp_config.fsdp_size",
        "actor_rollout_ref.actor.fsdp_config.use_torch_compile",
        "actor_rollout_ref.actor.use_torch_compile",
        "actor_rollout_ref.model.override_config.attn_implementation",
        "actor_rollout_ref.model.enable_gradient_checkpointing",
        "actor_rollout_ref.model.fused_kernel_options.impl_backend",
        "actor_rollout_ref.model.use_fused_kernels",
        "actor_rollout_ref.ref.fsdp_config.fsdp_size",
        "actor_rollout_ref.rollout.agent.agent_loop_manager_class",
        "actor_rollout_ref.rollout.agent.num_workers",
        "actor_rollout_ref.rollout.disable_log_stats",
        "actor_rollout_ref.rollout.enforce_eager",
        "actor_rollout_ref.rollout.free_cache_engine",
        "actor_rollout_ref.rollout.max_num_batched_tokens",
        "actor_rollout_ref.rollout.max_num_seqs",
        "actor_rollout_ref.rollout.name",
        "critic.fsdp.fsdp_size",
        "critic.model.override_config.attn_implementation",
        "reward.num_workers",
        "trainer.logger",
        "trainer.val_before_train",
        "transfer_queue.backend.SimpleStorage.num_data_storage_units",
    }
)
"""Keys that the pipeline gives a value and no setting decides: `rl.verl` may give them another."""

CHANGES_NO_UPDATE = ("global_profiler.", "ray_kwargs.", "trainer.logger", "transfer_queue.")
"""How keys begin that change no update: a stage goes on from its checkpoint where they change (`compass.rl.course`)."""


class VerlKeyError(UserError):
    """A key of verl's configuration that cannot be set: the installed verl lacks it, or a setting decides it."""


@cache
def verls_own(name: str) -> DictConfig:
    """verl's own defaults, composed from its files. Never changed: callers take a copy.

    Args:
        name: one of verl's configurations, such as `ppo_trainer`.
    """
    from hydra import compose, initialize_config_dir

    verl = importlib.util.find_spec("verl")
    if verl is None or not verl.submodule_search_locations:
        raise ModuleNotFoundError("verl is not installed; run `make setup`")
    folder = Path(next(iter(verl.submodule_search_locations))) / "trainer" / "config"
    with initialize_config_dir(config_dir=str(folder), version_base=None):
        return compose(config_name=name)


def set_own_keys(
    config: DictConfig,
    given: Mapping[str, Any],
    taken: Mapping[str, Mapping[str, Any]],
    name_settings: Callable[[str, str], Sequence[str]],
) -> None:
    """Set the keys that `rl.verl` gives.

    Args:
        config: verl's configuration, with what the other settings make of it.
        given: values by key. Below a mapping that verl's files leave empty, such as `engine_kwargs.vllm`, any name is taken.
        taken: the keys that other settings decide, by the group of settings; by "" those of the pipeline.
        name_settings: the settings of a group that decide a key, by their names.

    Raises:
        VerlKeyError: another setting decides a key, or verl lacks it; the message names the setting or the nearest key.
    """
    for key, value in given.items():
        for group, values in taken.items():
            taken_key = next((one for one, content in values.items() if _overlap(key, one, content)), None)
            if taken_key is not None and key not in MAY_DIFFER:
                names = [f"`{name}`" for name in name_settings(group, taken_key)] if group else ["the pipeline itself"]
                owner = f"{' and '.join(names)} decide{'s' if len(names) == 1 else ''}"
                raise VerlKeyError(f"`rl.verl` has `{key}`, which {owner}", "leave it out of `rl.verl`")
        if not (key in NOT_IN_VERLS_FILES or has_key(config, key) or _is_open(key)):
            raise VerlKeyError(f"`rl.verl` has `{key}`, and verl has no such key", _nearest(config, key))
        _update(config, key, value)


def _overlap(key: str, taken: str, content: Any) -> bool:
    """Whether setting `key` would change what is set by `taken`: it is the same, above it, or one of its parts."""
    inside = key.removeprefix(f"{taken}.")
    part = inside != key and (not isinstance(content, Mapping) or inside.partition(".")[0] in content)
    return key == taken or taken.startswith(f"{key}.") or part


def _is_open(key: str) -> bool:
    """Whether a key is below a mapping that verl's own files leave empty."""
    from omegaconf import DictConfig, OmegaConf

    above = OmegaConf.select(verls_own("ppo_trainer"), key.rpartition(".")[0])
    return isinstance(above, DictConfig) and not above


def set_key(config: DictConfig, key: str, value: Any, *, absent: Container[str] = NOT_IN_VERLS_FILES) -> None:
    """Set one key of a composed configuration.

    Args:
        config: verl's configuration.
        key: its name, dots between its parts.
        value: a plain value; a mapping replaces what is there.
        absent: keys that verl reads though its YAML files lack them.

    Raises:
        VerlKeyError: verl has no such key; the message names the nearest one.
    """
    if not (key in absent or has_key(config, key)):
        remedy = f"a key that verl reads all the same belongs into NOT_IN_VERLS_FILES of {__name__}"
        raise VerlKeyError(f"verl has no key `{key}`", "; ".join(filter(None, [_nearest(config, key), remedy])))
    _update(config, key, value)


def _nearest(config: DictConfig, key: str) -> str:
    nearest = find_nearest(key, _keys(config))
    return f"the nearest is `{nearest}`" if nearest else ""


def _update(config: DictConfig, key: str, value: Any) -> None:
    from omegaconf import OmegaConf, open_dict

    with open_dict(config):
        OmegaConf.update(config, key, value, merge=False)


def has_key(config: DictConfig, key: str) -> bool:
    """Whether a configuration has a key, be its value null or missing."""
    from omegaconf import DictConfig, OmegaConf

    section, _, last = key.rpartition(".")
    parent = OmegaConf.select(config, section) if section else config
    return isinstance(parent, DictConfig) and last in parent.keys()  # noqa: SIM118 - `in` is False for a missing value


def _keys(config: DictConfig, above: str = "") -> Iterator[str]:
    from omegaconf import DictConfig

    for name in config:
        yield above + str(name)
        inner = config._get_node(name)
        if isinstance(inner, DictConfig) and not inner._is_none() and not inner._is_interpolation():
            yield from _keys(inner, f"{above}{name}.")
