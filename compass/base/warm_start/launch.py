"""Train a model on worked solutions with verl's supervised trainer, and go on where a stopped run was.

The training state lives under the work folder, in a folder named after what decides the result, so that changed settings or
examples start anew. The run is done when the last step's checkpoint is whole; verl's exit code alone is no proof.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from compass.base.warm_start.config import sft_config
from compass.base.warm_start.examples import EXAMPLES
from compass.errors import UserError
from compass.files import file_digest, folder_digest
from compass.rl.checkpoint import TRACKER
from compass.rl.metrics import follow_metrics, read_metrics, recover_metrics
from compass.settings import WarmStart

NOT_OF_THE_RESULT = ("micro_batch_size", "save_every")
"""Settings that change no step. Nor does `steps` where the learning rate stays: more steps go on from where a shorter run ended."""

Report = Callable[[int, float], None]


class WarmStartError(UserError):
    """The warm start ended before its last step."""


def train(
    settings: WarmStart, *, model: Path, examples: Path, work: Path, report: Report | None = None
) -> tuple[Path, list[dict[str, Any]]]:
    """Train to the last step, continuing from the last checkpoint if there is one.

    Args:
        settings: the warm start's.
        model: folder of the weights to start from.
        examples: parquet of the examples (`EXAMPLES`).
        work: folder for resumable state.
        report: called after every step with (step, loss in nats per token).

    Returns:
        verl's folder of the last checkpoint, and its metrics: one dict per step, with `step`.

    Raises:
        WarmStartError: verl ended early; the message has the end of its log.
    """
    from omegaconf import OmegaConf

    course = work / _course(settings, model, examples)
    for other in work.glob("warm-*"):
        if other != course:
            shutil.rmtree(other)
    course.mkdir(parents=True, exist_ok=True)
    checkpoints, live, metrics = course / "checkpoints", course / "metrics.live.jsonl", course / "metrics.jsonl"
    done = _last_step(checkpoints)
    if done > settings.steps:
        shutil.rmtree(course)
        return train(settings, model=model, examples=examples, work=work, report=report)
    recover_metrics(course / "metrics.saved.jsonl", live, metrics, done)
    if done < settings.steps:
        config = course / "verl.yaml"
        OmegaConf.save(sft_config(settings, model=model, examples=examples, checkpoints=checkpoints), config)
        log = course / "train.log"
        _run(settings, config, log, live, metrics, report)
        if _last_step(checkpoints) != settings.steps:
            end = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-15:]
            raise WarmStartError(
                f"warm start: stopped at step {_last_step(checkpoints)} of {settings.steps}; the log is {log}\n"
                + "\n".join(end)
            )
    return checkpoints / f"global_step_{settings.steps}", read_metrics(metrics)


def _course(settings: WarmStart, model: Path, examples: Path) -> str:
    free = {*NOT_OF_THE_RESULT, "steps"} if settings.schedule == "constant" else set(NOT_OF_THE_RESULT)
    facts = {
        "settings": settings.model_dump(mode="json", exclude=free),
        "model": folder_digest(model, ("*.safetensors",)),
        "examples": file_digest(examples),
        "schema": str(EXAMPLES),
    }
    return f"warm-{hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]}"


def _last_step(checkpoints: Path) -> int:
    """The step that verl's tracker names: it is written last, whole."""
    tracker = checkpoints / TRACKER
    step = int(tracker.read_text(encoding="utf-8")) if tracker.exists() else 0
    return step if (checkpoints / f"global_step_{step}").is_dir() else 0


def _run(settings: WarmStart, config: Path, log: Path, live: Path, metrics: Path, report: Report | None) -> None:
    """Start the trainer's ranks, report each step, and end them with this process."""
    ranks = max(1, settings.gpus)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    command += ["-m", "compass.base.warm_start.train", str(config)]
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, env=_environment(os.environ, settings, live), stdout=output, stderr=subprocess.STDOUT
        )
        position = 0
        try:
            while True:
                running = process.poll() is None
                fresh, position = follow_metrics(live, position, metrics)
                for row in fresh:
                    if report:
                        report(row["step"], row["train/loss"])
                if not running:
                    return
                time.sleep(0.5)
        finally:
            process.terminate()  # torchrun ends its ranks
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _environment(given: Mapping[str, str], settings: WarmStart, live: Path) -> dict[str, str]:
    if settings.gpus == 0:
        from compass.rl.cpu.environment import environment as cpu_environment

        given = cpu_environment(given)
    return {
        **given,
        "VERL_FILE_LOGGER_PATH": str(live.resolve()),
        "TQDM_DISABLE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
