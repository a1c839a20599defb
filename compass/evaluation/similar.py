"""Benchmark problems that resemble rows which were trained on, closely enough that a gain on them may be memory.

Decontamination drops a row that holds half of an item's 13-word n-grams, or rewords it (`compass.curation.decontamination`). What it keeps
may still be a sibling: the same text with other numbers, or the same setting with another question. The same search with wider limits
finds these. Scores without them are given beside the others, and nothing is dropped for it.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from compass.curation.decontamination import BenchmarkIndex
from compass.settings import Denoise

NGRAM, COVERAGE, SIMILARITY = 8, 0.3, 0.5
"""Words per n-gram, share of an item's n-grams, and Jaccard similarity of a rewording. On 4,500 real training problems that decontamination
keeps, 35 resemble one of 1,288 benchmark items by these limits: with few exceptions the same text with other numbers."""

MOST = 20
"""Ids kept per problem: enough to look at."""


LIMITS = Denoise(contamination_ngram=NGRAM, contamination_coverage=COVERAGE, contamination_similarity=SIMILARITY)


def trained_rows(trained: pa.Table, benchmarks: Mapping[str, pa.Table]) -> dict[str, list[str]]:
    """The rows that were trained on and resemble a problem, by the problem's id; problems without any are left out.

    Args:
        trained: rows with `id` and `problem`.
        benchmarks: name to `RECORD` rows.
    """
    items = pa.concat_tables(benchmarks.values())
    index = BenchmarkIndex(items, LIMITS)
    names = ("source", "source_id", "id")
    ids = {(source, own): id_ for source, own, id_ in zip(*(items.column(n).to_pylist() for n in names), strict=True)}
    found: dict[str, list[str]] = {}
    for row, problem in zip(trained.column("id").to_pylist(), trained.column("problem").to_pylist(), strict=True):
        for match in index.search(problem):
            rows = found.setdefault(ids[match.benchmark, match.item], [])
            if len(rows) < MOST:
                rows.append(row)
    return found
