"""The benchmarks that `compass evaluate` is given: files of problems, or names that the project knows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def load_benchmarks(given: Sequence[str], *, max_problems: int, seed: int) -> dict[str, pa.Table]:
    """Name to `RECORD` rows, in the order given.

    Args:
        given: names that `compass benchmarks` lists, or paths of files that `compass curate` reads too.
        max_problems: at most so many of each, by a seeded draw; 0 takes all.
        seed: of the draw.

    Raises:
        UserError: a benchmark is not known, missing, not the published set, or cannot be read.
    """
    from compass.evaluation.benchmarks import (
        BENCHMARKS,
        benchmark_problems,
        check_benchmarks,
        find,
        find_benchmarks,
        published_as,
    )
    from compass.library.curate_sources import source_settings
    from compass.settings import Benchmark, Collect
    from compass.sources.collect import collect_benchmarks
    from compass.sources.read import SourceError
    from compass.sources.remote import path_or_url

    chosen = []
    for name in given:
        if name in BENCHMARKS:
            chosen.append(Benchmark(name=name))
        elif Path(name).exists() or Path(name).suffix or Path(name).name != name:
            (source,) = source_settings([path_or_url(name)])
            chosen.append(Benchmark(**source.model_dump()))
        else:
            find(name)  # says which names are known
    names = [benchmark.name for benchmark in chosen]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SourceError(f"two benchmarks are called {twice[0]!r}; name each once, or rename a file")
    items = collect_benchmarks(find_benchmarks(chosen), Collect(sources=[], benchmarks=[])).kept
    for name, facts in check_benchmarks(chosen, items).items():
        known = published_as(facts["sha256"])
        if known is not None and known.name not in names:
            print(
                f"evaluate: warning: {name} holds the published {known.name}, but its name alone brings its rules: {known.rules}. "
                f"Give --benchmarks {known.name}",
                file=sys.stderr,
            )
    return benchmark_problems(items, names, max_problems=max_problems, seed=seed)
