"""Sampled responses scored by the project's verifier, in the same way for grades and benchmarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pyarrow as pa

from compass.verifier import Mode, judge_many

SCORES = pa.schema(
    [
        ("answer", pa.string()),
        ("correct", pa.bool_()),
        ("boxed", pa.bool_()),
        ("correct_lenient", pa.bool_()),
        ("leniencies", pa.string()),
    ]
)
"""Columns that scoring adds: the final answer (null where the response gives none), whether it equals the gold, whether it was
given in a `\\boxed{}`, whether the verifier's lenient mode calls the response right, and what the verdict leaned on (names joined
by commas)."""


def score_responses(
    responses: pa.Table, golds: Mapping[str, str], problems: Mapping[str, str] | None = None
) -> pa.Table:
    """Responses with the columns of `SCORES`.

    A response that `max_tokens` cut off is scored by the answer it gives, if any. An answer that the verifier
    cannot read is not correct. Each distinct pair of gold and answer is verified once.

    Args:
        responses: columns `id` and `response`.
        golds: id to gold answer.
        problems: id to the problem's text, so that a formula copied from it is not correct.

    Raises:
        KeyError: a response to a problem that `golds` does not hold.
    """
    texts = [text or "" for text in responses.column("response").to_pylist()]
    names = responses.column("id").to_pylist()
    pairs = list(zip((golds[name] for name in names), texts, strict=True))
    judgements = judge_many(pairs, questions=[problems[name] for name in names] if problems is not None else None)
    lenient = judge_many(pairs, mode=Mode.LENIENT)
    columns = {
        "answer": [judgement.answer for judgement in judgements],
        "correct": [judgement.equal for judgement in judgements],
        "boxed": [
            judgement.answer is not None and "\\boxed" in text
            for judgement, text in zip(judgements, texts, strict=True)
        ],
        "correct_lenient": [judgement.equal for judgement in lenient],
        "leniencies": [",".join(judgement.verdict.leniencies) for judgement in judgements],
    }
    for field in SCORES:
        responses = responses.append_column(field, pa.array(columns[field.name], type=field.type))
    return responses


def leaned_shares(scored: pa.Table) -> dict[str, float]:
    """Of the right responses the share (0..1) whose verdict leans on each rule, by the rule's name; rules that none leans on are left out.

    Args:
        scored: columns `correct` and `leniencies`.
    """
    right = [
        names
        for names, correct in zip(*(scored.column(name).to_pylist() for name in ("leniencies", "correct")), strict=True)
        if correct
    ]
    counts = Counter(name for names in right for name in names.split(",") if name)
    return {name: counts[name] / len(right) for name in sorted(counts)}
