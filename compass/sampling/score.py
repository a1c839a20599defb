"""Sampled responses scored by the project's verifier, in the same way for grades and benchmarks."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from compass.verifier import judge_many

SCORES = pa.schema([("answer", pa.string()), ("correct", pa.bool_()), ("boxed", pa.bool_())])
"""Columns that scoring adds: the final answer (null where the response gives none), whether it equals the gold, and
whether it was given in a `\\boxed{}`."""


def score_responses(responses: pa.Table, golds: Mapping[str, str]) -> pa.Table:
    """Responses with the columns of `SCORES`.

    A response that `max_tokens` cut off is scored by the answer it gives, if any. An answer that the verifier
    cannot read is not correct. Each distinct pair of gold and answer is verified once.

    Args:
        responses: columns `id` and `response`.
        golds: id to gold answer.

    Raises:
        KeyError: a response to a problem that `golds` does not hold.
    """
    texts = [text or "" for text in responses.column("response").to_pylist()]
    judgements = judge_many(zip((golds[name] for name in responses.column("id").to_pylist()), texts, strict=True))
    columns = {
        "answer": [judgement.answer for judgement in judgements],
        "correct": [judgement.equal for judgement in judgements],
        "boxed": [
            judgement.answer is not None and "\\boxed" in text
            for judgement, text in zip(judgements, texts, strict=True)
        ],
    }
    for field in SCORES:
        responses = responses.append_column(field, pa.array(columns[field.name], type=field.type))
    return responses
