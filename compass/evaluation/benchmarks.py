"""Benchmarks by name: where a copy of one is, how it is read, whether it is the published set, and which problems of it are scored.

find_benchmarks(settings.collect.benchmarks)      -> sources to read
check_benchmark(benchmark, records)               -> its facts, or an error where count or content are others
benchmark_problems(records, names, ...)           -> the problems that are scored
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compass.errors import UserError, find_nearest
from compass.evaluation.known_benchmarks import FOLDER, KNOWN_BENCHMARKS, Copy, KnownBenchmark
from compass.records import RecordError
from compass.seeded_draw import draw
from compass.settings import Benchmark, Source
from compass.sources.read import expand

BENCHMARKS: dict[str, KnownBenchmark] = {known.name: known for known in KNOWN_BENCHMARKS}
"""Every known benchmark by its name."""

UNKNOWN, SAME, OTHER = "unknown", "published", "other"

AVERAGE = "average"
"""The name of the mean over benchmarks among their scores."""


class BenchmarkError(UserError):
    """A benchmark that is unknown, missing, or not what its name says; the message says what to do."""


@dataclass(frozen=True)
class Place:
    """One place where a copy is looked for; `here` is None for the hub, which only reading it can tell."""

    copy: Copy
    source: Source
    here: bool | None

    @property
    def address(self) -> str:
        """The path, or the hub id with its revision."""
        return self.source.path or f"{self.source.hub} at {self.source.revision} on the hub"


def find_benchmarks(benchmarks: Iterable[Benchmark]) -> list[Source]:
    """The sources to read: of a benchmark without a place of its own the first copy that is here, else its hub dataset.

    Raises:
        BenchmarkError: a benchmark has neither a place nor a known name.
    """
    return [benchmark if benchmark.path or benchmark.hub else _chosen(benchmark)[1] for benchmark in benchmarks]


def find(name: str) -> KnownBenchmark:
    """The known benchmark of that name.

    Raises:
        BenchmarkError: there is none.
    """
    if name not in BENCHMARKS:
        near = find_nearest(name, BENCHMARKS)
        meant = f"Did you mean {near}? " if near else ""
        raise BenchmarkError(
            f"benchmark {name!r} is not known; known are {', '.join(BENCHMARKS)}. {meant}Of another one give "
            "`compass evaluate` or `compass init` a file of problems, or `collect.benchmarks` its `path` or `hub`"
        )
    return BENCHMARKS[name]


def places(known: KnownBenchmark) -> list[Place]:
    """Where copies of a benchmark are looked for: files in $COMPASS_DATA first, then the hub."""
    found = []
    for copy in known.copies:
        if path := copy.source.path or copy.downloaded:
            here = bool(os.environ.get("COMPASS_DATA")) and expand(path).exists()
            found.append(Place(copy, copy.source.model_copy(update={"path": path, "hub": "", "revision": ""}), here))
    return found + [Place(copy, copy.source, None) for copy in known.copies if copy.source.hub]


def how_to_get(known: KnownBenchmark) -> str:
    """The command that brings a copy of a benchmark to where it is looked for."""
    return f"compass data get {known.name}"


def content_hash(problems: Iterable[tuple[str, str]]) -> str:
    """SHA-256 over pairs of problem and gold, whatever their order; any white space counts as one space."""
    rows = sorted(
        hashlib.sha256("\0".join(" ".join(text.split()) for text in pair).encode()).digest() for pair in problems
    )
    return hashlib.sha256(b"".join(rows)).hexdigest()


def check_benchmark(benchmark: Benchmark, records: pa.Table) -> dict[str, Any]:
    """Whether a benchmark that was read is the published set.

    Args:
        benchmark: as the settings name it.
        records: `RECORD` rows of this benchmark.

    Returns:
        `rows`, `sha256`, and `copy`: `published`, `unknown` (no hash to compare with, or no known benchmark), or `other`.

    Raises:
        BenchmarkError: a known benchmark has another count or content, and `other_copy` does not allow that.
    """
    pairs = list(zip(*(records.column(name).to_pylist() for name in ("problem", "answer")), strict=True))
    digest, known = content_hash(pairs), BENCHMARKS.get(benchmark.name)
    facts = {"rows": len(pairs), "sha256": digest}
    if known is None:
        return facts | {"copy": UNKNOWN}
    copies = _read_copies(known, benchmark)
    if wrong := _wrong(copies, len(pairs), digest):
        if benchmark.other_copy:
            return facts | {"copy": OTHER}
        raise BenchmarkError(
            f"benchmark {known.name!r}: {wrong}. {_shadow(benchmark)}Get the published set (`{how_to_get(known)}`), check the "
            "fields in `collect.benchmarks`, give your own set another name, or score on this copy knowingly with `other_copy: true`"
        )
    # A copy that nobody has hashed is the published set where it holds what another copy does.
    return facts | {"copy": SAME if any(copy.sha256 == digest for copy in known.copies) else UNKNOWN}


def published_as(digest: str) -> KnownBenchmark | None:
    """The known benchmark whose published problems and golds have this content hash; None where there is none."""
    known = (known for known in KNOWN_BENCHMARKS if any(copy.sha256 == digest for copy in known.copies))
    return next(known, None)


def check_benchmarks(benchmarks: Sequence[Benchmark], records: pa.Table) -> dict[str, dict[str, Any]]:
    """`check_benchmark` of each benchmark by its name; `records` are those of all, `source` names theirs.

    Raises:
        BenchmarkError: as there, or a benchmark has the name of the mean over benchmarks.
    """
    if any(benchmark.name == AVERAGE for benchmark in benchmarks):
        raise BenchmarkError(
            f"a benchmark cannot be called {AVERAGE!r}, the name of the mean over benchmarks; rename it"
        )
    return {
        benchmark.name: check_benchmark(
            benchmark, records.filter(pc.equal(records.column("source"), pa.scalar(benchmark.name)))
        )
        for benchmark in benchmarks
    }


def _shadow(benchmark: Benchmark) -> str:
    """What has to go before a downloaded copy is read: the file that is found first. Empty where the settings name the place."""
    if benchmark.path or benchmark.hub or not (path := _chosen(benchmark)[1].path):
        return ""
    return f"Move {path} away, which is read before any other copy. "


def _read_copies(known: KnownBenchmark, benchmark: Benchmark) -> list[Copy]:
    """The published copies that a set may be: the one that its name stands for, that of its hub id, or for a file any."""
    if not benchmark.path and not benchmark.hub:
        return [_chosen(benchmark)[0]]
    same_hub = [copy for copy in known.copies if benchmark.hub and copy.source.hub == benchmark.hub]
    return same_hub or [copy for copy in known.copies if copy.sha256] or list(known.copies)


def _wrong(copies: list[Copy], rows: int, digest: str) -> str:
    """How a set differs from each of these copies; empty where it is one, as far as can be told."""
    counts = sorted({copy.rows for copy in copies})
    if rows not in counts:
        return f"expected {' or '.join(f'{count:,}' for count in counts)} problems, found {rows:,}"
    hashes = sorted({copy.sha256 for copy in copies if copy.rows == rows})
    if "" in hashes or digest in hashes:
        return ""
    return f"the problems or golds of the {rows:,} are others: expected the content hash {' or '.join(hashes)}, found {digest}"


def _chosen(benchmark: Benchmark) -> tuple[Copy, Source]:
    """The copy that a name stands for, and how it is read with whatever else the settings say."""
    known = find(benchmark.name)
    place = next((place for place in places(known) if place.here is not False), None)
    if place is None:
        raise BenchmarkError(missing(known))
    own = {name: getattr(benchmark, name) for name in benchmark.model_fields_set & set(Source.model_fields)}
    return place.copy, place.source.model_copy(update=own)


def missing(known: KnownBenchmark) -> str:
    """That no copy is here, where it was looked for, and how to get one."""
    unset = "" if os.environ.get("COMPASS_DATA") else f" ($COMPASS_DATA is not set: no file in {FOLDER} is seen)"
    where = ", ".join(place.address for place in places(known))
    return f"benchmark {known.name!r} is not here{unset}; looked for {where}. Get it with `{how_to_get(known)}`"


def benchmark_problems(items: pa.Table, names: Sequence[str], *, max_problems: int, seed: int) -> dict[str, pa.Table]:
    """The problems of each benchmark.

    Args:
        items: `RECORD` rows of all benchmarks; `source` is the benchmark's name.
        names: the benchmarks of the settings, in the order in which results are shown.
        max_problems: at most so many of each, drawn by a seeded hash; 0 takes all.
        seed: of the draw.

    Raises:
        RecordError: a benchmark has no problem, two problems share an id, or one has no gold answer.
    """
    ids = items.column("id").to_pylist()
    if twice := len(ids) - len(set(ids)):
        raise RecordError(f"benchmarks: {twice} items repeat another's id; run collect again")
    sources, golds = items.column("source").to_pylist(), items.column("answer").to_pylist()
    for name, source, gold in zip(ids, sources, golds, strict=True):
        if not gold:
            raise RecordError(
                f"benchmark {source!r}: item {name!r} has no gold answer; correct it or its source's fields"
            )
    chosen = {}
    for benchmark in names:
        own = [name for name, source in zip(ids, sources, strict=True) if source == benchmark]
        if not own:
            raise RecordError(
                f"benchmark {benchmark!r}: holds no problem; known: {sorted(set(sources))}; run collect again"
            )
        drawn = set(draw(own, max_problems, f"{seed}\0draw"))
        chosen[benchmark] = items.filter(pa.array([name in drawn for name in ids]))
    return chosen
