"""Which model a stage samples from: a local folder or a pinned hub revision, and the digest that identifies its weights."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from compass.errors import UserError

IDENTIFYING = ("*.json", "*.safetensors", "*.bin", "*.model", "*.txt", "*.jinja", "*.gguf")
"""Files of a model folder that decide what it samples: weights, configuration, tokenizer, chat template."""


class SamplingError(UserError):
    """A model or prompts that cannot be sampled from; the message names which and what to do."""


@dataclass(frozen=True)
class Model:
    """A model to sample from: a folder, or a hub id with the `revision` (commit) that pins it."""

    path: str
    revision: str = ""


def find_model(path: str, revision: str = "") -> Model:
    """The model at `path`, checked to be usable.

    Args:
        path: a folder that holds `config.json`, or a hub id.
        revision: the hub commit; required for a hub id, not used for a folder.

    Raises:
        SamplingError: neither a whole model folder nor a hub id with a revision.
    """
    folder = Path(path)
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise SamplingError(f"{path}: holds no config.json, so it is not a whole model; run its stage again")
        return Model(str(folder))
    if not revision:
        raise SamplingError(
            f"{path}: no such folder; run the stage that writes it, or, for a hub id, give its `revision` (a commit)"
        )
    return Model(path, revision)


def model_digest(model: Model) -> str:
    """32 hex digits that change whenever the model would sample differently: content for a folder, the commit for a hub id."""
    digest = hashlib.blake2b(digest_size=16)
    folder = Path(model.path)
    if not folder.is_dir():
        digest.update(f"{model.path}@{model.revision}".encode())
        return digest.hexdigest()
    for file in sorted({file for pattern in IDENTIFYING for file in folder.glob(pattern)}):
        digest.update(f"{file.name}\0{file.stat().st_size}\0".encode())
        with open(file, "rb") as opened:
            hashlib.file_digest(opened, lambda: digest)
    return digest.hexdigest()
