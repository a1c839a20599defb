"""verl's checkpoints: the last one, a model folder made of one, and a first one made of a model folder."""

from __future__ import annotations

import shutil
from pathlib import Path

WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "config.json")


TRACKER = "latest_checkpointed_iteration.txt"
"""verl's file that holds the iteration of the last whole checkpoint."""

OPTIMIZER = "optimizer"
"""The folder inside a model folder that holds verl's whole training state."""


def last_step(checkpoints: Path) -> int:
    """The iteration of the last whole checkpoint; 0 when there is none."""
    tracker = checkpoints / TRACKER
    return int(tracker.read_text()) if tracker.exists() else 0


def export_model(checkpoint: Path, start: Path, model: Path, *, keep_optimizer: bool = False) -> None:
    """Make a model folder of the weights in a checkpoint.

    Tokenizer and generation settings come from the model that the stage started from, byte for byte: saved again they
    may come back different.

    Args:
        checkpoint: verl's folder of one iteration.
        start: the model folder that the stage started from.
        model: the folder to write, whole or not at all.
        keep_optimizer: also keep the training state, in `optimizer/`.
    """
    building = model.with_name(f".{model.name}.part")
    shutil.rmtree(building, ignore_errors=True)
    weights = checkpoint / "actor" / "huggingface"
    shutil.copytree(start, building, ignore=shutil.ignore_patterns(*WEIGHTS, "compass_origin.json", OPTIMIZER))
    for pattern in WEIGHTS:
        for file in weights.glob(pattern):
            shutil.copy2(file, building / file.name)
    if keep_optimizer:
        shutil.copytree(checkpoint / "actor", building / OPTIMIZER, ignore=shutil.ignore_patterns("huggingface"))
    shutil.rmtree(model, ignore_errors=True)
    building.rename(model)


def start_from_optimizer(model: Path, checkpoints: Path) -> None:
    """Write a model's kept training state as the checkpoint of iteration 0, from which verl continues.

    Does nothing when there is a checkpoint already: an interrupted stage continues from its own.
    """
    tracker = checkpoints / TRACKER
    if tracker.exists():
        return
    shutil.copytree(model / OPTIMIZER, checkpoints / "global_step_0" / "actor", dirs_exist_ok=True)
    tracker.write_text("0")
