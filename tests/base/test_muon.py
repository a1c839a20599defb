"""Muon in single precision against torch's own, which rounds to bfloat16, and against the singular values that it should bring near 1."""

from __future__ import annotations

import pytest
import torch

from compass.base.muon import Muon, orthogonalise

SHAPES = [(8, 8), (16, 8), (8, 16), (8, 8)]


def test_steps_as_torch_does() -> None:
    start = [torch.randn(shape, generator=torch.Generator().manual_seed(i)) for i, shape in enumerate(SHAPES)]
    ours, theirs = ([matrix.clone().requires_grad_() for matrix in start] for _ in range(2))
    optimizers = [Muon(ours, lr=0.1), torch.optim.Muon(theirs, lr=0.1, momentum=0.95, weight_decay=0.0)]
    for seed in range(4):
        for matrices in (ours, theirs):
            for index, matrix in enumerate(matrices):
                matrix.grad = torch.randn(matrix.shape, generator=torch.Generator().manual_seed(100 * seed + index))
        for optimizer in optimizers:
            optimizer.step()
    for matrix, other, first in zip(ours, theirs, start, strict=True):
        moved, expected = matrix.detach() - first, other.detach() - first
        assert (moved - expected).norm() < 0.02 * expected.norm()


@pytest.mark.parametrize("shape", SHAPES)
def test_singular_values_come_near_one(shape: tuple[int, int]) -> None:
    matrix = torch.randn((1, *shape), generator=torch.Generator().manual_seed(0))
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    new = orthogonalise(matrix)
    values = (left.transpose(1, 2) @ new @ right.transpose(1, 2))[0]
    assert torch.allclose(values, torch.diag(values.diagonal()), atol=1e-4)
    assert 0.4 < values.diagonal().min() <= values.diagonal().max() < 1.5


def test_a_matrix_without_gradient_stays() -> None:
    matrices = [torch.ones((2, 2), requires_grad=True) for _ in range(2)]
    matrices[0].grad = torch.zeros((2, 2))
    Muon(matrices, lr=0.1).step()
    assert all(torch.equal(matrix, torch.ones((2, 2))) for matrix in matrices)
