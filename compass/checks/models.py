"""Whether the policy and the grader can be found, and fit the lengths that the settings ask of them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path
from typing import Any

from compass.base.pretrain import MAX_POSITIONS
from compass.base.resolve import ModelError, fill_in
from compass.checks.data import find_unset_variable
from compass.checks.finding import Finding, find_nearest_file
from compass.rl.start import StartError, check_model, check_verl_keys
from compass.rl.verl_keys import VerlKeyError
from compass.settings import Sampling, Settings

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
"""What a model or data set of the hub is called: `owner/name`."""


def find_model_problems(settings: Settings, root: Path) -> list[Finding]:
    """What is wrong with `base.model`, `grade.model` and models that RL stages start from, and with lengths that these cannot take."""
    base, config = _check_base(settings, root)
    found, configs = list(base), dict.fromkeys(settings.rl.stages, config)
    for name, stage in settings.rl.stages.items():
        if stage.from_elsewhere:
            wrong, configs[name] = _check_named(f"rl.stages.{name}.init_from", stage.init_from, stage.revision, root)
            found += wrong
        elif stage.init_from in configs:
            configs[name] = configs[stage.init_from]
    return [*found, *_check_grader(settings, root), *_check_lengths(settings, config, configs)]


def find_model_folder(settings: Settings, root: Path) -> Path | None:
    """The folder of the policy where it can be read now: the one that the settings name, or none for a file or hub id."""
    if settings.base.pretrain:
        return None
    try:
        path = root / Path(fill_in(settings.base.model, os.environ)).expanduser()
    except ModelError:
        return None
    return path if path.is_dir() else None


def _check_base(settings: Settings, root: Path) -> tuple[list[Finding], dict[str, Any]]:
    """What is wrong with the policy, and its configuration, empty where that is not known yet."""
    if settings.base.pretrain:
        return [], {"max_position_embeddings": MAX_POSITIONS}
    return _check_named("base.model", settings.base.model, settings.base.revision, root)


def _check_named(where: str, model: str, revision: str, root: Path) -> tuple[list[Finding], dict[str, Any]]:
    """What is wrong with a model that the setting `where` names, and its configuration, empty where that is not known yet."""
    if unset := find_unset_variable(where, model, what="a model folder, a .gguf file or a hub id"):
        return [unset], {}
    name = fill_in(model, os.environ, where)
    path = root / Path(name).expanduser()
    if path.is_dir():
        return _check_folder(where, path)
    if path.suffix == ".gguf":
        return _check_gguf(where, path), {}
    if not HUB_ID.fullmatch(name) or path.exists():
        found = f"{name!r} is neither a folder, nor a .gguf file, nor a hub id (owner/name)"
        return [Finding(where, "problem", found, f"{find_nearest_file(path)}give one of these")], {}
    return _check_hub(where, name, revision), {}


def _check_folder(where: str, path: Path) -> tuple[list[Finding], dict[str, Any]]:
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return [Finding(where, "problem", f"{path} has no config.json that can be read ({error})", _MODEL)], {}
    found = []
    if not list(path.glob("*.safetensors")):
        pickled = sorted(file.name for pattern in ("*.bin", "*.pt", "*.pth") for file in path.glob(pattern))
        hint = f"convert {pickled[0]} to safetensors: unpickling can run code" if pickled else _MODEL
        found.append(Finding(where, "problem", f"{path} has no *.safetensors", hint))
    if not any((path / name).exists() for name in ("tokenizer.json", "tokenizer.model", "vocab.json")):
        found.append(Finding(where, "problem", f"{path} has no tokenizer", _MODEL))
    elif not _has_chat_template(path):
        found.append(
            Finding(
                where,
                "problem",
                f"the tokenizer in {path} has no chat template",
                "use an instruction-tuned model, or add one",
            )
        )
    return found, config


_MODEL = "give the folder of a transformers model: config.json, *.safetensors and its tokenizer"


def _has_chat_template(path: Path) -> bool:
    if any(path.glob("chat_template.*")) or (path / "additional_chat_templates").is_dir():
        return True
    try:
        return bool(json.loads((path / "tokenizer_config.json").read_text(encoding="utf-8")).get("chat_template"))
    except (OSError, ValueError):
        return False


def _check_gguf(where: str, path: Path) -> list[Finding]:
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
    except OSError as error:
        return [Finding(where, "problem", f"{path}: {error.strerror}", f"{find_nearest_file(path)}check the path")]
    if magic != b"GGUF":
        return [
            Finding(where, "problem", f"{path} is no GGUF file: it begins with {magic!r}", "copy or download it again")
        ]
    missing = [name for name in ("gguf", "accelerate") if importlib.util.find_spec(name) is None]
    return [Finding(where, "problem", f"a .gguf file needs the package {name}", "run `make setup`") for name in missing]


def _check_hub(where: str, name: str, revision: str) -> list[Finding]:
    if not revision:
        return [
            Finding(
                f"{where.rpartition('.')[0]}.revision",
                "problem",
                f"is empty, and {where} is the hub id {name}",
                "give the commit to use",
            )
        ]
    if is_hub_offline():
        home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache/huggingface")
        hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
        if not (hub / f"models--{name.replace('/', '--')}" / "snapshots" / revision).is_dir():
            return [
                Finding(
                    where,
                    "problem",
                    f"{name} at {revision} is not in {hub}, and HF_HUB_OFFLINE is set",
                    "give a local folder",
                )
            ]
    return []


def is_hub_offline() -> bool:
    """Whether `HF_HUB_OFFLINE` forbids to ask the hub."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON")


