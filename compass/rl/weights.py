"""The weights in a model folder: their sizes, and how a critic loads them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def tensor_shapes(model: Path) -> dict[str, list[int]]:
    """The tensors of a model folder with their shapes, read from the headers of its safetensors files."""
    return dict(_shapes(model))


def lora_parameters(model: Path, rank: int) -> int:
    """Numbers in the two low-rank matrices of every linear layer but the output layer (peft's `all-linear`), about: any other matrix counts as one.

    Args:
        model: a model folder.
        rank: of the matrices.
    """
    others = ("embed_tokens.weight", "lm_head.weight")
    return sum(rank * sum(shape) for name, shape in _shapes(model) if len(shape) == 2 and not name.endswith(others))


def largest_weight(model: Path) -> int:
    """Elements of the largest tensor in a model folder; 0 where it holds no weights."""
    return max((math.prod(shape) for _, shape in _shapes(model)), default=0)


def _shapes(model: Path) -> Iterator[tuple[str, list[int]]]:
    from safetensors import safe_open

    for path in sorted(model.glob("*.safetensors")):
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118
                yield name, list(file.get_slice(name).get_shape())


def transfer_bucket(model: Path, at_least: int) -> int:
    """MiB of the buffer in which weights travel to the rollouts: the largest fits whole in single precision.

    Args:
        model: the folder of the weights that a stage starts from.
        at_least: MiB that it has in any case.
    """
    return max(at_least, -(-4 * largest_weight(model) // 2**20) + 1)


def load_value_model(local_path: str, torch_dtype: Any, model_config: Any, trust_remote_code: bool) -> Any:
    """The weights of a language model without its output layer, and a head of one number per token.

    Args:
        local_path: the language model's folder.
        torch_dtype: the type of its parameters.
        model_config: transformers' configuration, with the attention to use, one label and `value_head_seed`.
        trust_remote_code: run code that comes with the model.
    """
    import torch
    from transformers import AutoModelForTokenClassification

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(model_config.value_head_seed)
        return AutoModelForTokenClassification.from_pretrained(
            local_path, dtype=torch_dtype, config=model_config, trust_remote_code=trust_remote_code
        )


def replace_loader() -> None:
    """Have verl load value models in this way; it looks the function up when it makes one."""
    import verl.utils.model

    verl.utils.model.load_valuehead_model = load_value_model
