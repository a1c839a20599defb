"""One sampled response, and the table that responses are kept in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa

PROMPT_TOO_LONG = "prompt_too_long"
"""Finish reason of a problem that was not sampled because its prompt leaves no room for `max_tokens`."""

RESPONSES = pa.schema(
    [
        ("id", pa.string()),
        ("sample", pa.int32()),
        ("greedy", pa.bool_()),
        ("tokens", pa.int32()),
        ("finish_reason", pa.string()),
        ("response", pa.string()),
    ]
)
"""Columns of sampled responses."""


@dataclass(frozen=True)
class Response:
    """One response: `tokens` counts sampled tokens with the end token, `finish_reason` is `stop`, `length` or `prompt_too_long`."""

    id: str
    sample: int
    greedy: bool
    tokens: int
    finish_reason: str
    text: str


def responses_table(responses: Sequence[Response]) -> pa.Table:
    """The responses as a table of `RESPONSES`, in their order; their text is the column `response`."""
    rows = [{**asdict(response), "response": response.text} for response in responses]
    return pa.Table.from_pylist(rows, schema=RESPONSES)
