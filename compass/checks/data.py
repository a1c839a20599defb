"""Whether sources and benchmarks are there, readable, and have the fields that their settings name."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from compass.checks.finding import Finding, find_nearest_file
from compass.errors import did_you_mean
from compass.evaluation.benchmarks import AVERAGE, BENCHMARKS, BenchmarkError, check_benchmark, find_benchmarks
from compass.settings import Benchmark, Collect, Settings, Source
from compass.sources.adapters import ADAPTERS, CHECK_FIELDS_AFTER, MISSING, reach
from compass.sources.collect import collect_benchmarks
from compass.sources.read import SourceError, data_files, expand, file_rows
from compass.sources.tiny import FILES as GENERATED

WHOLE_BENCHMARK = 4_000_000
"""Bytes up to which a benchmark's files are read whole, by the stage's own function: one row that cannot be used stops it."""

MOST_ROWS = CHECK_FIELDS_AFTER
"""Rows of a source that are read; of a shorter one their number is known."""


def find_data_problems(settings: Settings, root: Path) -> tuple[list[Finding], int | None]:
    """What is wrong with sources and benchmarks, and how many rows all sources hold; None where that takes long to know."""
    collect = settings.collect
    found = _find_same_rows(collect)
    total: int | None = 0
    for number, source in enumerate(collect.sources):
        problem, rows = _check_source(f"collect.sources.{number} ({source.name})", source, collect, root)
        total = None if total is None or rows is None else total + rows
        if problem and not (collect.skip_unreadable and rows is None):
            found.append(problem)
    if not collect.sources:
        found.append(Finding("collect.sources", "problem", "is empty", "give at least one source of training problems"))
        total = None
    if not collect.benchmarks:
        found.append(Finding("collect.benchmarks", "problem", "is empty", "give at least one benchmark to evaluate on"))
    for number, benchmark in enumerate(collect.benchmarks):
        if problem := _check_benchmark(f"collect.benchmarks.{number} ({benchmark.name})", benchmark, collect, root):
            found.append(problem)
    return _group_unset(found) + _check_named_sources(settings), total


def _group_unset(found: list[Finding]) -> list[Finding]:
    """The findings, with one for all sources and benchmarks that need the same variable."""
    unset = [re.search(r"\$\w+ is not set$", finding.found) for finding in found]
    needs = Counter(match[0] for match in unset if match)
    grouped, told = [], set()
    for finding, match in zip(found, unset, strict=True):
        if match and needs[match[0]] > 1:
            if match[0] in told:
                continue
            told.add(match[0])
            more = needs[match[0]] - 1
            others = (
                f"{more} other source{'s' * (more > 1)} or benchmark{'s' * (more > 1)} need{'s' * (more == 1)} it too"
            )
            advice = (
                "; `compass data get PROFILE --out folder` downloads the files, which docs/reference/sources.md describes"
                if match[0].startswith("$COMPASS_DATA ")
                else ""
            )
            finding = replace(finding, found=f"{finding.found}; {others}", remedy=finding.remedy + advice)
        grouped.append(finding)
    return grouped


def _check_named_sources(settings: Settings) -> list[Finding]:
    """Sources that a warm start, grading or the curriculum name and that are none."""
    there = [source.name for source in settings.collect.sources]
    named = {
        "base.warm_start.sources": settings.base.warm_start.sources if settings.base.warm_start else [],
        "grade.sources": settings.grade.sources,
        "curriculum.sources": settings.curriculum.sources,
    }
    return [
        Finding(
            where,
            "problem",
            f"{name!r} is no source of `collect.sources`",
            f"{did_you_mean(name, there)}there are {', '.join(there)}",
        )
        for where, names in named.items()
        for name in names
        if name not in there
    ]


def find_unset_variable(where: str, text: str, *, what: str) -> Finding | None:
    """The first variable of a setting's text that is not set; `$GENERATED` is no variable of the environment."""
    for name in re.findall(r"\$(\w+)", text):
        if name != "GENERATED" and not os.environ.get(name):
            near = did_you_mean(name, list(os.environ), cutoff=0.85)
            return Finding(where, "problem", f"is {text!r} and ${name} is not set", f"{near}`export {name}={what}`")
    return None


