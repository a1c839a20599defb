"""Whether sources and benchmarks are there, readable, and have the fields that their settings name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from compass.checks.finding import Finding, find_nearest_file
from compass.errors import did_you_mean
from compass.evaluation.benchmarks import AVERAGE, BENCHMARKS, BenchmarkError, check_benchmark, find_benchmarks
from compass.settings import Benchmark, Collect, Settings, Source
from compass.sources.adapters import ADAPTERS, CHECK_FIELDS_AFTER, ConfiguredFields
from compass.sources.collect import collect_benchmarks
from compass.sources.read import SourceError, data_files, expand, file_rows
from compass.sources.tiny import FILES as GENERATED

WHOLE_BENCHMARK = 4_000_000
"""Bytes up to which a benchmark's files are read whole, by the stage's own function: one row that cannot be used stops it."""

MOST_ROWS = CHECK_FIELDS_AFTER - 1
"""Rows of a source that are read; of a shorter one their number is known."""


def find_data_problems(settings: Settings, root: Path) -> tuple[list[Finding], int | None]:
    """What is wrong with sources and benchmarks, and how many rows all sources hold; None where that takes long to know."""
    collect = settings.collect
    found = list(_find_same_rows(collect))
    total: int | None = 0
    for number, source in enumerate(collect.sources):
        problem, rows = check_source(f"collect.sources.{number} ({source.name})", source, collect, root)
        total = None if total is None or rows is None else total + rows
        if problem and not (collect.skip_unreadable and rows is None):
            found.append(problem)
    if not collect.sources:
        found.append(Finding("collect.sources", "is empty", "give at least one source of training problems"))
        total = None
    if not collect.benchmarks:
        found.append(Finding("collect.benchmarks", "is empty", "give at least one benchmark to evaluate on"))
    for number, benchmark in enumerate(collect.benchmarks):
        if problem := _check_benchmark(f"collect.benchmarks.{number} ({benchmark.name})", benchmark, collect, root):
            found.append(problem)
    return [*_merge_unset(found), *_check_named_sources(settings)], total


def _merge_unset(found: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, with one for all sources and benchmarks that need the same variable."""
    groups: dict[str, list[Finding]] = {}
    for finding in found:
        groups.setdefault(finding.variable or str(finding), []).append(finding)
    for first, *others in groups.values():
        needed = f"; needed by {len(others)} more" if others else ""
        yield replace(first, found=first.found + needed)


def _check_named_sources(settings: Settings) -> Iterator[Finding]:
    """Sources that a warm start, grading or the curriculum name and that are none."""
    there = [source.name for source in settings.collect.sources]
    named = {
        "base.warm_start.sources": settings.base.warm_start.sources if settings.base.warm_start else [],
        "grade.sources": settings.grade.sources,
        "curriculum.sources": settings.curriculum.sources,
    }
    for where, names in named.items():
        for name in names:
            if name not in there:
                remedy = f"{did_you_mean(name, there)}there are {', '.join(there)}"
                yield Finding(where, f"{name!r} is no source of `collect.sources`", remedy)


def find_unset_variable(where: str, text: str, *, what: str) -> Finding | None:
    """The first variable of a setting's text that is not set; `$GENERATED` is no variable of the environment."""
    for name in re.findall(r"\$(\w+)", text):
        if name != "GENERATED" and not os.environ.get(name):
            remedy = f"{did_you_mean(name, list(os.environ), cutoff=0.85)}`export {name}={what}`"
            if name == "COMPASS_DATA":
                remedy += "; `compass data get PROFILE --out folder` downloads the files (docs/reference/sources.md)"
            return Finding(where, f"is {text!r} and ${name} is not set", remedy, variable=name)
    return None


