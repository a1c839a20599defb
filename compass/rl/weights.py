"""Sizes of the weights in a model folder."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path


def tensor_shapes(model: Path) -> dict[str, list[int]]:
    """The tensors of a model folder with their shapes, read from the headers of its safetensors files."""
    return dict(_shapes(model))


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
