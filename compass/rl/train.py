"""Run verl on a complete configuration: `python -m compass.rl.train CONFIG.yaml`.

verl's own entry point would compose its configuration again and run its task runner in a process of its own; here the
configuration is the file, and the task runner lives in this process, which saves the start of one.
"""

from __future__ import annotations

import sys


def main(path: str) -> None:
    """Train as the configuration at `path` says; returns when the last iteration is done."""
    import ray
    from omegaconf import OmegaConf
    from transformers import AutoTokenizer
    from verl.trainer.constants_ppo import get_ppo_ray_runtime_env
    from verl.trainer.main_ppo import TaskRunnerV1
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import validate_config

    from compass.rl.checks import reward_canary

    config = OmegaConf.load(path)
    validate_config(config=config, use_reference_policy=need_reference_policy(config), use_critic=need_critic(config))
    reward_canary(config, AutoTokenizer.from_pretrained(config.actor_rollout_ref.model.path))
    environment = get_ppo_ray_runtime_env(config)
    environment["env_vars"]["TRANSFER_QUEUE_ENABLE"] = "1"
    ray_init = OmegaConf.merge(config.ray_kwargs.ray_init, {"runtime_env": environment})
    ray.init(**OmegaConf.to_container(ray_init, resolve=True))
    try:
        TaskRunnerV1.__ray_actor_class__().run(config)
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
