"""The benchmarks that `compass evaluate` is given: files of problems, or names that the project knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def load_benchmarks(given: Sequence[str], *, max_problems: int, seed: int) -> dict[str, pa.Table]:
    """Name to `RECORD` rows, in the order given.

    Args:
        given: paths of files that `compass curate` reads too.
        max_problems: at most so many of each, by a seeded draw; 0 takes all.
        seed: of the draw.

    Raises:
        UserError: a benchmark cannot be read.
    """
    from compass.commands.curate_sources import source_settings
    from compass.evaluation.benchmarks import benchmark_problems
    from compass.settings import Collect
    from compass.sources.collect import collect_benchmarks

    sources = source_settings([Path(name) for name in given])
    limits = Collect(sources=[], benchmarks=[])
    items = collect_benchmarks(sources, limits).kept
    return benchmark_problems(items, [source.name for source in sources], max_problems=max_problems, seed=seed)
