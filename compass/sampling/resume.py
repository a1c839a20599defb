"""Sampling that continues where it was stopped.

Responses are written in parts of `sampling.batch` problems, each whole or not at all, into a folder named after
everything that decides them. A second run with the same inputs samples only the parts that are missing, and starts no
engine when none is. Such folders are caches: they may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compass.files import atomic_path
from compass.sampling.engine import Engine
from compass.sampling.model_source import Model, SamplingError, model_digest
from compass.sampling.progress import SamplingProgress
from compass.sampling.response import PROMPT_TOO_LONG, RESPONSES, responses_table
from compass.settings import Sampling

NO_EFFECT = {"memory", "kv_cache_gib", "tensor_parallel"}
"""Sampling settings that change speed and memory but not what is sampled."""


def sample_responses(
    problems: Mapping[str, str],
    *,
    model: Model,
    sampling: Sampling,
    n: int,
    greedy: bool = False,
    seed: int,
    folder: str | Path,
    what: str = "responses",
    open_engine: Callable[[Model, Sampling], Engine] = Engine,
) -> pa.Table:
    """Sample `n` responses for each problem (and a greedy one), taking over the parts that an earlier run finished.

    Args:
        problems: id to text.
        model: the model to sample from.
        sampling: how.
        n: samples per problem.
        greedy: also decode each problem greedily.
        seed: the run's seed.
        folder: where resumable work is kept, such as `work/grade`; a subfolder is made for these inputs.
        what: named in the progress bar.
        open_engine: how the engine is started, if one is needed.

    Returns:
        A table of `RESPONSES`, in the order of `problems`.

    Raises:
        SamplingError: every prompt is too long, or a finished part does not hold the problems it should.
    """
    work = Path(folder) / work_key(problems, model=model, sampling=sampling, n=n, greedy=greedy, seed=seed)
    work.mkdir(parents=True, exist_ok=True)
    parts = list(_parts(problems, sampling.batch))
    paths = [work / f"part-{number:05d}.parquet" for number in range(len(parts))]
    missing = [number for number, path in enumerate(paths) if not path.exists()]
    if missing:
        each = n + greedy
        total = len(problems) * each
        done = total - sum(len(parts[number]) for number in missing) * each
        with open_engine(model, sampling) as engine, SamplingProgress(what, total=total, done=done) as progress:
            for number in missing:
                sampled = engine.sample(parts[number], n=n, greedy=greedy, seed=seed, progress=progress)
                with atomic_path(paths[number]) as temporary:
                    pq.write_table(responses_table(sampled), temporary, compression="zstd")
    tables = [_read_part(path, part, n + greedy) for path, part in zip(paths, parts, strict=True)]
    responses = pa.concat_tables(tables) if tables else RESPONSES.empty_table()
    if responses.num_rows and pc.all(pc.equal(responses.column("finish_reason"), PROMPT_TOO_LONG)).as_py():
        raise SamplingError(
            f"{what}: every prompt is longer than `max_model_len` - `max_tokens` = "
            f"{sampling.max_model_len - sampling.max_tokens} tokens; raise `sampling.max_model_len`"
        )
    return responses


def work_key(problems: Mapping[str, str], *, model: Model, sampling: Sampling, n: int, greedy: bool, seed: int) -> str:
    """The name of the folder for these inputs: 16 hex digits over everything that decides what is sampled."""
    settings = sampling.model_dump(exclude=NO_EFFECT)
    decides = {"model": model_digest(model), "sampling": settings, "n": n, "greedy": greedy, "seed": seed}
    digest = hashlib.blake2b(json.dumps(decides, sort_keys=True).encode(), digest_size=8)
    for name, problem in problems.items():
        digest.update(json.dumps([name, problem]).encode())
    return digest.hexdigest()


def _parts(problems: Mapping[str, str], size: int) -> list[dict[str, str]]:
    rest = iter(problems.items())
    parts = []
    while part := dict(islice(rest, size)):
        parts.append(part)
    return parts


def _read_part(path: Path, part: Mapping[str, str], each: int) -> pa.Table:
    try:
        written = pq.read_table(path, schema=RESPONSES)
    except (pa.ArrowInvalid, OSError) as error:
        raise SamplingError(f"{path}: not a whole parquet file ({error}); delete it and run the stage again") from None
    if written.num_rows != len(part) * each or set(written.column("id").to_pylist()) != set(part):
        raise SamplingError(
            f"{path}: holds {written.num_rows} responses, not {each} for each of its {len(part)} problems; "
            "delete it and run the stage again"
        )
    return written
