"""verl's own configurations, setting keys of them, and refusing those that verl does not have."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.errors import UserError

if TYPE_CHECKING:
    from omegaconf import DictConfig

NOT_IN_VERLS_FILES = {
    "actor_rollout_ref.model.override_config.attn_implementation": "read by HFModelConfig",
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
    "critic.model.override_config.value_head_seed": "read by compass.rl.value_model",
    "critic.ppo_infer_max_token_len_per_gpu": "a field of CriticConfig",
    "ray_kwargs.ray_init.address": "passed on to ray.init",
    "ray_kwargs.ray_init.num_gpus": "passed on to ray.init",
    "ray_kwargs.ray_init.include_dashboard": "passed on to ray.init",
    "ray_kwargs.ray_init.object_store_memory": "passed on to ray.init",
    "reward.custom_reward_function.reward_kwargs": "passed on to the reward function",
    "reward.reward_kwargs": "passed on to the reward manager",
}
"""Keys that verl reads though its YAML files lack them, and who reads them."""


class UnknownKeyError(UserError):
    """A key that the installed verl does not have."""


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


def set_key(config: DictConfig, key: str, value: Any, *, absent: Container[str] = NOT_IN_VERLS_FILES) -> None:
    """Set one key of a composed configuration.

    Args:
        config: verl's configuration.
        key: its name, dots between its parts.
        value: a plain value; a mapping replaces what is there.
        absent: keys that verl reads though its YAML files lack them.

    Raises:
        UnknownKeyError: verl has no such key; the message names the nearest one.
    """
    from omegaconf import OmegaConf, open_dict

    if not (key in absent or has_key(config, key)):
        nearest = difflib.get_close_matches(key, list(_keys(config)), n=1)
        hint = f"; the nearest is `{nearest[0]}`" if nearest else ""
        raise UnknownKeyError(
            f"verl has no key `{key}`{hint}. A key that verl reads all the same belongs into NOT_IN_VERLS_FILES of "
            "compass/rl/verl_keys.py"
        )
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
