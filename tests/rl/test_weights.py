"""The largest weight of a model folder, and the buffer that it travels in."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from compass.rl.weights import largest_weight, transfer_bucket


def weights(folder: Path, name: str, *shapes: tuple[int, ...]) -> Path:
    save_file({str(number): np.zeros(shape, np.uint8) for number, shape in enumerate(shapes)}, folder / name)
    return folder


@pytest.mark.parametrize(
    ("elements", "at_least", "mebibytes"),
    [(16 * 2**20 - 2**18, 64, 64), (16 * 2**20, 64, 65), (16 * 2**20 + 1, 64, 66), (16 * 2**20, 100, 100)],
)
def test_the_largest_weight_fits_whole_into_a_bucket_in_single_precision(
    tmp_path: Path, elements: int, at_least: int, mebibytes: int
) -> None:
    weights(tmp_path, "model.safetensors", (elements,), (3,))
    assert transfer_bucket(tmp_path, at_least) == mebibytes


def test_the_largest_weight_is_sought_in_every_file(tmp_path: Path) -> None:
    weights(tmp_path, "model-00001.safetensors", (3, 5), (4,))
    weights(tmp_path, "model-00002.safetensors", (2, 9), (2, 2))
    weights(tmp_path, "model-00003.safetensors", (7,))
    assert largest_weight(tmp_path) == 18


def test_a_folder_without_weights_has_no_largest(tmp_path: Path) -> None:
    assert largest_weight(tmp_path) == 0
