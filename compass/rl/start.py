"""Before a stage starts: the model that it starts from is brought, and its inputs are checked for faults that verl would meet after minutes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compass.base.resolve import resolve, write_origin
from compass.errors import UserError
from compass.plan.hardware import find_gpus
from compass.plan.memory import find_training_shortage
from compass.plan.shape import shape_of
from compass.rl.config import verl_config
from compass.rl.paths import StagePaths
from compass.settings import RlStage


class StartError(UserError):
    """A stage whose settings do not fit its training set, its model or this machine."""


def check_start(stage: str, settings: RlStage, *, model: Path, train: Path) -> None:
    """Check a stage's settings against its inputs.

    Args:
        stage: the stage's name.
        settings: its settings.
        model: folder of the weights that it starts from.
        train: verl's parquet of its training problems.

    Raises:
        StartError: they do not fit; the message names the settings, what was found and what to change.
        VerlKeyError: as in `check_verl_keys`.
    """
    _check_problems(stage, settings, train)
    check_verl_keys(stage, settings)
    check_model(stage, settings, _configuration(model), str(model))
    check_memory(stage, settings, _configuration(model))


def check_verl_keys(stage: str, settings: RlStage) -> None:
    """Check the keys of `rl.verl`.

    Raises:
        VerlKeyError: the installed verl has no such key, or another setting decides it; the message names the nearest key or the setting.
    """
    if settings.verl:
        verl_config(stage, settings, StagePaths(Path("model"), Path("train.parquet"), Path("work")), seed=0)


def _check_problems(stage: str, settings: RlStage, train: Path) -> None:
    import pyarrow.parquet as pq

    problems, batch = pq.read_metadata(train).num_rows, settings.data.batch_size
    if problems < batch:
        raise StartError(
            f"{stage}: {problems} training problems are fewer than `rl.data.batch_size` ({batch}), so that no iteration "
            "can be filled",
            f"lower it, or give the stage more: `curriculum.problems`, `curriculum.mixes.{stage}`, `curriculum.solve_rate`",
        )


def check_model(stage: str, settings: RlStage, config: Mapping[str, Any], model: str) -> None:
    """Check a stage's lengths and splits against the model that it starts from.

    Args:
        stage: the stage's name.
        settings: its settings.
        config: the model's `config.json`.
        model: what messages call the model.

    Raises:
        StartError: they do not fit.
    """
    longest = settings.data.max_prompt_tokens + settings.rollout.max_response_tokens
    positions = config.get("max_position_embeddings")
    if positions is not None and longest > positions:
        raise StartError(
            f"{stage}: `data.max_prompt_tokens` + `rollout.max_response_tokens` ({longest}) is more than the {positions} "
            f"tokens that {model} was made for",
            "lower one of them",
        )
    heads, resources = config.get("num_attention_heads"), settings.resources
    if heads is not None and heads % resources.tensor_parallel:
        divisors = [number for number in range(1, resources.gpus + 1) if heads % number == 0]
        raise StartError(
            f"{stage}: `resources.tensor_parallel` ({resources.tensor_parallel}) must divide the {heads} attention heads of {model}",
            f"possible: {', '.join(map(str, divisors))}",
        )


def check_memory(stage: str, settings: RlStage, config: Mapping[str, Any]) -> None:
    """Check that training fits the GPUs of this machine before a weight is loaded; nothing where it trains elsewhere or their kind is unknown.

    Args:
        stage: the stage's name.
        settings: its settings.
        config: the model's `config.json`.

    Raises:
        StartError: it does not fit; the message names the setting that would make it fit.
    """
    resources = settings.resources
    if not resources.gpus or resources.joins or (here := find_gpus()) is None:
        return
    try:
        shape = shape_of(config)
    except KeyError:
        return  # a model of another kind than the forecast knows
    if short := find_training_shortage(settings, shape, here[0], resources.gpus):
        raise StartError(f"{stage}: {short[0]}", short[1])


def _configuration(model: Path) -> dict[str, Any]:
    path = model / "config.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError) as error:
        raise StartError(f"{path} cannot be read as a model's configuration: {error}") from None


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
