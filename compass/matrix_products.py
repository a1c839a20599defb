"""Faster products of single-precision matrices, where the CPU has a faster way to the same numbers.

torch multiplies single-precision matrices by MKL, which on processors of other makers than Intel's leaves half of their speed unused. oneDNN,
which torch has as well, does not; torch takes it for such matrices only where a lower precision is allowed. On a processor that
has no unit for that lower precision, oneDNN still computes in single precision: whether it does is measured, and where
it does not, nothing is changed.
"""

from __future__ import annotations

SINGLE = 1e-5
"""The largest error of a product, relative to its largest number, that passes for single precision: 1e-6 is usual, and half precision
has 3e-3."""


def use_fast_products() -> bool:
    """Have this process multiply matrices by oneDNN if that keeps single precision; true if it does so now."""
    import torch

    before, threads = torch.get_float32_matmul_precision(), torch.get_num_threads()
    torch.set_float32_matmul_precision("medium")
    # OpenMP's threads must not start here: a process forked after that would wait for them for ever.
    torch.set_num_threads(1)
    try:
        fast = _error() <= SINGLE
    finally:
        torch.set_num_threads(threads)
    if not fast:
        torch.set_float32_matmul_precision(before)
    return fast


def _error() -> float:
    """How far a product is from the same in double precision: relative to its largest number, of shapes as in a model."""
    import torch

    numbers = torch.Generator().manual_seed(0)
    left, right = (torch.randn(shape, generator=numbers) for shape in ((256, 512), (512, 384)))
    exact = left.double() @ right.double()
    return float(((left @ right).double() - exact).abs().max() / exact.abs().max())
