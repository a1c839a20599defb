"""Bring a real policy: a local folder, a `.gguf` file or a hub id at a pinned revision becomes a transformers folder.

Weights that are safetensors already are copied file by file and never loaded. Code that comes with a model is
never run (`trust_remote_code` stays off), and pickled weights are refused.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.files import file_digest, folder_digest
from compass.settings.section import check_commit

HUB_ID = re.compile(r"(?!\.)[\w.-]+/[\w.-]+")
"""What a model of the hub is called: `owner/name`."""

ORIGIN_FILE = "compass_origin.json"
"""In a model's folder: where its starting weights came from."""

_WEIGHTS = ("*.safetensors", "*.safetensors.index.json")
_REST = ("config.json", "generation_config.json", "tokenizer*", "vocab.*", "merges.txt", "special_tokens_map.json")
_TEMPLATES = ("added_tokens.json", "chat_template.*", "*.model", "LICENSE*", "README*")
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.pkl")
_ENDS_OF_TURN = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "</s>")


@dataclass(frozen=True)
class Origin:
    """`kind` is pretrained, folder, gguf or hub; `digest` is a SHA-256 of the weights as they came."""

    kind: str
    name: str
    revision: str
    digest: str


class ModelError(UserError):
    """A model that cannot be used; the message names it, what was found and what to do."""


def resolve(
    model: str,
    *,
    revision: str = "",
    out: Path,
    environment: dict[str, str] | None = None,
    setting: str = "base.model",
    needs_template: bool = True,
) -> Origin:
    """Write the policy that `model` names to `out` as a plain transformers folder.

    Args:
        model: a local folder, a `.gguf` file or a hub id; `$NAME` is filled in from `environment`.
        revision: the commit of a hub id.
        out: a folder that does not exist yet.
        environment: variables, `os.environ` by default.
        setting: what messages call the setting that names the model; its revision is the setting `revision` next to it.
        needs_template: refuse a model without a chat template; else whoever samples from it has to give one.

    Returns:
        Where the model came from and the digest of its source.

    Raises:
        ModelError: a variable is unset, the path is no model, the hub id has no commit or cannot be fetched.
    """
    name = fill_in(model, os.environ if environment is None else environment, setting)
    path = Path(name).expanduser()
    if path.is_dir():
        _copy_folder(path, out, setting)
        origin = Origin("folder", path.name, "", folder_digest(path, _WEIGHTS))
    elif path.suffix == ".gguf":
        if not path.is_file():
            raise ModelError(f"{setting}: {path}: no such file")
        _convert_gguf(path, out)
        origin = Origin("gguf", path.name, "", file_digest(path))
    elif HUB_ID.fullmatch(name) and not path.exists():
        folder = _download(name, revision, setting)
        _copy_folder(folder, out, setting)
        origin = Origin("hub", name, revision, folder_digest(folder, _WEIGHTS))
    else:
        raise ModelError(f"{setting}: {name!r} is neither a folder, nor a .gguf file, nor a hub id (owner/name)")
    check_tokens(out, needs_template=needs_template)
    return origin


def fill_in(model: str, environment: Any, setting: str = "base.model") -> str:
    """`model` with each `$NAME` replaced from `environment`.

    Raises:
        ModelError: a variable is not set or empty.
    """

    def value(match: re.Match[str]) -> str:
        if not environment.get(match[1]):
            raise ModelError(
                f"{setting} is {model!r} but {match[1]} is not set; "
                f"run `export {match[1]}=...` with a model folder, a .gguf file or a hub id"
            )
        return environment[match[1]]

    return re.sub(r"\$(\w+)", value, model)