def _check_grader(settings: Settings, root: Path) -> list[Finding]:
    where, name = "grade.model", settings.grade.model
    if name == "models/base":
        return []
    if name.removeprefix("models/") in settings.rl.stages:
        return [
            Finding(
                where, "problem", f"{name} is trained on what the grader grades", "give models/base or another model"
            )
        ]
    if "$" in name:
        return [
            Finding(
                where, "problem", f"{name!r}: variables are not filled in here", "write the folder or hub id itself"
            )
        ]
    path = root / Path(name).expanduser()
    if path.is_dir():
        found = (path / "config.json").is_file()
        return [] if found else [Finding(where, "problem", f"{path} has no config.json", _MODEL)]
    if path.suffix == ".gguf":
        return [
            Finding(
                where,
                "problem",
                f"{name}: a .gguf file cannot grade",
                "set it as `base.model`, and `grade.model: models/base`",
            )
        ]
    if not HUB_ID.fullmatch(name):
        return [
            Finding(
                where,
                "problem",
                f"{name!r} is neither a folder nor a hub id",
                f"{find_nearest_file(path)}give one of these",
            )
        ]
    if settings.grade.revision:
        return []
    found = f"there is no folder {path}, and a hub id needs `grade.revision`"
    return [Finding(where, "problem", found, f"{find_nearest_file(path)}give the commit, or a folder")]


def _check_lengths(settings: Settings, config: dict[str, Any], starts: dict[str, dict[str, Any]]) -> list[Finding]:
    """Responses and prompts that are longer than the policy's positions, and splits that its heads do not allow.

    Args:
        settings: the run's.
        config: the base's `config.json`.
        starts: that of the model that each RL stage descends from; empty where it is not known yet.
    """
    found = []
    for name, stage in settings.rl.stages.items():
        try:
            check_model(name, stage, starts[name], "the policy")
            check_verl_keys(name, stage)
        except (StartError, VerlKeyError) as error:
            found.append(Finding(f"rl.stages.{name}", "problem", error.message.removeprefix(f"{name}: "), error.remedy))
    positions = config.get("max_position_embeddings")
    for section, sampling in _list_samplings(settings):
        if positions is not None and sampling.max_model_len > positions:
            found.append(
                Finding(
                    f"{section}.sampling.max_model_len",
                    "problem",
                    f"{sampling.max_model_len} is more than the {positions} tokens that the policy was made for",
                    f"lower it to {positions} or less",
                )
            )
    return found


def _list_samplings(settings: Settings) -> list[tuple[str, Sampling]]:
    own = [("grade", settings.grade.sampling)] if settings.grade.model == "models/base" else []
    return [*own, ("evaluate", settings.evaluate.sampling)]
