"""verl's checkpoints of an RL stage: from which to go on, which to remove, and a first one made of an earlier stage's state.

verl writes `global_step_N/` file by file, the dataloader's state last, then the tracker file that names N; it logs the
iteration's metrics after that. A checkpoint therefore counts only if every file of it is whole *and* its iteration is recorded: a
stage that was killed between the two goes on from the one before, so that no iteration is missing from the record.
"""

from __future__ import annotations

import math
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from compass.files import atomic_path
from compass.settings.optimizer import Optimizer

TRACKER = "latest_checkpointed_iteration.txt"
"""verl's file that holds the iteration of the last whole checkpoint."""

OPTIMIZER = "optimizer"
"""The folder inside a model folder that holds verl's whole training state."""

CRITIC = "critic"
"""The critic's folder, in a checkpoint and in that training state."""

VALIDATION_SAMPLES = 4
"""Responses per validation problem, sampled as in training."""

ACCURACY = f"val-core/validation/acc/mean@{VALIDATION_SAMPLES}"
"""verl's name for the share of right ones among them."""

_FOLDER = re.compile(r"global_step_(\d+)")
_SHARD = re.compile(r"model_world_size_(\d+)_rank_0\.pt")
_KINDS = ("model", "optim", "extra_state")


def checkpoint_folder(checkpoints: Path, step: int) -> Path:
    """verl's folder of one iteration."""
    return checkpoints / f"global_step_{step}"


def last_step(checkpoints: Path) -> int:
    """The iteration of the newest whole checkpoint; 0 when there is none."""
    return max(whole_checkpoints(checkpoints), default=0)


def whole_checkpoints(checkpoints: Path) -> list[int]:
    """The iterations whose checkpoints are whole, in order: every rank's every file can be read to its end."""
    found = (_FOLDER.fullmatch(path.name) for path in checkpoints.glob("global_step_*"))
    return sorted(int(match[1]) for match in found if match and _whole(checkpoints / match[0], int(match[1])))


def best_step(rows: Iterable[Mapping[str, Any]]) -> int | None:
    """The iteration with the highest accuracy on validation problems, the earlier of equals; None where none was measured."""
    measured = [row for row in rows if ACCURACY in row]
    return max(measured, key=lambda row: (row[ACCURACY], -row["step"]))["step"] if measured else None


def find_unvalidated(
    rows: Mapping[int, Mapping[str, Any]], checkpoints: Path, stopped: int | None = None
) -> int | None:
    """The first iteration with a whole checkpoint and metrics, but no accuracy on validation problems; None where every one has it.

    Args:
        rows: the metrics of every iteration, by its number.
        checkpoints: the stage's, which has validation problems.
        stopped: the iteration that was saved because its machine was taken away: it counts, without an accuracy.
    """
    recorded = (step for step in whole_checkpoints(checkpoints) if step in rows and step != stopped)
    return next((step for step in recorded if ACCURACY not in rows[step]), None)


def resume_from(checkpoints: Path, *, recorded: int, keep: int | None = None) -> int:
    """Choose the checkpoint to go on from, point verl to it, and remove those that do not count.

    Args:
        checkpoints: the stage's checkpoints; need not exist.
        recorded: the last iteration up to which every one is recorded and trusted, and at most the stage's last.
        keep: an iteration whose checkpoint stays as well, the best so far.

    Returns:
        The iteration of the newest whole checkpoint up to `recorded`; 0 starts from the beginning.
    """
    chosen = max((step for step in whole_checkpoints(checkpoints) if step <= recorded), default=None)
    for path in checkpoints.glob("global_step_*"):
        if path.name not in (f"global_step_{chosen}", f"global_step_{keep}"):
            shutil.rmtree(path)
    tracker = checkpoints / TRACKER
    if chosen is None:
        tracker.unlink(missing_ok=True)
        return 0
    with atomic_path(tracker) as temporary:
        temporary.write_text(str(chosen))
    return chosen


def remove_older(checkpoints: Path, *, recorded: int, keep: int | None = None) -> None:
    """Remove the checkpoints before the newest that would be gone on from.

    Args:
        checkpoints: the stage's checkpoints.
        recorded: the last recorded iteration.
        keep: an iteration whose checkpoint stays in any case.
    """
    whole = [step for step in whole_checkpoints(checkpoints) if step <= recorded]
    for step in whole[:-1]:
        if step != keep:
            shutil.rmtree(checkpoint_folder(checkpoints, step))


