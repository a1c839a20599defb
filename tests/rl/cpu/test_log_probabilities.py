"""Blocks change neither values nor gradients."""

import pytest
import torch

from compass.rl.cpu.log_probabilities import log_probabilities


@pytest.mark.parametrize("block", [1, 100, 1 << 24])
def test_values_and_gradients_are_those_of_a_log_softmax(block: int) -> None:
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 11, (3, 7), generator=generator)
    weights = torch.randn(3, 7, generator=generator)
    ours = (torch.randn(3, 7, 11, generator=generator) * 20).requires_grad_()
    reference = ours.detach().clone().requires_grad_()

    found = log_probabilities(ours, labels, block)
    expected = reference.log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(found, expected)

    (found * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(ours.grad, reference.grad)
