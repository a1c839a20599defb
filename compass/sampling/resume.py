"""Sampling that continues where it was stopped, and that samples nothing twice.

What is missing in the store is sampled and written every few seconds, with the beginnings of long responses; no engine is started
when nothing is missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compass.progress import report_phase
from compass.sampling.engine import Engine
from compass.sampling.model_source import Model, SamplingError, Server
from compass.sampling.progress import SamplingProgress
from compass.sampling.response import PROMPT_TOO_LONG, RESPONSES, UNFINISHED, Response, Wanted
from compass.sampling.server import ServerEngine
from compass.sampling.store import Key, Store, setup_facts
from compass.settings import Sampling

DIGESTS = "digests.json"
"""File beside the stores that remembers the digests of weights."""

FLUSH_SECONDS = 15.0
"""Seconds of finished work that a killed process loses at most."""


def sample_responses(
    problems: Mapping[str, str],
    *,
    model: Model | Server,
    sampling: Sampling,
    n: int,
    greedy: bool = False,
    seed: int,
    folder: str | Path,
    what: str = "responses",
    open_engine: Callable[[Any, Sampling], Any] | None = None,
) -> pa.Table:
    """Sample `n` responses for each problem (and a greedy one), taking over every response that an earlier run left.

    Args:
        problems: id to text.
        model: the model to sample from.
        sampling: how.
        n: samples per problem.
        greedy: also decode each problem greedily.
        seed: the run's seed.
        folder: where resumable work is kept, such as `work/grade`; a subfolder is made for this setup.
        what: named in the progress bar.
        open_engine: how the engine is started, if one is needed; by default as the model asks for.

    Returns:
        A table of `RESPONSES`, in the order of `problems`, a problem's samples before its greedy response.

    Raises:
        SamplingError: every prompt is too long, or the store cannot be used.
    """
    kinds = [(number, False) for number in range(n)] + [(0, True)] * greedy
    wanted = [Wanted(id_, problem, *kind) for id_, problem in problems.items() for kind in kinds]
    if not wanted:
        return RESPONSES.empty_table()
    start = open_engine or (ServerEngine if isinstance(model, Server) else Engine)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with Store(folder, setup_facts(model, sampling, seed=seed, cache=folder / DIGESTS)) as store:
        missing = store.missing(wanted)
        if missing:
            done = len(wanted) - len(missing)
            report_phase(f"{what}: starting the engine")
            with start(model, sampling) as engine, SamplingProgress(what, total=len(wanted), done=done) as bar:
                _fill(store, engine.sample(missing, seed=seed), bar)
        responses = store.take(wanted)
    if pc.all(pc.equal(responses.column("finish_reason"), PROMPT_TOO_LONG)).as_py():
        raise SamplingError(
            f"{what}: every prompt is longer than `max_model_len` - `max_tokens` = "
            f"{sampling.max_model_len - sampling.max_tokens} tokens; raise `sampling.max_model_len`"
        )
    return responses


def _fill(store: Store, sampled: Iterable[Response], progress: SamplingProgress) -> None:
    """Write what an engine samples, every few seconds and at the end, be that an error or not."""
    waiting: list[tuple[Response, int]] = []  # with its tokens since the last stretch
    tokens: dict[Key, int] = {}
    seconds: dict[Key, float] = {}
    since = time.monotonic()

    def flush() -> None:
        nonlocal since
        now = time.monotonic()
        each = (now - since) / max(1, sum(fresh for _, fresh in waiting))
        timed = []
        for response, fresh in waiting:
            key = response.wanted.key
            seconds[key] = seconds.get(key, response.wanted.seconds) + fresh * each
            timed.append((response, seconds[key]))
        store.add(timed)
        waiting.clear()
        since = now

    try:
        for response in sampled:
            key = response.wanted.key
            fresh = response.tokens - tokens.get(key, len(response.wanted.begun))
            tokens[key] = response.tokens
            waiting.append((response, fresh))
            progress.advance(int(response.finish_reason != UNFINISHED), fresh)
            if time.monotonic() - since >= FLUSH_SECONDS:
                flush()
    finally:
        flush()
