"""Sampled responses on disk, by what decides them: they are added to, taken over and never mixed.

    work/evaluate/SETUP/setup.json          what decides the responses (`compass.sampling.engines.setup_facts`)
    work/evaluate/SETUP/part-00000.parquet  responses and beginnings of responses, each file whole or not at all

A setup is everything that decides a response but the problem and the sample's number; every row of `samples.parquet` names its own
by a digest. A response is found by its problem's id and text and by its number: more samples, another benchmark or another number of
problems add to a folder, and nothing in it is sampled again. Such folders are caches: they may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compass.files import atomic_path, write_json
from compass.locks import try_lock
from compass.sampling.model_source import SamplingError
from compass.sampling.response import FAILED, RESPONSES, UNFINISHED, Response, Wanted


def setup_digest(facts: dict[str, Any]) -> str:
    """16 hex digits that stand for a setup."""
    return hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=8).hexdigest()


STORED = pa.schema([("key", pa.string()), *RESPONSES, ("token_ids", pa.list_(pa.int32()))])
"""Columns of a part: those of a response, its problem's key, and the tokens of one that is unfinished."""

GROUP = 1_000
"""Rows of a part that are read at once."""

ROW_BYTES = 500
"""Bytes that a response takes beside its text and tokens, about."""

Key = tuple[str, int, bool]


@dataclass
class _Held:
    """What a store has of one problem: which of its responses are finished, in which parts, and how large they are."""

    finished: int = 0
    """A bit per response: the greedy one's is 0, that of sample n is n + 1."""

    parts: set[int] = field(default_factory=set)
    size: int = 0


class Store:
    """The responses of one setup. A context manager: two processes do not write to one store.

    Memory holds what is finished and the beginnings that an earlier run left; texts stay on disk.
    """

    def __init__(self, folder: str | Path, facts: dict[str, Any]) -> None:
        """Open the store of the setup `facts` below `folder`, making it if need be."""
        self.digest = setup_digest(facts)
        self.folder = Path(folder) / self.digest
        self._facts = facts
        self._held: dict[str, _Held] = {}
        self._begun: dict[Key, tuple[tuple[int, ...], float]] = {}
        self._next = 0

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
            for part in sorted(self.folder.glob("part-*.parquet")):
                self._next = int(part.stem.removeprefix("part-")) + 1
                for rows in _read_part(part):
                    failed = pc.equal(rows.column("finish_reason"), FAILED)
                    self._index(rows.filter(pc.invert(failed)), self._next - 1)  # what has failed is tried again
        except BaseException:
            self._lock.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self._lock.close()

    def finished(self, key: str, kinds: Sequence[tuple[int, bool]]) -> int:
        """How many of a problem's responses, each a sample's number and whether it is greedy, are finished."""
        held = self._held.get(key)
        return 0 if held is None else (held.finished & sum(_bit(*kind) for kind in kinds)).bit_count()

    def size(self, key: str) -> int:
        """Bytes that a problem's finished responses take in memory, about."""
        held = self._held.get(key)
        return 0 if held is None else held.size

    def begun(self, one: Wanted) -> Wanted:
        """`one` with the beginning that an earlier run left of it, if there is one."""
        return one.begun_with(*self._begun[one.key]) if one.key in self._begun else one

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
        with atomic_path(self._path(self._next)) as temporary:
            # Small groups, so that nobody has to hold the texts of a whole part.
            pq.write_table(part, temporary, compression="zstd", row_group_size=GROUP)
        self._index(part.filter(pc.not_equal(part.column("finish_reason"), UNFINISHED)), self._next)
        self._next += 1

    def take(self, keys: Sequence[str], kinds: Sequence[tuple[int, bool]]) -> pa.Table:
        """The finished responses of some problems as a table of `RESPONSES`: problem after problem, each in the order of `kinds`."""
        parts = sorted(set().union(*(self._held[key].parts for key in keys)))
        asked = pa.array(keys)
        found = pa.concat_tables(
            rows.filter(
                pc.and_(pc.is_in(rows.column("key"), asked), pc.not_equal(rows.column("finish_reason"), UNFINISHED))
            )
            for part in parts
            for rows in _read_part(self._path(part))
        )
        names = (found.column(name).to_pylist() for name in ("key", "sample", "greedy"))
        row = {name: number for number, name in enumerate(zip(*names, strict=True))}
        order = [row[key, *kind] for key in keys for kind in kinds]
        return found.take(pa.array(order, pa.int64())).select(RESPONSES.names).combine_chunks()

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

    def _path(self, number: int) -> Path:
        return self.folder / f"part-{number:05d}.parquet"

    def _index(self, rows: pa.Table, part: int) -> None:
        """Remember what a part holds."""
        sizes = pc.binary_length(rows.column("response"))
        columns = [rows.column(name) for name in ("key", "sample", "greedy", "finish_reason", "token_ids", "seconds")]
        values = (column.to_pylist() for column in (*columns, sizes))
        for key, sample, greedy, reason, tokens, seconds, size in zip(*values, strict=True):
            name = key, sample, greedy
            held = self._held.get(key)
            if held is not None and held.finished & _bit(sample, greedy):
                continue
            if reason == UNFINISHED:
                if len(tokens) > len(self._begun.get(name, ((), 0.0))[0]):
                    self._begun[name] = tuple(tokens), seconds
                continue
            held = held or self._held.setdefault(key, _Held())
            held.finished |= _bit(sample, greedy)
            held.parts.add(part)
            held.size += (size or 0) + ROW_BYTES
            self._begun.pop(name, None)


def _bit(sample: int, greedy: bool) -> int:
    return 1 if greedy else 2 << sample


def _read_part(path: Path) -> Iterator[pa.Table]:
    """The rows of a part, a group at a time."""
    try:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group).select(STORED.names).cast(STORED)
    except (pa.ArrowInvalid, OSError, KeyError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise SamplingError(f"{path}: not a whole part ({reason}); delete it and run again") from None
