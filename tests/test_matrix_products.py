"""Products of matrices stay in single precision, whatever the processor."""

import subprocess
import sys

import pytest
import torch

from compass import matrix_products


@pytest.fixture(autouse=True)
def precision():
    before = torch.get_float32_matmul_precision()
    yield
    torch.set_float32_matmul_precision(before)


def test_products_are_in_single_precision_afterwards():
    matrix_products.use_fast_products()
    assert matrix_products._error() <= matrix_products.SINGLE


def test_nothing_changes_where_the_processor_would_round_more(monkeypatch):
    monkeypatch.setattr(matrix_products, "_error", lambda: 1e-3)
    torch.set_float32_matmul_precision("highest")
    assert matrix_products.use_fast_products() is False
    assert torch.get_float32_matmul_precision() == "highest"


def test_half_precision_would_be_noticed():
    numbers = torch.Generator().manual_seed(0)
    left, right = torch.randn(256, 512, generator=numbers), torch.randn(512, 384, generator=numbers)
    exact = left.double() @ right.double()
    rounded = (left.bfloat16() @ right.bfloat16()).double()
    assert (rounded - exact).abs().max() / exact.abs().max() > 100 * matrix_products.SINGLE


FORKS = """
import os, sys
from compass.matrix_products import use_fast_products
use_fast_products()
import torch
torch.set_num_threads(2)
child = os.fork()
if child == 0:
    torch.randn(2048, 2048) @ torch.randn(2048, 2048)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_forked_afterwards_can_multiply():
    assert subprocess.run([sys.executable, "-c", FORKS], timeout=600, check=False).returncode == 0
