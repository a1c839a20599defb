"""The benchmarks that are scored: held-out records by source, in the order of the settings."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from compass.records import RecordError
from compass.seeded_draw import draw


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
