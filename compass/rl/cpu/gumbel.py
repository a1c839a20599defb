"""Draw tokens from logits by the Gumbel-max trick: add Gumbel noise to every logit and take the largest."""

from __future__ import annotations

import torch


def sample(logits: torch.Tensor) -> torch.Tensor:
    """One token a row, drawn from the softmax of its logits with torch's default generator.

    The noise is made from uniform numbers: torch's `exponential_` draws one number after the other in double precision,
    which takes longer than the rest of the draw. A uniform number of exactly 0 only rules its token out for this draw.

    Args:
        logits: (rows, vocabulary); -inf for a token that must not be drawn.

    Returns:
        (rows,), token ids.
    """
    minus_noise = torch.rand_like(logits, dtype=torch.float32).log_().neg_().log_()
    return (logits - minus_noise).argmax(dim=-1)
