"""The dimensions of a model, and what follows from them: parameters, FLOPs and bytes per token."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compass.base.resolve import ModelError, fill_in
from compass.settings import Pretrain, Settings


@dataclass(frozen=True)
class Shape:
    """A decoder with grouped-query attention and a gated feed-forward block, as Llama and Qwen2 have."""

    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    tied: bool
    biases: bool
    """Whether queries, keys and values have biases, as in Qwen2."""

    @property
    def layer_parameters(self) -> int:
        """Weights of one block."""
        width, kv = self.heads * self.head_size, self.kv_heads * self.head_size
        attention = 2 * self.hidden * width + 2 * self.hidden * kv + (width + 2 * kv if self.biases else 0)
        return attention + 3 * self.hidden * self.intermediate + 2 * self.hidden

    @property
    def parameters(self) -> int:
        """All weights."""
        embeddings = self.vocabulary * self.hidden * (1 if self.tied else 2)
        return self.layers * self.layer_parameters + embeddings + self.hidden

    @property
    def matrix_parameters(self) -> int:
        """Weights that each token is multiplied with: all but biases, norms and the embedding, which is looked up."""
        width, kv = self.heads * self.head_size, self.kv_heads * self.head_size
        block = 2 * self.hidden * width + 2 * self.hidden * kv + 3 * self.hidden * self.intermediate
        return self.layers * block + self.vocabulary * self.hidden

    def lora_parameters(self, rank: int) -> int:
        """Numbers in the two low-rank matrices of every linear layer but the output layer."""
        width, kv = self.heads * self.head_size, self.kv_heads * self.head_size
        return (
            self.layers
            * rank
            * (2 * (self.hidden + width) + 2 * (self.hidden + kv) + 3 * (self.hidden + self.intermediate))
        )

    @property
    def kv_bytes(self) -> int:
        """Bytes of keys and values per token of context, in 16 bits."""
        return 2 * 2 * self.layers * self.kv_heads * self.head_size

    def training_flops(self, tokens: float, squares: float) -> float:
        """FLOPs of one forward and backward pass, as verl's `FlopsCounter` counts them but for the embedding, which verl counts as a product.

        Args:
            tokens: of all sequences together.
            squares: the sum of the squares of the sequences' lengths.
        """
        return 6 * self.matrix_parameters * tokens + 6 * squares * self.head_size * self.heads * self.layers


def shape_of(config: dict[str, Any]) -> Shape:
    """The shape that a transformers configuration describes.

    Raises:
        KeyError: a field that every decoder of this kind has is missing.
    """
    heads = config["num_attention_heads"]
    return Shape(
        hidden=config["hidden_size"],
        intermediate=config["intermediate_size"],
        layers=config["num_hidden_layers"],
        heads=heads,
        kv_heads=config.get("num_key_value_heads") or heads,
        head_size=config.get("head_dim") or config["hidden_size"] // heads,
        vocabulary=config["vocab_size"],
        tied=bool(config.get("tie_word_embeddings", False)),
        biases=config.get("model_type") == "qwen2",
    )


QWEN_7B = Shape(3584, 18944, 28, 28, 4, 128, 152064, tied=False, biases=True)
PUBLISHED = {
    "Qwen/Qwen2.5-Math-7B": QWEN_7B,
    "Qwen/Qwen2.5-Math-7B-Instruct": QWEN_7B,
    "Qwen/Qwen2.5-Math-1.5B": Shape(1536, 8960, 28, 12, 2, 128, 151936, tied=True, biases=True),
    "Qwen/Qwen2.5-Math-1.5B-Instruct": Shape(1536, 8960, 28, 12, 2, 128, 151936, tied=True, biases=True),
    "Qwen/Qwen2.5-0.5B-Instruct": Shape(896, 4864, 24, 14, 2, 64, 151936, tied=True, biases=True),
    "HuggingFaceTB/SmolLM2-135M-Instruct": Shape(576, 1536, 30, 9, 3, 64, 49152, tied=True, biases=False),
    "meta-llama/Llama-3.1-8B-Instruct": Shape(4096, 14336, 32, 32, 8, 128, 128256, tied=False, biases=False),
}
"""Models that profiles name, by their published config.json, for a forecast before anything is downloaded."""

_VOCABULARY = 750
"""Tokens of the policy that is pre-trained here, about."""


def find_model_folder(model: str, root: Path) -> Path | None:
    """The folder of a model where it can be read now; None for a file, a hub id, or a variable that is not set."""
    try:
        path = root / Path(fill_in(model, os.environ)).expanduser()
    except ModelError:
        return None
    return path if path.is_dir() else None


def read_config(model: str, root: Path) -> dict[str, Any]:
    """A model's `config.json`, empty where it is not known yet or cannot be read."""
    folder = find_model_folder(model, root)
    try:
        return json.loads((folder / "config.json").read_text(encoding="utf-8")) if folder else {}
    except (OSError, ValueError):
        return {}


def find_shape(name: str, root: Path) -> Shape | None:
    """The shape of a model by its folder, its hub id, or the name of its `.gguf` file; None where none of them says it."""
    try:
        filled = fill_in(name, os.environ)
    except ModelError:
        return None
    if filled in PUBLISHED:
        return PUBLISHED[filled]
    if filled.endswith(".gguf"):
        file = Path(filled).name
        return next((shape for hub, shape in PUBLISHED.items() if file.startswith(hub.partition("/")[2])), None)
    try:
        return shape_of(read_config(name, root))
    except KeyError:
        return None


def policy_shape(settings: Settings, root: Path) -> Shape | None:
    """The shape of the model that RL trains; None where it is not known before it is downloaded."""
    if settings.base.pretrain:
        return _pretrained(settings.base.pretrain)
    return find_shape(settings.base.model, root)


def grader_shape(settings: Settings, root: Path) -> Shape | None:
    """The shape of the model that grades: `grade.model`, by default the policy."""
    own = settings.grade.model == type(settings.grade).model_fields["model"].default
    return policy_shape(settings, root) if own else find_shape(settings.grade.model, root)


def _pretrained(asked: Pretrain) -> Shape:
    heads = asked.hidden_size // 32
    return Shape(
        asked.hidden_size, 2 * asked.hidden_size, asked.layers, heads, heads, 32, _VOCABULARY, tied=True, biases=True
    )
