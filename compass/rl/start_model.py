"""The model that an RL stage starts from: an earlier stage's output as it is, or a model from elsewhere, brought as `base` brings one."""

from __future__ import annotations

import shutil
from pathlib import Path

from compass.base.origin import write_origin
from compass.base.resolve import resolve
from compass.settings import RlStage


def start_folder(stage: str, settings: RlStage, root: Path) -> Path:
    """Where the weights that a stage starts from lie once they are brought.

    Args:
        stage: its name.
        settings: its settings.
        root: the repository's root.
    """
    return root / "work" / stage / "start" if settings.from_elsewhere else root / "models" / settings.init_from


def bring_start(stage: str, settings: RlStage, root: Path) -> Path:
    """Bring the model that a stage starts from; one from elsewhere is copied or converted into the stage's work folder.

    It goes through what `base.model` goes through: safetensors alone, no code that comes with a model, a tokenizer with a chat
    template whose end and padding tokens agree with the model's configuration (`compass/base/resolve.py`).

    Args:
        stage: its name.
        settings: its settings.
        root: the repository's root.

    Returns:
        The folder of the model.

    Raises:
        ModelError: a model from elsewhere cannot be found or used.
    """
    folder = start_folder(stage, settings, root)
    if settings.from_elsewhere:
        building = folder.with_name("start.building")
        for old in (building, folder):
            shutil.rmtree(old, ignore_errors=True)
        setting = f"rl.stages.{stage}.init_from"
        given = root / Path(settings.init_from).expanduser()
        model = str(given) if given.exists() else settings.init_from
        origin = resolve(model, revision=settings.revision, out=building, setting=setting)
        write_origin(building, origin)
        building.rename(folder)
    return folder


def remove_start(stage: str, settings: RlStage, root: Path) -> None:
    """Remove what `bring_start` brought, when the stage's model is written."""
    if settings.from_elsewhere:
        shutil.rmtree(start_folder(stage, settings, root), ignore_errors=True)
