"""The course of a stage's training: what decides it, where its work lives, and what disk it needs."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.files import file_digest, write_json
from compass.plan.memory import count_shards
from compass.rl.reward_function import reward_file
from compass.rl.verl_keys import CHANGES_NO_UPDATE
from compass.rl.weights import lora_parameters, tensor_shapes
from compass.sampling.model_source import Model, model_digest
from compass.settings import RlStage
from compass.settings.recipe import PER_PASS
from compass.settings.recipe_checks import without_effect

NO_EFFECT: dict[str, Any] = {
    "steps": True,  # unless the learning rate follows them
    "init_from": True,  # the weights themselves count
    "guards": True,
    "record": True,
    "rollout": {"max_generation_batches"},
    "checkpoint": {"save_every", "keep_optimizer"},
    "resources": {
        "kv_cache_gib",
        "micro_batch_size",
        "micro_batch_tokens",
        "offload",
        "ray_address",
        "rollout_memory",
        "tensor_parallel",
    },
}
"""Settings that change no update: when to stop, what to watch and keep, memory and speed. A stage whose settings differ in these alone
continues from its checkpoint. The number of ranks stays out of it: verl's checkpoints are of one file per rank."""

FINISHED = "finished.json"
"""In a stage's work folder: the digest of the model that it made of its last checkpoint."""

STATE_BYTES = 12
"""Bytes of a checkpoint per trained parameter: single-precision weights and AdamW's two moments."""


_COURSE = re.compile(r"[0-9a-f]{16}")


class DiskError(UserError):
    """The disk has too little room for a stage's checkpoints; the message says how much is needed."""


def course(settings: RlStage, *, seed: int, start: Path, training_set: Path) -> str:
    """A name for everything that decides a stage's updates: 16 hex digits.

    Args:
        settings: the stage's.
        seed: the run's.
        start: folder of the model that it starts from.
        training_set: verl's parquet of its problems.
    """
    no_effect = {**without_effect(settings), **NO_EFFECT}
    if settings.loss.mode in PER_PASS:
        no_effect["resources"] = NO_EFFECT["resources"] - {"micro_batch_size", "micro_batch_tokens"}
    no_effect["verl"] = {key for key in settings.verl if key.startswith(CHANGES_NO_UPDATE)}
    decides = {
        "settings": settings.model_dump(mode="json", exclude=no_effect),
        "seed": seed,
        "model": model_digest(Model(str(start))),
        "problems": file_digest(training_set),
    }
    if settings.reward.function:
        decides["reward"] = file_digest(reward_file(settings.reward.function))
    if settings.optimizer.follows_steps:
        decides["steps"] = settings.steps
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]


def disk_need(settings: RlStage, start: Path) -> tuple[int, int]:
    """Bytes that a stage needs: for its checkpoints in `work/`, and for its model in `models/` and once more in DVC's cache.

    Two checkpoints exist while the second is written, and a third where the best by validation is kept. A critic doubles each, and every
    further node writes its own copy. With `keep_optimizer` the model holds the training state too. With LoRA checkpoints hold the low-rank
    matrices alone.
    """
    parameters = sum(math.prod(shape) for shape in tensor_shapes(start).values())
    trained = lora_parameters(start, settings.lora.rank) if settings.lora.rank else parameters
    state = STATE_BYTES * trained * (2 if settings.advantage.estimator == "gae" else 1)
    if gpus := settings.resources.gpus * settings.resources.nodes:
        state *= gpus // count_shards(settings, gpus)
    model = {"float32": 4, "bfloat16": 2}[settings.resources.dtype] * parameters
    checkpoints = 3 if settings.checkpoint.validation_problems else 2
    return checkpoints * state, 2 * (model + settings.checkpoint.keep_optimizer * state)


def check_disk(stage: str, settings: RlStage, start: Path, work: Path) -> str:
    """Say what disk a stage needs, before it starts.

    Args:
        stage: its name.
        settings: its settings.
        start: folder of the model that it starts from.
        work: its folder in `work/`; what is there already counts as free.

    Returns:
        One line that says what is needed and what is free.

    Raises:
        DiskError: less is free.
    """
    checkpoints, model = disk_need(settings, start)
    there = sum(path.stat().st_size for path in work.rglob("*") if path.is_file()) if work.exists() else 0
    existing = next(path for path in (work, *work.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    needed = f"{_size(checkpoints)} for checkpoints, {_size(model)} for the model and its copy in DVC's cache"
    if checkpoints + model > free + there:
        raise DiskError(
            f"{stage}: needs {needed}, and {_size(free)} are free where {existing} is; free some space"
            + (f" ({_size(there)} of it hold earlier checkpoints of this stage, in {work})" if there else "")
        )
    return f"{stage}: needs {needed}; {_size(free)} are free"


def remove_other_courses(work: Path, current: str) -> None:
    """Remove the work folders of a stage that belong to settings or inputs of before.

    Args:
        work: the stage's folder in `work/`.
        current: the name of its present course.
    """
    for path in work.iterdir():
        if _COURSE.fullmatch(path.name) and path.name != current:
            shutil.rmtree(path)


def mark_finished(work: Path, model: Path, digest: str) -> None:
    """Remember which model a stage made of its last checkpoint: `digest` is DVC's hash of the folder `model`."""
    write_json(work / FINISHED, {"model": str(model), "md5": digest})


def remove_secured(root: Path, locked: dict[str, str], *, but: str = "") -> list[Path]:
    """Remove the work of RL stages whose model DVC has.

    Args:
        root: the repository's root.
        locked: DVC's hash of each output in dvc.lock, by its path.
        but: a stage whose work stays: it is about to run, and may go on from there.

    Returns:
        The work folders that were removed.
    """
    removed = []
    for path in sorted(root.glob(f"work/*/*/{FINISHED}")):
        finished = json.loads(path.read_text(encoding="utf-8"))
        if path.parent.parent.name != but and locked.get(finished["model"]) == finished["md5"]:
            shutil.rmtree(path.parent)
            removed.append(path.parent)
    return removed


def _size(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"
