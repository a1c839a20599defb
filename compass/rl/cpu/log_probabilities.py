"""Log-probabilities of tokens from logits, without a kernel for them: in blocks of tokens."""

from __future__ import annotations

import torch

BLOCK = 1 << 24
"""Logits that one block holds."""


def log_probabilities(logits: torch.Tensor, labels: torch.Tensor, block: int = BLOCK) -> torch.Tensor:
    """The log-probability of each label.

    Args:
        logits: (..., vocabulary), single precision.
        labels: (...), token ids.
        block: logits worked on at once; memory grows by as many, not by a copy of all.

    Returns:
        (...), the same as a log-softmax and a gather.
    """
    rows = logits.reshape(-1, logits.shape[-1])
    sums = torch.cat([torch.logsumexp(part, dim=-1) for part in rows.split(max(1, block // rows.shape[-1]))])
    return (rows.gather(-1, labels.reshape(-1, 1)).squeeze(-1) - sums).reshape(labels.shape)
