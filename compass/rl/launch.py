"""Run one RL stage with verl: write its configuration, start it, watch it, and end every process it started.

Checkpoints, metrics and rewards live under the stage's work folder, so that a killed stage goes on from its last
checkpoint. A stage is done when its last checkpoint is its last iteration; verl's exit code alone is no proof.
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.rl.checks import check_agreement
from compass.rl.config import StagePaths, verl_config
from compass.settings import Rl

THREADS = {
    "OMP_NUM_THREADS": str(os.cpu_count()),  # Ray would give each process one
    "OMP_WAIT_POLICY": "PASSIVE",  # waiting threads would take the cores from the other processes
}
"""How OpenMP uses the cores, unless the environment already says."""

CPU_ENVIRONMENT = {
    "VERL_PLATFORM": "cpu",
    "VERL_USE_EXTERNAL_MODULES": "compass.rl.cpu_platform",
    "VERL_ENGINE_DEVICE": "cuda",  # the FSDP engine is registered under this name
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # else vLLM makes a worker process of "uni", and both sides wait spinning
    "RAY_worker_niceness": "0",  # Ray's default of 15 starves training beside any other work
}


class TrainingError(UserError):
    """An RL stage ended before its last iteration."""


def train(stage: str, settings: Rl, paths: StagePaths, *, seed: int) -> list[dict[str, Any]]:
    """Train one stage to its last iteration, going on from the last checkpoint if there is one.

    Args:
        stage: the stage's name.
        settings: its settings.
        paths: its starting weights, training set and work folder.
        seed: seed of data order and rollouts.

    Returns:
        verl's metrics, one dict an iteration with its `step`, in order.

    Raises:
        TrainingError: verl ended early; the message shows the end of its log.
        PolicyMismatchError: rollout and trainer disagree (CPU).
    """
    from omegaconf import OmegaConf

    paths.work.mkdir(parents=True, exist_ok=True)
    done = last_step(paths.checkpoints)
    _recover_metrics(paths, done)
    _forget_after(paths.rewards, done)
    if done < settings.steps:
        config = paths.work / "verl.yaml"
        OmegaConf.save(verl_config(stage, settings, paths, seed=seed), config)
        _run(stage, settings, paths, config, done)
    reached = last_step(paths.checkpoints)
    if reached != settings.steps:
        raise TrainingError(
            f"{stage}: stopped at iteration {reached} of {settings.steps}; the log is {paths.work / 'train.log'}\n"
            + _tail(paths.work / "train.log")
        )
    return list(_read_metrics(paths.metrics))


def last_step(checkpoints: Path) -> int:
    """The iteration of the last whole checkpoint; 0 when there is none."""
    tracker = checkpoints / "latest_checkpointed_iteration.txt"
    return int(tracker.read_text()) if tracker.exists() else 0


def _run(stage: str, settings: Rl, paths: StagePaths, config: Path, done: int) -> None:
    from tqdm import tqdm

    live = paths.live_metrics
    environment = {**THREADS, **os.environ, **CPU_ENVIRONMENT} if settings.gpus == 0 else dict(os.environ)
    # A token of this run's own: Ray would write one into the home folder, after processes were forked without it.
    environment |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    environment |= {"VERL_FILE_LOGGER_PATH": str(live.resolve()), "RAY_DEDUP_LOGS": "0", "TQDM_DISABLE": "1"}
    with (paths.work / "train.log").open("ab") as log, tqdm(total=settings.steps, initial=done, desc=stage) as bar:
        process = subprocess.Popen(
            [sys.executable, "-m", "compass.rl.train", str(config)],
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            preexec_fn=_die_with_parent,
        )
        position = 0
        try:
            while True:
                running = process.poll() is None
                if live.exists():
                    position = _follow(live, position, paths.metrics, settings, bar)
                if not running:
                    return
                time.sleep(0.5)
        finally:
            _end(process)


def _follow(live: Path, position: int, metrics: Path, settings: Rl, bar: Any) -> int:
    """Move whole new lines of verl's metrics into the stage's own file, and check and show each."""
    with live.open("rb") as file:
        file.seek(position)
        new = file.read()
    whole = new[: new.rfind(b"\n") + 1]
    for line in whole.splitlines():
        entry = json.loads(line)
        values = {"step": entry["step"], **entry["data"]}
        with metrics.open("a", encoding="utf-8") as out:
            out.write(json.dumps(values) + "\n")
        if settings.gpus == 0:
            check_agreement(entry["step"], values, settings.dtype)
        bar.update(1)
        bar.set_postfix_str(
            f"reward {values.get('critic/score/mean', float('nan')):+.2f}, "
            f"{values.get('response_length/mean', float('nan')):.0f} tokens"
        )
    return position + len(whole)


def _die_with_parent() -> None:
    """Have the kernel end the trainer when the stage is killed; Ray's and vLLM's processes follow the trainer."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


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


def _read_metrics(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _recover_metrics(paths: StagePaths, done: int) -> None:
    """Keep the metrics of iterations up to the checkpoint, those that a killed stage had not taken over included."""
    kept = {}
    for line in _whole_lines(paths.live_metrics):
        entry = json.loads(line)
        kept[entry["step"]] = json.dumps({"step": entry["step"], **entry["data"]}) + "\n"
    for line in _whole_lines(paths.metrics):
        kept[json.loads(line)["step"]] = line
    paths.metrics.write_text("".join(kept[step] for step in sorted(kept) if step <= done), encoding="utf-8")
    paths.live_metrics.unlink(missing_ok=True)


def _whole_lines(path: Path) -> list[str]:
    """The lines of a file, without one that a kill cut off."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [line for line in lines if line.endswith("\n")]


def _forget_after(path: Path, step: int) -> None:
    """Drop lines of iterations after `step`: they will be run again. A line cut off by a kill goes as well."""
    kept = [line for line in _whole_lines(path) if json.loads(line)["step"] <= step]
    path.write_text("".join(kept), encoding="utf-8")


def _tail(log: Path, lines: int = 25) -> str:
    """The end of a log, without what Python's extension modules say about leaks when a process is ended."""
    told = log.read_text(encoding="utf-8", errors="replace").splitlines()
    noise = ("leaked ", "nanobind", "... skipped remainder")
    return "\n".join([line for line in told if not any(words in line for words in noise)][-lines:])