def check_tokens(folder: Path, *, needs_template: bool = True) -> None:
    """Make the saved tokenizer, configuration and generation configuration agree on the end and padding tokens.

    The chat template shows by which token a turn ends; where the tokenizer's end token is another (as in converted
    GGUF files), generation would never stop. Padding is the tokenizer's own, or else any special token that is
    neither the end of a turn nor used by the template.

    Raises:
        ModelError: there is no tokenizer in `folder`, or no chat template where one is needed.
    """
    from transformers import AutoConfig, AutoTokenizer, GenerationConfig

    tokenizer = AutoTokenizer.from_pretrained(folder)
    if needs_template and not tokenizer.chat_template:
        raise ModelError(f"{folder}: its tokenizer has no chat template; use an instruction-tuned model")
    end = _end_of_turn(tokenizer)
    changed = end != tokenizer.eos_token or tokenizer.pad_token is None
    if changed:
        tokenizer.eos_token = end
        if tokenizer.pad_token in (None, end):
            tokenizer.pad_token = _padding(tokenizer, end)
        tokenizer.save_pretrained(folder)
    config = AutoConfig.from_pretrained(folder)
    own = GenerationConfig.from_pretrained(folder) if (folder / "generation_config.json").exists() else None
    ends = _ids(own.eos_token_id if own else None)
    if changed or own is None or tokenizer.eos_token_id not in ends:
        # Other ends that the model's publisher lists stay, so that generation stops at those as well.
        ends = [tokenizer.eos_token_id, *(i for i in ends if i != tokenizer.eos_token_id)]
        generation = own or GenerationConfig()
        generation.eos_token_id = ends if len(ends) > 1 else ends[0]
        generation.pad_token_id = tokenizer.pad_token_id
        generation.save_pretrained(folder)
    if changed or tokenizer.eos_token_id not in _ids(config.eos_token_id):
        config.eos_token_id, config.pad_token_id = tokenizer.eos_token_id, tokenizer.pad_token_id
        config.save_pretrained(folder)


def _ids(value: int | list[int] | None) -> list[int]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _end_of_turn(tokenizer: Any) -> str:
    """The special token that the chat template puts after an assistant's words; the tokenizer's own end if none."""
    if not tokenizer.chat_template:
        return tokenizer.eos_token
    marker = "compass turn"
    shown = tokenizer.apply_chat_template(
        [{"role": "user", "content": "compass question"}, {"role": "assistant", "content": marker}], tokenize=False
    )
    after = shown.rpartition(marker)[2].strip()
    known = {str(t) for t in tokenizer.added_tokens_decoder.values() if t.special} | set(_ENDS_OF_TURN)
    shown_ends = [
        token for token in known if after.startswith(token) and tokenizer.convert_tokens_to_ids(token) is not None
    ]
    return max(shown_ends, key=len) if shown_ends else tokenizer.eos_token


def _padding(tokenizer: Any, end: str) -> str:
    specials = [str(t) for _, t in sorted(tokenizer.added_tokens_decoder.items()) if t.special]
    free = [token for token in specials if token != end and token not in (tokenizer.chat_template or "")]
    return free[0] if free else end


def _copy_folder(folder: Path, out: Path, setting: str) -> None:
    """Copy what a model needs. No links: DVC makes its outputs read-only, and the given folder must stay as it is."""
    if not (folder / "config.json").is_file():
        raise ModelError(f"{setting}: {folder} has no config.json; give the folder of a transformers model")
    if not list(_files(folder, _WEIGHTS[:1])):
        pickled = [path.name for path in _files(folder, _PICKLED)]
        hint = f"; {pickled[0]} is pickled, and unpickling can run code: convert it" if pickled else ""
        raise ModelError(f"{setting}: {folder} has no *.safetensors{hint}")
    out.mkdir(parents=True)
    for path in _files(folder, (*_WEIGHTS, *_REST, *_TEMPLATES)):
        shutil.copyfile(path, out / path.name)


def _files(folder: Path, patterns: Iterable[str]) -> list[Path]:
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def _convert_gguf(path: Path, out: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    load = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    # bfloat16 holds what 4-bit weights say, at half of float32's size.
    AutoModelForCausalLM.from_pretrained(**load, dtype=torch.bfloat16).save_pretrained(out)
    AutoTokenizer.from_pretrained(**load).save_pretrained(out)


def _download(name: str, revision: str, setting: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    if not revision:
        raise ModelError(
            f"{setting.rpartition('.')[0]}.revision: give the commit of {name!r} to use, so that the run can be repeated"
        )
    try:
        check_commit(revision, name)
    except ValueError as error:
        raise ModelError(f"{setting.rpartition('.')[0]}.revision: {error}, found {revision!r}") from None
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=[*_WEIGHTS, *_REST, *_TEMPLATES]))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise ModelError(
            f"{setting}: {name} at {revision} could not be fetched ({type(error).__name__}: {error}); "
            "check id and revision, or give a local folder"
        ) from error


def write_origin(folder: Path, origin: Origin) -> None:
    """Write `origin` into a model's folder."""
    (folder / ORIGIN_FILE).write_text(json.dumps(asdict(origin), indent=2) + "\n", encoding="utf-8")
