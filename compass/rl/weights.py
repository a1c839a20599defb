"""Sizes of the weights in a model folder."""

from __future__ import annotations

import math
from pathlib import Path


def largest_weight(model: Path) -> int:
    """Elements of the largest tensor in a model folder; 0 where it holds no weights."""
    from safetensors import safe_open

    largest = 0
    for path in sorted(model.glob("*.safetensors")):
        with safe_open(path, framework="numpy") as file:
            names = file.keys()
            largest = max([largest, *(math.prod(file.get_slice(name).get_shape()) for name in names)])
    return largest


def transfer_bucket(model: Path, at_least: int) -> int:
    """MiB of the buffer in which weights travel to the rollouts: the largest fits whole in single precision.

    Args:
        model: the folder of the weights that a stage starts from.
        at_least: MiB that it has in any case.
    """
    return max(at_least, -(-4 * largest_weight(model) // 2**20) + 1)
