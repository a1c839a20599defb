"""Muon: momentum whose steps are made orthogonal, matrix by matrix, in single precision.

torch's own computes the orthogonal step in bfloat16. A processor without a unit for it takes about three times as long for
that as for the rest of training the small policy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Of the quintic iteration, which pushes singular values to between 0.5 and 1.5 (Jordan, kellerjordan.github.io/posts/muon)."""
ITERATIONS = 5


class Muon(torch.optim.Optimizer):
    """Nesterov momentum with orthogonal steps, for matrices; a step is larger by the square root of rows over columns where that is above 1.

    Args:
        matrices: parameters with two dimensions.
        lr: how far a step moves, in singular values.
        momentum: share of the mean gradient that a step keeps, 0..1.
    """

    def __init__(self, matrices: Iterable[torch.Tensor], *, lr: float, momentum: float = 0.95) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """Move every matrix that has a gradient by one step."""
        for group in self.param_groups:
            same_shape = defaultdict(list)
            for matrix in group["params"]:
                if matrix.grad is not None:
                    same_shape[matrix.shape].append(matrix)
            for (rows, columns), matrices in same_shape.items():
                updates = orthogonalise(torch.stack([self._momentum(matrix, group["momentum"]) for matrix in matrices]))
                rate = group["lr"] * max(1.0, rows / columns) ** 0.5
                for matrix, update in zip(matrices, updates, strict=True):
                    matrix.sub_(update, alpha=rate)

    def _momentum(self, matrix: torch.Tensor, share: float) -> torch.Tensor:
        state = self.state[matrix]
        if not state:
            state["momentum"] = torch.zeros_like(matrix)
        state["momentum"].lerp_(matrix.grad, 1 - share)
        return matrix.grad.lerp(state["momentum"], share)


def orthogonalise(matrices: torch.Tensor) -> torch.Tensor:
    """Matrices with the same singular vectors, and singular values near 1.

    Args:
        matrices: (matrices, rows, columns).

    Returns:
        The same shape. A matrix of zeros stays one.
    """
    wide = matrices if matrices.shape[1] <= matrices.shape[2] else matrices.transpose(1, 2)
    wide = wide / wide.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    first, second, third = COEFFICIENTS
    for _ in range(ITERATIONS):
        gram = wide @ wide.transpose(1, 2)
        wide = torch.baddbmm(wide, torch.baddbmm(gram, gram, gram, beta=second, alpha=third), wide, beta=first)
    return wide if wide.shape == matrices.shape else wide.transpose(1, 2)
