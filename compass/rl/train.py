"""Run verl on a complete configuration: `python -m compass.rl.train CONFIG.yaml`.

verl's own entry point would compose its configuration again and run its task runner in a process of its own; here the
configuration is the file, and the task runner lives in this process. On the CPU every other process is forked from
this one (`compass.rl.cpu.fork_server`), but on a Ray cluster that was running before: its nodes start their workers themselves.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.environment import QUIET
from compass.rl.cluster import await_cluster, check_reachable, draw_job, join, joins, start, worker_environment
from compass.rl.trainer_watch import ClusterWatch

if TYPE_CHECKING:
    from omegaconf import DictConfig

HANDED_ON = (*QUIET, "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "HF_HOME", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
"""Variables that a worker on a running Ray cluster is given."""


def main(path: str) -> None:
    """Train as the configuration at `path` says; returns when the last iteration is done."""
    from omegaconf import OmegaConf

    config = OmegaConf.load(path)
    if joins(config):
        check_reachable(config)
    with tempfile.TemporaryDirectory(prefix="compass-") as folder:
        job = draw_job()
        environment = _ray_environment(config, Path(folder), job)
        _check(config)

        import ray

        ray_init = OmegaConf.merge(config.ray_kwargs.ray_init, {"runtime_env": environment})
        options = OmegaConf.to_container(ray_init, resolve=True)
        join(options) if joins(config) else start(options, job)
        try:
            await_cluster(config)
            from verl.trainer.main_ppo import TaskRunnerV1
            from verl.trainer.ppo.v1.trainer_base import TRAINER_REGISTRY
            from verl.workers.rollout.replica import RolloutReplicaRegistry

            from compass.rl.agent_loop import GroupReplica
            from compass.rl.estimators import register_estimators
            from compass.rl.stage_trainer import StageTrainer

            register_estimators()

            TRAINER_REGISTRY[config.trainer.v1.trainer_mode] = (
                StageTrainer  # its mode means more to verl than its class
            )
            RolloutReplicaRegistry.register("vllm", lambda: GroupReplica)
            watch = config.trainer.v1.sampler.sampler_kwargs.watch
            with ClusterWatch(Path(watch.lost)) if joins(config) else nullcontext():
                TaskRunnerV1.__ray_actor_class__().run(config)
        finally:
            ray.shutdown()


def _ray_environment(config: DictConfig, folder: Path, job: str) -> dict[str, Any]:
    """Ray's runtime environment; on the CPU the processes of a cluster of its own are forked from this one as it is now."""
    on_cpu, joined = config.trainer.device == "cpu", joins(config)
    forks = on_cpu and not joined
    if forks:
        from compass.rl.cpu import fork_server

        fork_server.prepare_ray(job)

    from verl.trainer.constants_ppo import get_ppo_ray_runtime_env

    environment = get_ppo_ray_runtime_env(config)
    environment["env_vars"]["TRANSFER_QUEUE_ENABLE"] = "1"
    if joined:
        names = HANDED_ON
        if on_cpu:
            from compass.rl.cpu.environment import WORKERS

            names += WORKERS
        environment["env_vars"] |= worker_environment(os.environ, names)
    if forks:
        fork_server.preload()
        environment["py_executable"] = str(fork_server.start(folder))
    elif config.critic.enable and not on_cpu:  # on the CPU its loader is one of the patches
        from compass.rl.weights import replace_loader

        replace_loader()
        environment["env_vars"]["VERL_USE_EXTERNAL_MODULES"] = "compass.rl.gpu.plugin"
    return environment


def _check(config: DictConfig) -> None:
    """Have verl check the configuration, and send known answers through its reward path.

    Raises:
        GuardError: a known answer gets a wrong reward.
    """
    from transformers import AutoTokenizer
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import validate_config

    from compass.rl.guards.findings import Findings
    from compass.rl.reward_canary import reward_canary

    validate_config(config=config, use_reference_policy=need_reference_policy(config), use_critic=need_critic(config))
    watch = config.trainer.v1.sampler.sampler_kwargs.watch
    findings = Findings(Path(watch.findings), watch.guards)
    if findings.level("reward_canary") != "off":
        seen = reward_canary(config, AutoTokenizer.from_pretrained(config.actor_rollout_ref.model.path))
        if seen is not None:
            findings.fire("reward_canary", 0, seen)


if __name__ == "__main__":
    main(sys.argv[1])
