"""Sampling that continues where it was stopped, and that samples nothing twice.

What is missing in the store is sampled and written every few seconds, with the beginnings of long responses; no engine is started
when nothing is missing. What is wanted and what is sampled are streams: memory does not grow with the number of responses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compass.progress import report, report_phase
from compass.sampling.engines import choose_engine, setup_facts
from compass.sampling.model_source import Model, SamplingError, Server
from compass.sampling.response import PROMPT_TOO_LONG, RESPONSES, UNFINISHED, Response, Wanted, problem_key
from compass.sampling.store import ROW_BYTES, Key, Store
from compass.settings import Engines, Sampling

DIGESTS = "digests.json"
"""File beside the stores that remembers the digests of weights."""

FLUSH_SECONDS = 15.0
"""Seconds of finished work that a killed process loses at most."""

FLUSH_BYTES = 16 << 20
"""Texts and tokens in hand after which they are written earlier."""

PIECE_BYTES = 4 << 20
"""Responses that are handed on together: so many bytes, and whole problems."""


ON_EVERY_GPU = Engines()
"""The engines where no settings say otherwise."""


def sample_responses(problems: Mapping[str, str], **options: Any) -> pa.Table:
    """What `stream_responses` yields for the same arguments, as one table in memory."""
    return pa.concat_tables([RESPONSES.empty_table(), *stream_responses(problems, **options)]).combine_chunks()


def stream_responses(
    problems: Mapping[str, str],
    *,
    model: Model | Server,
    sampling: Sampling,
    n: int,
    first: int = 0,
    greedy: bool = False,
    seed: int,
    folder: str | Path,
    what: str = "responses",
    engines: Engines = ON_EVERY_GPU,
    open_engine: Callable[[Any, Sampling], Any] | None = None,
) -> Iterator[pa.Table]:
    """Sample `n` responses for each problem (and a greedy one), taking over every response that an earlier run left.

    Args:
        problems: id to text.
        model: the model to sample from.
        sampling: how.
        n: samples per problem.
        first: the number of the first of them.
        greedy: also decode each problem greedily.
        seed: the run's seed.
        folder: where resumable work is kept, such as `work/grade`; a subfolder is made for this setup.
        what: named in the reports of progress.
        engines: on what is sampled; the responses are the same.
        open_engine: how the engine is started, if one is needed; by default as `engines` say.

    Yields:
        Tables of `RESPONSES` in the order of `problems`, a problem's samples before its greedy response, each table as soon as
        its problems and those before them are finished. Where one table ends and the next begins depends on the responses alone.

    Raises:
        SamplingError: every prompt is too long, or the store cannot be used.
    """
    kinds = [(number, False) for number in range(first, first + n)] + [(0, True)] * greedy
    total = len(problems) * len(kinds)
    if not total:
        return
    start = open_engine or partial(choose_engine, engines=engines)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with Store(folder, setup_facts(model, sampling, seed=seed, cache=folder / DIGESTS)) as store:
        pieces = _Pieces(store, problems, kinds)
        done = sum(store.finished(problem_key(*problem), kinds) for problem in problems.items())
        if done < total:
            report_phase(f"{what}: starting the engine")
            with start(model, sampling) as engine:
                sampled = engine.sample(_missing(store, problems, kinds), seed=seed)
                for _ in _fill(store, _reported(sampled, what, total, done)):
                    yield from pieces.finished()
        yield from pieces.finished()
        if pieces.too_long == total:
            raise SamplingError(
                f"{what}: every prompt is longer than `max_model_len` - `max_tokens` = "
                f"{sampling.max_model_len - sampling.max_tokens} tokens; raise `sampling.max_model_len`"
            )


def _missing(store: Store, problems: Mapping[str, str], kinds: list[tuple[int, bool]]) -> Iterator[Wanted]:
    """What is not finished, with its beginnings, all samples before all greedy responses: an engine decodes one kind at a time."""
    for greedy in (False, True):
        for id_, problem in problems.items():
            for kind in kinds:
                if kind[1] == greedy and not store.finished(problem_key(id_, problem), [kind]):
                    yield store.begun(Wanted(id_, problem, *kind))


class _Pieces:
    """The responses of all problems in their order, in tables of about `PIECE_BYTES`."""

    def __init__(self, store: Store, problems: Mapping[str, str], kinds: list[tuple[int, bool]]) -> None:
        self._store, self._kinds = store, kinds
        self._keys = [problem_key(*problem) for problem in problems.items()]
        self._handed, self._seen, self._size = 0, 0, 0
        self.too_long = 0
        """Responses handed on whose prompt was too long."""

    def finished(self) -> Iterator[pa.Table]:
        """What is whole by now and was not handed on; the last piece once every problem is finished."""
        while self._seen < len(self._keys):
            key = self._keys[self._seen]
            if self._store.finished(key, self._kinds) < len(self._kinds):
                return
            self._seen += 1
            self._size += self._store.size(key)
            if self._size >= PIECE_BYTES or self._seen == len(self._keys):
                piece = self._store.take(self._keys[self._handed : self._seen], self._kinds)
                self._handed, self._size = self._seen, 0
                self.too_long += pc.sum(pc.equal(piece.column("finish_reason"), PROMPT_TOO_LONG)).as_py()
                yield piece


def _reported(sampled: Iterable[Response], what: str, total: int, done: int) -> Iterator[Response]:
    """Yield what an engine samples, and report finished responses and tokens per second; an earlier run left `done` of `total`."""
    began, tokens = time.monotonic(), 0
    lengths: dict[Key, int] = {}  # of those that are not finished
    report(done, total, "responses", what)
    for response in sampled:
        tokens += response.tokens - lengths.pop(response.wanted.key, len(response.wanted.begun))
        if response.finish_reason == UNFINISHED:
            lengths[response.wanted.key] = response.tokens
        else:
            done += 1
        rate = f"{tokens / max(time.monotonic() - began, 1e-9):,.0f} tokens/s"
        report(done, total, "responses", what, detail=rate)
        yield response


def _fill(store: Store, sampled: Iterable[Response]) -> Iterator[None]:
    """Write what an engine samples, every few seconds and at the end, be that an error or not; yields after each writing."""
    waiting: dict[Key, Response] = {}  # of every response what came last
    tokens: dict[Key, int] = {}  # of those that are not finished
    seconds: dict[Key, float] = {}
    fresh: dict[Key, int] = {}  # tokens since the last writing
    since, size = time.monotonic(), 0

    def flush() -> None:
        nonlocal since, size
        now = time.monotonic()
        each = (now - since) / max(1, sum(fresh.values()))
        timed = []
        for key, response in waiting.items():
            seconds[key] = seconds.get(key, response.wanted.seconds) + fresh[key] * each
            timed.append((response, seconds[key]))
            if response.finish_reason != UNFINISHED:
                del tokens[key], seconds[key]
        store.add(timed)
        waiting.clear()
        fresh.clear()
        since, size = now, 0

    try:
        for response in sampled:
            key = response.wanted.key
            more = response.tokens - tokens.get(key, len(response.wanted.begun))
            tokens[key], fresh[key], waiting[key] = response.tokens, fresh.get(key, 0) + more, response
            size += len(response.text) + 4 * len(response.token_ids) + ROW_BYTES
            if size >= FLUSH_BYTES or time.monotonic() - since >= FLUSH_SECONDS:
                flush()
                yield
    finally:
        flush()
