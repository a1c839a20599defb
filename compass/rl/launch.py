"""Run one RL stage with verl: write its configuration, start it, watch it, and end every process it started.

Checkpoints, metrics and rewards live under the stage's work folder, so that a killed stage continues from its last
checkpoint. A stage is done when its last checkpoint is its last iteration; verl's exit code alone is no proof.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.machine import die_with_parent
from compass.rl.checkpoint import last_step, remove_older, resume_from, start_from_optimizer
from compass.rl.config import StagePaths, verl_config
from compass.rl.failure import log_lines, reason
from compass.rl.metrics import all_metrics, follow_metrics, forget_after, read_metrics, recover_metrics
from compass.rl.policy_agreement import PolicyMismatchError, check_agreement
from compass.settings import RlStage
from compass.tracking import record_curves


class TrainingError(UserError):
    """An RL stage ended before its last iteration."""


def train(stage: str, settings: RlStage, paths: StagePaths, *, seed: int) -> list[dict[str, Any]]:
    """Train one stage to its last iteration, continuing from the last checkpoint if there is one.

    Args:
        stage: the stage's name.
        settings: its settings.
        paths: its starting weights, training set and work folder.
        seed: seed of data order and rollouts.

    Returns:
        verl's metrics, one dict per iteration with its `step`, in order.

    Raises:
        TrainingError: verl ended early; the message is the first cause in its log, or the log's end where none is told.
        PolicyMismatchError: rollout and trainer disagree (CPU).
    """
    from omegaconf import OmegaConf

    paths.work.mkdir(parents=True, exist_ok=True)
    trusted = _trusted(all_metrics(paths.live_metrics, paths.metrics), settings)
    done = resume_from(paths.checkpoints, recorded=min(trusted, settings.steps))
    recover_metrics(paths.live_metrics, paths.metrics, done)
    forget_after(paths.rewards, done)
    if settings.checkpoint.carry_optimizer:
        ours = settings.optimizer
        start_from_optimizer(
            paths.model,
            paths.checkpoints,
            learning_rate=ours.learning_rate,
            weight_decay=ours.weight_decay,
            warmup=ours.warmup_steps,
        )
    # The run of a killed process keeps what it recorded; this one's has every iteration of the result once.
    record_curves(read_metrics(paths.metrics))
    log = paths.work / "train.log"
    earlier = len(log_lines(log))
    status = 0
    if done < settings.steps:
        config = paths.work / "verl.yaml"
        OmegaConf.save(verl_config(stage, settings, paths, seed=seed), config)
        status = _run(stage, settings, paths, config, done)
    rows = read_metrics(paths.metrics)
    reached = min(last_step(paths.checkpoints), len(rows))
    if reached != settings.steps:
        raise TrainingError(
            f"{stage}: stopped at iteration {reached} of {settings.steps}{_killed(status)}; the log is {log}\n"
            + reason(log_lines(log), earlier)
        )
    return rows


def _run(stage: str, settings: RlStage, paths: StagePaths, config: Path, done: int) -> int:
    """Start the trainer, follow its metrics until it ends, and end whatever it left behind; the trainer's exit status."""
    from tqdm import tqdm

    with (paths.work / "train.log").open("ab") as log, tqdm(total=settings.steps, initial=done, desc=stage) as bar:
        process = subprocess.Popen(
            [sys.executable, "-m", "compass.rl.train", str(config)],
            env=trainer_environment(os.environ, gpus=settings.resources.gpus, live_metrics=paths.live_metrics),
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            preexec_fn=partial(die_with_parent, os.getpid()),  # Ray's and vLLM's processes follow the trainer
        )
        position = 0
        try:
            while True:
                running = process.poll() is None
                fresh, position = follow_metrics(paths.live_metrics, position, paths.metrics)
                for row in fresh:
                    _check(row, settings)
                    bar.update(1)
                    bar.set_postfix_str(headline(row))
                if fresh:
                    remove_older(paths.checkpoints, recorded=fresh[-1]["step"])
                if not running:
                    return process.returncode
                time.sleep(0.5)
        finally:
            _end(process)


def _killed(status: int) -> str:
    """What a trainer that a signal ended cannot say itself."""
    if status >= 0:
        return ""
    memory = " (the kernel does so when memory runs out)" if status == -signal.SIGKILL else ""
    return f": {signal.Signals(-status).name} ended the trainer{memory}"


def _check(row: Mapping[str, Any], settings: RlStage) -> None:
    """What every iteration must hold."""
    if settings.resources.gpus == 0:
        check_agreement(row["step"], row, settings.resources.dtype)


def _trusted(rows: Mapping[int, Mapping[str, Any]], settings: RlStage) -> int:
    """The last iteration up to which every one is recorded and holds what it must.

    A check that stopped an earlier run comes after verl's checkpoint of that iteration: it must not go on from there.
    """
    step = 0
    while step + 1 in rows:
        try:
            _check(rows[step + 1], settings)
        except PolicyMismatchError:
            break
        step += 1
    return step


def trainer_environment(given: Mapping[str, str], *, gpus: int, live_metrics: Path) -> dict[str, str]:
    """The environment variables of the trainer: `given`, and what verl, Ray and the device ask for.

    Args:
        given: the variables of the stage's own process.
        gpus: GPUs per node; 0 is the CPU.
        live_metrics: the file that verl writes its metrics to.
    """
    if gpus == 0:
        from compass.rl.cpu.environment import environment as cpu_environment

        given = cpu_environment(given)
    return {
        **given,
        # A token of this run's own: Ray would write one into the home folder, after processes were forked without it.
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "VERL_FILE_LOGGER_PATH": str(live_metrics.resolve()),
        "RAY_DEDUP_LOGS": "0",
        "TQDM_DISABLE": "1",
    }


def headline(metrics: Mapping[str, Any]) -> str:
    """What the progress bar says of an iteration: mean reward and mean response length in tokens."""
    reward = metrics.get("critic/score/mean", float("nan"))
    length = metrics.get("response_length/mean", float("nan"))
    return f"reward {reward:+.2f}, {length:.0f} tokens"


def _end(process: subprocess.Popen) -> None:
    """End the trainer and everything it started."""
    import psutil

    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        children = []
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for child in children:
        if child.is_running():
            child.kill()