def check_source(where: str, source: Source, collect: Collect, root: Path) -> tuple[Finding | None, int | None]:
    """What is wrong with a source, and its rows where they are known."""
    most = source.max_rows or None
    if source.adapter not in ADAPTERS:
        remedy = f"{did_you_mean(source.adapter, ADAPTERS)}there are {', '.join(ADAPTERS)}"
        return Finding(f"{where}.adapter", f"unknown adapter {source.adapter!r}", remedy), most
    if source.hub or "://" in source.path:
        return None, most
    if "$GENERATED" in source.path:
        return _check_generated(f"{where}.path", source, collect), None
    if problem := find_unset_variable(f"{where}.path", source.path, what="folder"):
        return problem, most
    path = root / expand(source.path)
    rows, fields = 0, ConfiguredFields(source)
    try:
        for row in islice((row for file in data_files(path) for _, row in file_rows(file)), MOST_ROWS):
            rows += 1
            fields.check(row, where)
    except SourceError as error:
        hint = "" if path.exists() else find_nearest_file(path)
        return Finding(where, error.message, f"{hint}{error.remedy}"), most
    if rows == 0:
        return Finding(where, f"{path} holds no rows", "fill it, or remove the source"), most
    for name, field in fields.unseen:
        remedy = f"{did_you_mean(field, fields.fields)}its fields are {', '.join(fields.fields)}"
        return Finding(f"{where}.{name}", f"no row of {path} has the field {field!r}", remedy), most
    return None, min(rows, most or rows) if rows < MOST_ROWS else most


def _check_generated(where: str, source: Source, collect: Collect) -> Finding | None:
    """What is wrong with a file of the generator's folder, which is there once `collect` runs."""
    if collect.generate is None:
        return Finding(where, f"is {source.path!r} and nothing is generated", "give `collect.generate`")
    name = source.path.removeprefix("$GENERATED/")
    if name in GENERATED:
        return None
    remedy = f"{did_you_mean(name, GENERATED)}it writes {', '.join(GENERATED)}"
    return Finding(where, f"the generator writes no {name!r}", remedy)


def _check_benchmark(where: str, benchmark: Benchmark, collect: Collect, root: Path) -> Finding | None:
    if benchmark.name == AVERAGE:
        return Finding(where, f"{AVERAGE!r} is the name of the mean over benchmarks", "rename the benchmark")
    if not benchmark.path and not benchmark.hub and benchmark.name not in BENCHMARKS:
        remedy = f"{did_you_mean(benchmark.name, BENCHMARKS)}`compass benchmarks` lists them"
        return Finding(where, "no benchmark of this name is known, and it has no `path`", remedy)
    try:
        (source,) = find_benchmarks([benchmark])
        problem, _ = check_source(where, source, collect, root)
        if problem or source.hub or "://" in source.path or "$GENERATED" in source.path:
            return problem
        path = root / expand(source.path)
        if sum(file.stat().st_size for file in data_files(path)) <= WHOLE_BENCHMARK:
            rows = collect_benchmarks([source.model_copy(update={"path": str(path)})], collect)
            check_benchmark(benchmark, rows.kept)
    except (BenchmarkError, SourceError) as error:
        return Finding(where, error.message, error.remedy)
    return None


def _find_same_rows(collect: Collect) -> Iterator[Finding]:
    """Benchmarks that read rows of a file that a source or another benchmark reads as well."""
    readers: dict[str, list[tuple[str, Source]]] = {}
    for kind, sources in (("sources", collect.sources), ("benchmarks", collect.benchmarks)):
        for number, source in enumerate(sources):
            where = f"collect.{kind}.{number} ({source.name})"
            place = f"{source.path} {source.hub} {source.subset} {source.split if source.hub else ''}".strip()
            if not place:
                continue
            others = readers.setdefault(place, [])
            sharing = next((name for name, other in others if _parts_overlap(source, other)), None)
            if kind == "benchmarks" and sharing:
                remedy = (
                    "give each its own file, or parts of it that do not overlap (`part`): a problem of a benchmark is "
                    "never trained on, and one in two benchmarks would count twice"
                )
                yield Finding(where, f"reads {place}, as {sharing} does", remedy)
            others.append((where, source))


def _parts_overlap(one: Source, other: Source) -> bool:
    """Whether two sources of one file read some of the same rows: parts are of ids, which both have to take from the same field."""
    return one.id_field != other.id_field or (one.part[0] < other.part[1] and other.part[0] < one.part[1])
