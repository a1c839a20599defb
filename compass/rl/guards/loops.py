"""Responses that end in a loop: a passage repeated until the token limit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

REPEATS = 4
"""How often a passage stands at a response's end, one directly after the other, before it is a loop."""

LEAST = 32
"""Tokens that the repetitions cover at least: a few equal digits are no loop."""

LONGEST = 128
"""Tokens of the longest passage that is looked for."""


def looping(responses: Sequence[np.ndarray]) -> np.ndarray:
    """Which responses end in a loop.

    Args:
        responses: token ids of each, without an end-of-sequence token.

    Returns:
        Booleans, one per response.
    """
    width = max(LEAST, REPEATS * LONGEST)
    # Before a response stand ids that equal nothing: no two of them, and no token.
    tails = np.tile(-1 - np.arange(width, dtype=np.int64), (len(responses), 1))
    for row, tokens in zip(tails, responses, strict=True):
        tail = np.asarray(tokens)[-width:]
        if len(tail):
            row[-len(tail) :] = tail
    found = np.zeros(len(responses), dtype=bool)
    for period in range(1, LONGEST + 1):
        covered = max(LEAST, REPEATS * period)
        found |= (tails[:, -covered + period :] == tails[:, -covered:-period]).all(axis=1)
    return found