def _check_source(where: str, source: Source, collect: Collect, root: Path) -> tuple[Finding | None, int | None]:
    """What is wrong with a source, and its rows where they are known."""
    most = source.max_rows or None
    if source.adapter not in ADAPTERS:
        near = did_you_mean(source.adapter, ADAPTERS)
        return Finding(
            f"{where}.adapter",
            "problem",
            f"unknown adapter {source.adapter!r}",
            f"{near}there are {', '.join(ADAPTERS)}",
        ), most
    if source.hub or "://" in source.path:
        return None, most
    if "$GENERATED" in source.path:
        return _check_generated(where, source, collect), None
    if problem := find_unset_variable(f"{where}.path", source.path, what="folder"):
        return problem, most
    try:
        path = _find_absolute(source, root)
        files = data_files(path)
        rows, fields, unseen = 0, dict[str, None](), _list_fields(source)
        for row in _count_rows(files):
            rows += 1
            fields |= dict.fromkeys(row)
            unseen = {name: field for name, field in unseen.items() if reach(row, field) is MISSING}
    except SourceError as error:
        hint = "" if path.exists() else find_nearest_file(path)
        return Finding(where, "problem", error.message, f"{hint}{error.remedy}"), most
    if rows == 0:
        return Finding(where, "problem", f"{path} holds no rows", "fill it, or remove the source"), most
    if unseen:
        (name, field), *_ = unseen.items()
        near = did_you_mean(field, fields)
        return Finding(
            f"{where}.{name.partition(' ')[0]}",
            "problem",
            f"no row of {path} has the field {field!r}",
            f"{near}its fields are {', '.join(fields)}",
        ), most
    return None, min(rows, most or rows) if rows < MOST_ROWS else most


def _list_fields(source: Source) -> dict[str, str]:
    """The paths of fields that a source's settings name, by setting and position."""
    named = {name: getattr(source, name).split(",") for name in Source.model_fields if name.endswith("_field")}
    return {
        f"{name} {i}": path.strip() for name, paths in named.items() for i, path in enumerate(paths) if path.strip()
    }


def _count_rows(files: Iterable[Path]) -> Iterable[dict]:
    return islice((row for file in files for _, row in file_rows(file)), MOST_ROWS)


def _find_absolute(source: Source, root: Path) -> Path:
    path = expand(source.path)
    assert isinstance(path, Path)  # URLs were left out
    return root / path


def _check_generated(where: str, source: Source, collect: Collect) -> Finding | None:
    """What is wrong with a file of the generator's folder, which is there once `collect` runs."""
    if collect.generate is None:
        return Finding(
            f"{where}.path", "problem", f"is {source.path!r} and nothing is generated", "give `collect.generate`"
        )
    name = source.path.removeprefix("$GENERATED/")
    if name in GENERATED:
        return None
    near = did_you_mean(name, GENERATED)
    return Finding(
        f"{where}.path", "problem", f"the generator writes no {name!r}", f"{near}it writes {', '.join(GENERATED)}"
    )


def _check_benchmark(where: str, benchmark: Benchmark, collect: Collect, root: Path) -> Finding | None:
    if benchmark.name == AVERAGE:
        return Finding(where, "problem", f"{AVERAGE!r} is the name of the mean over benchmarks", "rename the benchmark")
    if not benchmark.path and not benchmark.hub and benchmark.name not in BENCHMARKS:
        near = did_you_mean(benchmark.name, BENCHMARKS)
        return Finding(
            where,
            "problem",
            "no benchmark of this name is known, and it has no `path`",
            f"{near}`compass benchmarks` lists them",
        )
    try:
        (source,) = find_benchmarks([benchmark])
    except (BenchmarkError, SourceError) as error:
        return Finding(where, "problem", error.message, error.remedy)
    problem, _ = _check_source(where, source, collect, root)
    if problem or source.hub or "://" in source.path or "$GENERATED" in source.path:
        return problem
    path = _find_absolute(source, root)
    if sum(file.stat().st_size for file in data_files(path)) > WHOLE_BENCHMARK:
        return None
    try:
        rows = collect_benchmarks([source.model_copy(update={"path": str(path)})], collect)
        check_benchmark(benchmark, rows.kept)
    except (BenchmarkError, SourceError) as error:
        return Finding(where, "problem", error.message, error.remedy)
    return None


def _find_same_rows(collect: Collect) -> list[Finding]:
    """Benchmarks that read rows of a file that a source or another benchmark reads as well."""
    taken: dict[str, list[tuple[str, Source]]] = {}
    found = []
    for kind, sources in (("sources", collect.sources), ("benchmarks", collect.benchmarks)):
        for number, source in enumerate(sources):
            where = f"collect.{kind}.{number} ({source.name})"
            place = f"{source.path} {source.hub} {source.subset} {source.split if source.hub else ''}".strip()
            if not place:
                continue
            readers = taken.setdefault(place, [])
            sharing = next((name for name, other in readers if _parts_overlap(source, other)), None)
            if kind == "benchmarks" and sharing:
                found.append(
                    Finding(
                        where,
                        "problem",
                        f"reads {place}, as {sharing} does",
                        "give each its own file, or parts of it that do not overlap (`part`): a problem of a "
                        "benchmark is never trained on, and one that stands in two would count twice",
                    )
                )
            readers.append((where, source))
    return found


def _parts_overlap(one: Source, other: Source) -> bool:
    """Whether two sources of one file read some of the same rows: parts are of ids, which both have to take from the same field."""
    return one.id_field != other.id_field or (one.part[0] < other.part[1] and other.part[0] < one.part[1])
