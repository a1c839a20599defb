"""Whether the policy and the grader can be found, and fit the lengths that the settings ask of them."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compass.base.pretrain import MAX_POSITIONS
from compass.base.resolve import HUB_ID, fill_in
from compass.checks.data import find_unset_variable
from compass.checks.finding import Finding, find_nearest_file
from compass.plan.shape import read_config
from compass.rl.start import StartError, check_model, check_verl_keys
from compass.rl.verl_keys import VerlKeyError
from compass.settings import Settings

_MODEL = "give the folder of a transformers model: config.json, *.safetensors and its tokenizer"


def find_model_problems(settings: Settings, root: Path) -> list[Finding]:
    """What is wrong with `base.model`, `grade.model` and models that RL stages start from, and with lengths that these cannot take."""
    base = settings.base
    found: list[Finding] = []
    config: dict[str, Any] = {"max_position_embeddings": MAX_POSITIONS}
    if not base.pretrain:
        config = read_config(base.model, root)
        found += _check_named("base.model", base.model, base.revision, root)
    configs = dict.fromkeys(settings.rl.stages, config)
    for name, stage in settings.rl.stages.items():
        if stage.from_elsewhere:
            configs[name] = read_config(stage.init_from, root)
            found += _check_named(f"rl.stages.{name}.init_from", stage.init_from, stage.revision, root)
        elif stage.init_from in configs:
            configs[name] = configs[stage.init_from]
    return [*found, *_check_grader(settings, root), *_check_lengths(settings, config, configs)]


def _check_named(where: str, model: str, revision: str, root: Path, *, trains: bool = True) -> Iterator[Finding]:
    """What is wrong with a model that the setting `where` names; of one that only grades less is asked."""
    if unset := find_unset_variable(where, model, what="a model folder, a .gguf file or a hub id"):
        yield unset
        return
    name = fill_in(model, os.environ, where)
    path = root / Path(name).expanduser()
    if path.is_dir():
        yield from _check_folder(where, path, trains=trains)
    elif path.suffix == ".gguf":
        yield from _check_gguf(where, path)
    elif not HUB_ID.fullmatch(name) or path.exists():
        found = f"{name!r} is neither a folder, nor a .gguf file, nor a hub id (owner/name)"
        yield Finding(where, found, f"{find_nearest_file(path)}give one of these")
    elif not revision:
        setting = f"{where.rpartition('.')[0]}.revision"
        remedy = f"{find_nearest_file(path)}give the commit to use, or a folder"
        yield Finding(setting, f"is empty, and {where} is the hub id {name}", remedy)
    elif is_hub_offline():
        home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache/huggingface")
        hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
        if not (hub / f"models--{name.replace('/', '--')}" / "snapshots" / revision).is_dir():
            found = f"{name} at {revision} is not in {hub}, and HF_HUB_OFFLINE is set"
            yield Finding(where, found, "give a local folder")


def _check_folder(where: str, path: Path, *, trains: bool) -> Iterator[Finding]:
    try:
        json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        yield Finding(where, f"{path} has no config.json that can be read ({error})", _MODEL)
        return
    if not trains:
        return
    if not list(path.glob("*.safetensors")):
        pickled = sorted(file.name for pattern in ("*.bin", "*.pt", "*.pth") for file in path.glob(pattern))
        remedy = f"convert {pickled[0]} to safetensors: unpickling can run code" if pickled else _MODEL
        yield Finding(where, f"{path} has no *.safetensors", remedy)
    if not any((path / name).exists() for name in ("tokenizer.json", "tokenizer.model", "vocab.json")):
        yield Finding(where, f"{path} has no tokenizer", _MODEL)
    elif not _has_chat_template(path):
        remedy = "use an instruction-tuned model, or add one"
        yield Finding(where, f"the tokenizer in {path} has no chat template", remedy)


def _has_chat_template(path: Path) -> bool:
    if any(path.glob("chat_template.*")) or (path / "additional_chat_templates").is_dir():
        return True
    try:
        return bool(json.loads((path / "tokenizer_config.json").read_text(encoding="utf-8")).get("chat_template"))
    except (OSError, ValueError):
        return False


def _check_gguf(where: str, path: Path) -> Iterator[Finding]:
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
    except OSError as error:
        yield Finding(where, f"{path}: {error.strerror}", f"{find_nearest_file(path)}check the path")
        return
    if magic != b"GGUF":
        yield Finding(where, f"{path} is no GGUF file: it begins with {magic!r}", "copy or download it again")
        return
    for name in ("gguf", "accelerate"):
        if importlib.util.find_spec(name) is None:
            yield Finding(where, f"a .gguf file needs the package {name}", "run `make setup`")


def is_hub_offline() -> bool:
    """Whether `HF_HUB_OFFLINE` forbids to ask the hub."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON")


def _check_grader(settings: Settings, root: Path) -> Iterator[Finding]:
    where, name = "grade.model", settings.grade.model
    if name == "models/base":
        return
    if name.removeprefix("models/") in settings.rl.stages:
        yield Finding(where, f"{name} is trained on what the grader grades", "give models/base or another model")
    elif "$" in name:
        yield Finding(where, f"{name!r}: variables are not filled in here", "write the folder or hub id itself")
    elif name.endswith(".gguf"):
        remedy = "set it as `base.model`, and `grade.model: models/base`"
        yield Finding(where, f"{name}: a .gguf file cannot grade", remedy)
    else:
        yield from _check_named(where, name, settings.grade.revision, root, trains=False)


def _check_lengths(settings: Settings, config: dict[str, Any], starts: dict[str, dict[str, Any]]) -> Iterator[Finding]:
    """Responses and prompts that are longer than the policy's positions, and splits that its heads do not allow.

    Args:
        settings: the run's.
        config: the base's `config.json`.
        starts: that of the model that each RL stage descends from; empty where it is not known yet.
    """
    for name, stage in settings.rl.stages.items():
        try:
            check_model(name, stage, starts[name], "the policy")
            check_verl_keys(name, stage)
        except (StartError, VerlKeyError) as error:
            yield Finding(f"rl.stages.{name}", error.message.removeprefix(f"{name}: "), error.remedy)
    positions = config.get("max_position_embeddings")
    graded = [("grade", settings.grade.sampling)] if settings.grade.model == "models/base" else []
    for section, sampling in (*graded, ("evaluate", settings.evaluate.sampling)):
        if positions is not None and sampling.max_model_len > positions:
            found = f"{sampling.max_model_len} is more than the {positions} tokens that the policy was made for"
            yield Finding(f"{section}.sampling.max_model_len", found, f"lower it to {positions} or less")
