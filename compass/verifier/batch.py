"""Many answers: pairs verified over several processes, and equal answers brought together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import TypeVar

from compass.machine import cores
from compass.verifier.extract import Mode, read_answer
from compass.verifier.gold import Gold, split_alternatives
from compass.verifier.reward import NO_ANSWER, Judgement, judge_answer, list_sides
from compass.verifier.verdict import Verdict
from compass.verifier.verify import verify
from compass.verifier.warm import warm

CHUNK = 500
SMALL = 2_000
FEW = 100
"""Fewer pairs than this are verified before sympy's process could start."""


def verify_many(
    pairs: Iterable[tuple[str | Gold, str]],
    processes: int | None = None,
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Verdict]:
    """Verdicts on `(gold, answer)` pairs, in their order.

    Args:
        pairs: gold and answer, as for `verify`.
        processes: how many processes share the work; every core this process may use by default. Small jobs, and
            `processes=1`, run in this process.
        on_progress: called now and then with how many pairs are done, and how many there are.

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
        return _gather(map(_chunk, _chunks(work)), len(work), on_progress)
    from concurrent.futures import ProcessPoolExecutor  # slow to import, and only needed here
    from multiprocessing import get_context

    from compass.parallel import without_main

    chunks = _chunks(work)
    context = get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(chunks)), context, initializer=partial(warm, wait=False)) as pool:
        with without_main():
            verdicts = pool.map(_chunk, chunks)
        return _gather(verdicts, len(work), on_progress)


def judge_many(
    pairs: Iterable[tuple[str | Gold, str]],
    processes: int | None = None,
    *,
    questions: Iterable[str | None] | None = None,
    mode: Mode = Mode.STRICT,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Judgement]:
    """Judgements on `(gold, response)` pairs, in their order; each distinct gold and final answer is verified once.

    Args:
        pairs: gold and response, as for `judge`.
        processes: how many processes share the work, as for `verify_many`.
        questions: the problem's text of each pair.
        mode: how strictly responses are read.
        on_progress: as for `verify_many`, which counts distinct golds and final answers.

    Raises:
        ValueError: not as many questions as pairs.
    """
    given = list(pairs)
    asked = [None] * len(given) if questions is None else list(questions)
    readings = [read_answer(response, mode, question) for (_, response), question in zip(given, asked, strict=True)]
    answered = [(gold, reading.answer) for (gold, _), reading in zip(given, readings, strict=True)]
    distinct = list(
        dict.fromkeys(
            (one, side)
            for (gold, answer), question in zip(answered, asked, strict=True)
            if answer is not None
            for one in split_alternatives(gold)
            for side in list_sides(answer, question)
        )
    )
    verdicts = dict(zip(distinct, verify_many(distinct, processes, on_progress=on_progress), strict=True))
    formed: dict[tuple[str | Gold, str, str | None], Verdict] = {}
    for (gold, answer), question in zip(answered, asked, strict=True):
        if answer is not None and (gold, answer, question) not in formed:
            formed[gold, answer, question] = judge_answer(
                gold, answer, question, mode, lambda one, side: verdicts[one, side]
            )
    return [
        Judgement(reading.answer, formed.get((gold, reading.answer or "", question), NO_ANSWER), reading.evidence)
        for (gold, _), question, reading in zip(answered, asked, readings, strict=True)
    ]


def _chunks(work: list[tuple[str | Gold, str]]) -> list[list[tuple[str | Gold, str]]]:
    return [work[start : start + CHUNK] for start in range(0, len(work), CHUNK)]


def _gather(
    chunks: Iterable[list[Verdict]], total: int, on_progress: Callable[[int, int], None] | None
) -> list[Verdict]:
    verdicts: list[Verdict] = []
    for chunk in chunks:
        verdicts += chunk
        if on_progress is not None:
            on_progress(len(verdicts), total)
    return verdicts


def _chunk(pairs: list[tuple[str | Gold, str]]) -> list[Verdict]:
    return [verify(gold=gold, answer=answer) for gold, answer in pairs]


Answer = TypeVar("Answer", bound=Hashable)


def same_answer(one: str, other: str) -> bool:
    """Whether the verifier calls two answers equal, the first taken as the gold."""
    return verify(gold=one, answer=other).equal


def group_equal(answers: Iterable[Answer], equal: Callable[[Answer, Answer], bool] = same_answer) -> list[int]:
    """A group for each answer, numbered in the order in which their first members come.

    An answer joins the first group whose first member it equals, letter by letter or by `equal(first member, answer)`.
    """
    firsts: list[Answer] = []
    known: dict[Answer, int] = {}
    for answer in (answers := list(answers)):
        if answer not in known:
            group = next((group for group, first in enumerate(firsts) if equal(first, answer)), len(firsts))
            if group == len(firsts):
                firsts.append(answer)
            known[answer] = group
    return [known[answer] for answer in answers]
