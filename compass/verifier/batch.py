"""Many comparisons over several processes, for data filters and scores."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from compass.machine import cores
from compass.verifier.extract import extract_answer
from compass.verifier.reward import NO_ANSWER, Judgement
from compass.verifier.verdict import Verdict
from compass.verifier.verify import verify
from compass.verifier.warm import warm

CHUNK = 500
SMALL = 2_000
FEW = 100
"""Fewer pairs than this are verified before sympy's process could start."""


def verify_many(pairs: Iterable[tuple[str, str]], processes: int | None = None) -> list[Verdict]:
    """Verdicts on `(gold, answer)` pairs, in their order.

    Args:
        pairs: gold and answer, as for `verify`.
        processes: how many processes share the work; every core this process may use by default. Small jobs, and
            `processes=1`, run in this process.

    Raises:
        ValueError: fewer than one process.
    """
    work = list(pairs)
    if processes is None:
        processes = cores()
    if processes < 1:
        raise ValueError(f"processes must be at least 1, found {processes}")
    if processes == 1 or len(work) < SMALL:
        if len(work) >= FEW:
            warm(wait=False)
        return _chunk(work)
    from concurrent.futures import ProcessPoolExecutor  # slow to import, and only needed here
    from multiprocessing import get_context

    chunks = [work[start : start + CHUNK] for start in range(0, len(work), CHUNK)]
    context = get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(chunks)), context, initializer=partial(warm, wait=False)) as pool:
        return [verdict for chunk in pool.map(_chunk, chunks) for verdict in chunk]


def judge_many(pairs: Iterable[tuple[str, str]], processes: int | None = None) -> list[Judgement]:
    """Judgements on `(gold, response)` pairs, in their order; each distinct gold and final answer is verified once."""
    answered = [(gold, extract_answer(response)) for gold, response in pairs]
    distinct = list(dict.fromkeys((gold, answer) for gold, answer in answered if answer is not None))
    verdicts = dict(zip(distinct, verify_many(distinct, processes), strict=True))
    return [Judgement(answer, verdicts.get((gold, answer), NO_ANSWER)) for gold, answer in answered]


def _chunk(pairs: list[tuple[str, str]]) -> list[Verdict]:
    return [verify(gold=gold, answer=answer) for gold, answer in pairs]
