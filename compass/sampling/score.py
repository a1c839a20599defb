"""Sampled responses scored by the project's verifier, in the same way for grades and benchmarks, whether their text ends in a loop, and
whether they show work."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from compass.loops import ends_in_loop
from compass.operations import count_operations
from compass.progress import report
from compass.verifier import Gold, Judgement, Mode, judge_many
from compass.verifier.extracting.boxes import find_boxes

BARE_WORDS = 12
"""Words beside its answer that a bare answer has at most: "The final answer to this question is"."""


def is_bare_answer(text: str, answer: str | None) -> bool:
    """Whether a response gives its answer and shows no work: few words beside it, and no number or command of LaTeX among them.

    Args:
        text: the response.
        answer: what was read as its answer; None where it gives none, which is no bare answer.
    """
    if answer is None:
        return False
    boxes = find_boxes(text)
    for box in reversed(boxes):
        text = text[: box.start] + text[box.end :]
    beside = text if boxes else " ".join(text.rsplit(answer, 1))
    return len(beside.split()) <= BARE_WORDS and not re.search(r"\d|\\[A-Za-z]", beside)


NO_ANSWER = "none"
"""Outcome of a response that gives no final answer."""

OUTCOMES = ("equal", "different", "unrecognised", NO_ANSWER)
"""What becomes of a response: the verdict on its answer, or that it gives none."""

SCORES = pa.schema(
    [
        ("answer", pa.string()),
        ("answer_lenient", pa.string()),
        ("correct", pa.bool_()),
        ("correct_lenient", pa.bool_()),
        ("outcome", pa.string()),
        ("method", pa.string()),
        ("leniencies", pa.string()),
        ("evidence_lenient", pa.string()),
        ("boxed", pa.bool_()),
        ("looped", pa.bool_()),
        ("bare", pa.bool_()),
        ("operations", pa.int32()),
    ]
)
"""Columns that scoring adds.

`answer` and `answer_lenient`: the final answer as the verifier's strict and lenient mode read it, null where the response
gives none. `correct` and `correct_lenient`: whether it equals the gold. Of the strict mode: `outcome` (`equal`, `different`,
`unrecognised`, or `none` where there is no answer), `method` (the verifier's tier that decided; null where there is no
answer) and `leniencies` (the rules that the verdict leans on, joined by commas). `evidence_lenient`: what gives the answer in the lenient
mode, or why there is none (`compass.verifier.extract.Reading`). `boxed`: the answer was given in a
`\\boxed{}`. `looped`: the response ends in a loop. `bare`: it shows no work
(`is_bare_answer`). `operations`: those between numbers that it works out (`compass.operations.count_operations`).
"""


def score_responses(
    responses: pa.Table,
    golds: Mapping[str, str | Gold],
    problems: Mapping[str, str] | None = None,
    processes: int | None = None,
) -> pa.Table:
    """Responses with the columns of `SCORES`.

    A response that `max_tokens` cut off is scored by the answer it gives, if any. An answer that the verifier
    cannot read is not correct. Each distinct pair of gold and answer is verified once.

    Args:
        responses: columns `id` and `response`.
        golds: id to gold answer, with its alternatives and tolerance where it has them.
        problems: id to the problem's text, so that a formula copied from it is not correct.
        processes: how many processes verify answers; every core by default.

    Raises:
        KeyError: a response to a problem that `golds` does not hold.
    """
    texts = [text or "" for text in responses.column("response").to_pylist()]
    names = responses.column("id").to_pylist()
    pairs = list(zip((golds[name] for name in names), texts, strict=True))
    asked = [problems[name] for name in names] if problems is not None else None
    strict = judge_many(pairs, processes, questions=asked, on_progress=partial(report, unit="answers", phase="scoring"))
    lenient = judge_many(
        pairs,
        processes,
        questions=asked,
        mode=Mode.LENIENT,
        on_progress=partial(report, unit="answers", phase="scoring leniently"),
    )
    rows = [describe_scored(*one) for one in zip(texts, strict, lenient, strict=True)]
    for field in SCORES:
        responses = responses.append_column(field, pa.array([row[field.name] for row in rows], type=field.type))
    return responses


def describe_scored(text: str, strict: Judgement, lenient: Judgement) -> dict[str, Any]:
    """The values of `SCORES` of one response, from its judgements in both modes."""
    return {
        "answer": strict.answer,
        "answer_lenient": lenient.answer,
        "correct": strict.equal,
        "correct_lenient": lenient.equal,
        "outcome": outcome(strict),
        "method": None if strict.answer is None else strict.verdict.method,
        "leniencies": ",".join(strict.verdict.leniencies),
        "evidence_lenient": lenient.evidence,
        "boxed": strict.answer is not None and "\\boxed" in text,
        "looped": ends_in_loop(text),
        "bare": is_bare_answer(text, lenient.answer),
        "operations": count_operations(text),
    }


def outcome(judgement: Judgement) -> str:
    """`equal`, `different`, `unrecognised`, or `none` where the response gives no answer."""
    return NO_ANSWER if judgement.answer is None else str(judgement.verdict.outcome)
