"""Which model is sampled from: a local folder, a pinned hub revision or a server, and the digest that identifies it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from compass.errors import UserError
from compass.files import write_json
from compass.settings.section import check_commit

IDENTIFYING = ("*.json", "*.safetensors", "*.bin", "*.model", "*.txt", "*.jinja", "*.gguf")
"""Files of a model folder that decide what it samples: weights, configuration, tokenizer, chat template."""


class SamplingError(UserError):
    """A model or prompts that cannot be sampled from; the message names which and what to do."""


@dataclass(frozen=True)
class Model:
    """A model to sample from: a folder, or a hub id with its commit, the `revision`."""

    path: str
    revision: str = ""


@dataclass(frozen=True)
class Server:
    """A model behind an OpenAI-compatible server. Nothing tells whether its weights change: where they are unknown, URL, id and name identify it."""

    url: str
    model: str
    """The id that the server reports."""

    name: str
    """What the user calls it; another name is another model."""

    version: str = ""
    """The server's version, where it tells one."""

    weights: Model | None = None
    """The model whose weights it serves, where that is known: then these identify it."""

    more: tuple[Server, ...] = ()
    """Others that serve the same."""

    max_model_len: int = 0
    """Tokens of prompt and response together at most, where it tells that."""


def find_model(path: str, revision: str = "") -> Model:
    """The model at `path`, checked to be usable.

    Args:
        path: a folder that holds `config.json`, or a hub id.
        revision: the hub commit; required for a hub id, not used for a folder.

    Raises:
        SamplingError: neither a whole model folder nor a hub id with its commit.
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
    try:
        check_commit(revision, path)
    except ValueError as error:
        raise SamplingError(f"{path}: the revision {error}, found {revision!r}") from None
    return Model(path, revision)


def read_model_length(model: Model | Server) -> int:
    """Tokens that prompt and response may have together, as the model's own configuration or the server says it; 0 where neither does.

    Raises:
        SamplingError: the configuration of a hub id cannot be read.
    """
    if isinstance(model, Server):
        return model.max_model_len
    file = Path(model.path) / "config.json"
    if not file.is_file():
        from transformers import AutoConfig

        try:
            config = AutoConfig.from_pretrained(model.path, revision=model.revision or None).to_dict()
        except (OSError, ValueError) as error:
            raise SamplingError(
                f"{model.path}: its configuration cannot be read ({str(error).splitlines()[0]})"
            ) from None
    else:
        config = json.loads(file.read_text(encoding="utf-8"))
    found = config.get("max_position_embeddings") or (config.get("text_config") or {}).get("max_position_embeddings")
    return found if isinstance(found, int) else 0


LONGEST = 32_768
"""Tokens of a response where nobody says how long it may be and the model could go on longer."""

PROMPT_ROOM = 2_048
"""Tokens left to a prompt, or a quarter of what the model takes where that is less: Qwen3's 40,960 leave the 38,912 that its card names."""


def choose_limits(model: Model | Server, *, max_tokens: int = 0, max_model_len: int = 0) -> tuple[int, int]:
    """Limits of a response, and of prompt and response together: those given, and for a 0 what the model's configuration allows.

    Raises:
        SamplingError: neither the model nor its server says how long a response may be.
    """
    length = max_model_len or read_model_length(model)
    if not length and not max_tokens:
        name = model.name if isinstance(model, Server) else model.path
        raise SamplingError(f"{name}: nothing says how long its responses may be; give --max-tokens")
    tokens = max_tokens or min(LONGEST, length - min(PROMPT_ROOM, length // 4))
    return tokens, max_model_len or min(length or tokens + PROMPT_ROOM, tokens + PROMPT_ROOM)


def model_digest(model: Model | Server, cache: Path | None = None) -> str:
    """32 hex digits that change whenever the model would sample differently.

    Args:
        model: of a folder the content counts, of a hub id the commit, of a server its weights, or where they are unknown URL, model id and name.
        cache: a file that remembers the digests of large files, by path, size and time of change.
    """
    digest = hashlib.blake2b(digest_size=16)
    if isinstance(model, Server):
        if model.weights is not None:
            return model_digest(model.weights, cache)
        digest.update(json.dumps([model.url, model.model, model.name, model.version]).encode())
        return digest.hexdigest()
    folder = Path(model.path)
    if not folder.is_dir():
        digest.update(f"{model.path}@{model.revision}".encode())
        return digest.hexdigest()
    known = _remembered(cache)
    seen = dict(known)
    for file in _identifying_files(folder):
        digest.update(f"{file.name}\0{file.stat().st_size}\0{_file_digest(file, seen)}".encode())
    if cache is not None and seen != known:
        write_json(cache, seen)
    return digest.hexdigest()


def find_known_digest(folder: Path, cache: Path) -> str | None:
    """The digest of a model's folder where the cache remembers all of its files, so that none is read; else None."""
    files, known = _identifying_files(folder), _remembered(cache)
    return (
        model_digest(Model(str(folder)), cache) if files and all(_file_key(file) in known for file in files) else None
    )


def _identifying_files(folder: Path) -> list[Path]:
    return sorted({file for pattern in IDENTIFYING for file in folder.glob(pattern)})


def _file_key(file: Path) -> str:
    """What the cache remembers a file by: its path, size, time of change and inode."""
    status = file.stat()
    return f"{file.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}"


def _file_digest(file: Path, seen: dict[str, str]) -> str:
    key = _file_key(file)
    if key not in seen:
        with open(file, "rb") as opened:
            seen[key] = hashlib.file_digest(opened, "blake2b").hexdigest()
    return seen[key]


def _remembered(cache: Path | None) -> dict[str, str]:
    try:
        return json.loads(cache.read_text(encoding="utf-8")) if cache is not None else {}
    except (OSError, json.JSONDecodeError, UnicodeDecodeError):
        return {}
