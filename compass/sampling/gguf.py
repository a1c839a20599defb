"""A GGUF file as a model folder: llama.cpp's format, which many small models are published in."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

from compass.sampling.model_source import SamplingError

VERSION = 1
"""Raised when the same file would make another folder."""


def unpack_gguf(file: Path, cache: Path) -> Path:
    """The model folder made of a GGUF file, in bfloat16: made once per content, below `cache`.

    The chat template and the special tokens are the file's own: transformers 5.10 takes the first token for the last and leaves out
    the padding token.

    Raises:
        SamplingError: the file is no GGUF model that transformers reads, or the package `gguf` is absent.
    """
    with open(file, "rb") as opened:
        digest = hashlib.file_digest(opened, "blake2b").hexdigest()[:16]
    folder = cache / f"{file.stem}-{digest}-{VERSION}"
    if (folder / "config.json").exists():
        return folder
    try:
        from gguf import GGUFReader
    except ImportError:
        raise SamplingError(f"{file}: reading GGUF needs the packages gguf and accelerate: pip install them") from None
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    made = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(made, ignore_errors=True)
    try:
        facts = _facts(GGUFReader(file))
        tokenizer = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
        model = AutoModelForCausalLM.from_pretrained(str(file.parent), gguf_file=file.name, dtype=torch.bfloat16)
    except (ValueError, OSError, KeyError, NotImplementedError) as error:
        raise SamplingError(f"{file}: not a GGUF model that transformers reads ({error})") from error
    for name, key in (("bos", "bos"), ("eos", "eos"), ("pad", "padding")):
        number = facts.get(f"tokenizer.ggml.{key}_token_id")
        if number is not None:
            setattr(tokenizer, f"{name}_token", tokenizer.convert_ids_to_tokens(int(number)))
    tokenizer.chat_template = facts.get("tokenizer.chat_template")
    model.generation_config.eos_token_id = model.config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(made)
    tokenizer.save_pretrained(made)
    made.rename(folder)
    return folder


def _facts(reader: Any) -> dict[str, Any]:
    wanted = ("bos_token_id", "eos_token_id", "padding_token_id")
    keys = [*(f"tokenizer.ggml.{name}" for name in wanted), "tokenizer.chat_template"]
    return {key: reader.fields[key].contents() for key in keys if key in reader.fields}
