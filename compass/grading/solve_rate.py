"""Solve rates from scored rollouts: the share of a problem's samples that are right (report, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from compass.sampling.response import PROMPT_TOO_LONG


@dataclass(frozen=True)
class SolveRate:
    """One problem's rollouts: how many, the share that is right, and their mean length in tokens."""

    rollouts: int
    rate: float
    mean_tokens: float


def solve_rates(rollouts: pa.Table) -> dict[str, SolveRate]:
    """Solve rate by problem id.

    Args:
        rollouts: columns `id`, `correct`, `tokens`, `finish_reason`. Problems whose prompt was too long to sample
            have no solve rate.
    """
    sampled = rollouts.filter(pc.not_equal(rollouts.column("finish_reason"), PROMPT_TOO_LONG))
    counts: dict[str, list[int]] = {}
    for name, correct, tokens in _rows(sampled, ("id", "correct", "tokens")):
        count = counts.setdefault(name, [0, 0, 0])
        count[0] += 1
        count[1] += correct
        count[2] += tokens
    return {name: SolveRate(n, right / n, tokens / n) for name, (n, right, tokens) in counts.items()}


def _rows(table: pa.Table, columns: tuple[str, ...]) -> Iterable[tuple]:
    return zip(*(table.column(name).to_pylist() for name in columns), strict=True)
