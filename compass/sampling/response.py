"""One response that is wanted, one that was sampled, and the table that responses are kept in."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import lru_cache

import pyarrow as pa

CUT_OFF = "length"
"""Finish reason of a response that `max_tokens` ended."""

PROMPT_TOO_LONG = "prompt_too_long"
"""Finish reason of a problem that was not sampled because its prompt leaves no room for `max_tokens`."""

UNFINISHED = "unfinished"
"""Finish reason of a response that was sampled up to the end of a stretch and goes on."""

FAILED = "failed"
"""Finish reason of a problem that ended one engine after the other: nothing is known of its response, and a later start tries it again."""

NOT_SAMPLED = (PROMPT_TOO_LONG, FAILED)
"""Finish reasons without a response: no sample, neither right nor wrong."""

RESPONSES = pa.schema(
    [
        ("id", pa.string()),
        ("sample", pa.int32()),
        ("greedy", pa.bool_()),
        ("tokens", pa.int32()),
        ("seconds", pa.float64()),
        ("finish_reason", pa.string()),
        ("response", pa.large_string()),
    ]
)
"""Columns of sampled responses.

`tokens` counts sampled tokens with the end token. `seconds` is the response's share of the wall time of sampling, by tokens: over all
responses it adds up to the time that sampling took. `response` is a large string: all responses together may hold more than the 2 GiB
that a string column can address. `finish_reason` is `stop`, `CUT_OFF`, `PROMPT_TOO_LONG` or `FAILED`.
"""


@dataclass(frozen=True)
class Wanted:
    """A response to sample: the sample's number among those of its problem, or the greedy one (`sample` 0), and what there is of it."""

    id: str
    problem: str
    sample: int
    greedy: bool
    begun: tuple[int, ...] = ()
    """Tokens that an earlier run sampled; whole stretches."""

    seconds: float = 0.0
    """What they took."""

    def begun_with(self, tokens: tuple[int, ...], seconds: float) -> Wanted:
        """The same response with the beginning that a stopped run left."""
        return replace(self, begun=tokens, seconds=seconds)

    @property
    def key(self) -> tuple[str, int, bool]:
        """What identifies the response within a setup: the digest of the problem's id and text, the sample, whether it is greedy."""
        return problem_key(self.id, self.problem), self.sample, self.greedy


@dataclass(frozen=True)
class Response:
    """A response, or with `finish_reason` `unfinished` its beginning, whose `token_ids` it goes on from."""

    wanted: Wanted
    tokens: int
    finish_reason: str
    text: str
    token_ids: tuple[int, ...] = ()


@lru_cache(maxsize=4096)  # of one problem many responses end one after the other
def problem_key(id_: str, problem: str) -> str:
    """16 hex digits that stand for a problem: another text under the same id is another problem."""
    return hashlib.blake2b(f"{id_}\0{problem}".encode(), digest_size=8).hexdigest()