def start_from_optimizer(
    model: Path, checkpoints: Path, optimizer: Optimizer, critic: Optimizer | None = None, *, steps: int
) -> None:
    """Lay down a model's kept training state as the checkpoint of iteration 0, from which verl continues.

    The moments are the earlier stage's, and so is the critic, if there is one. The learning rate and its schedule, warm-up included,
    the weight decay and AdamW's constants are the new stage's: verl would otherwise take over the old ones with the moments. Does
    nothing when there is a whole checkpoint already: an interrupted stage continues from its own.

    Args:
        model: folder of the model that the stage starts from; it has the state in `optimizer/`.
        checkpoints: the stage's checkpoints.
        optimizer: the policy's.
        critic: the critic's; None takes over none.
        steps: the stage's iterations.
    """
    if whole_checkpoints(checkpoints):
        return
    folder = checkpoint_folder(checkpoints, 0)
    shutil.rmtree(folder, ignore_errors=True)
    building = checkpoints / "building"
    shutil.rmtree(building, ignore_errors=True)
    shutil.copytree(model / OPTIMIZER, building / "actor", ignore=shutil.ignore_patterns(CRITIC))
    _reschedule(building / "actor", optimizer, steps)
    if critic is not None:
        shutil.copytree(model / OPTIMIZER / CRITIC, building / CRITIC)
        _reschedule(building / CRITIC, critic, steps)
    building.rename(folder)
    with atomic_path(checkpoints / TRACKER) as temporary:
        temporary.write_text("0")


def _reschedule(folder: Path, optimizer: Optimizer, steps: int) -> None:
    """Put a stage's own rate, schedule, weight decay and constants into the optimizer states in a folder."""
    groups = {
        "lr": optimizer.learning_rate * first_share(optimizer, steps),
        "initial_lr": optimizer.learning_rate,
        "weight_decay": optimizer.weight_decay,
        "betas": tuple(optimizer.betas),
        "eps": optimizer.eps,
    }
    for path in folder.glob("optim_*.pt"):
        _change(path, lambda state: [group.update(groups) for group in state["param_groups"]])
    for path in folder.glob("extra_state_*.pt"):
        _change(path, lambda state: state.update(lr_scheduler=None))


def first_share(optimizer: Optimizer, steps: int) -> float:
    """What share of the learning rate verl's schedule gives to the first iteration."""
    at = 0 if optimizer.zero_indexed else 1
    if at < optimizer.warmup_steps:
        return at / optimizer.warmup_steps
    if optimizer.schedule == "constant":
        return 1.0
    lowest = optimizer.min_learning_rate / optimizer.learning_rate
    progress = (at - optimizer.warmup_steps) / max(1, steps - optimizer.warmup_steps)
    wave = math.cos(2 * math.pi * optimizer.cycles_within(steps) * progress)
    return max(lowest, (1 + lowest) / 2 + (1 - lowest) / 2 * wave)


def _change(path: Path, change: Callable[[Any], object]) -> None:
    """Change what torch saved in a file. The file is the pipeline's own: it is unpickled."""
    import torch

    state = torch.load(path, map_location="cpu", weights_only=False)
    change(state)
    torch.save(state, path)


def _whole(folder: Path, step: int) -> bool:
    """Whether verl finished writing a checkpoint. That of iteration 0 is laid down whole, without a dataloader's state."""
    models = [folder / "actor", *([folder / CRITIC] if (folder / CRITIC).exists() else [])]
    return all(map(_whole_model, models)) and (not step or _readable(folder / "data.pt"))


def _whole_model(folder: Path) -> bool:
    """Whether every file of every rank is there for one of a checkpoint's models."""
    sizes = [match for path in folder.glob("*.pt") if (match := _SHARD.fullmatch(path.name))]
    if len(sizes) != 1:
        return False
    world = int(sizes[0][1])
    return all(
        _readable(folder / f"{kind}_world_size_{world}_rank_{rank}.pt") for kind in _KINDS for rank in range(world)
    )


def _readable(path: Path) -> bool:
    """Whether torch finished writing a file: a zip archive whose directory, at its end, is there."""
    return path.is_file() and zipfile.is_zipfile(path)
