"""The partitioned search on several local Ray workers gives what one process gives."""

from __future__ import annotations

import pyarrow as pa
import pytest

from compass.curation.dedup import dedup
from compass.curation.duplicates import find
from compass.records import record_id, table
from compass.settings import Dedup

SOURCES = ["a", "b", "c"]


def many_records():
    """200 problems, each with an exact copy, a reworded copy, a copy with another answer or none."""
    rows = []
    for number in range(200):
        text = f"Anna walks {number + 3} miles to the town hall of {number % 7} streets and {number % 11} lanes. How far is it?"
        copies = [(text, "3"), (text.upper(), "3"), (f"{text} Explain.", "3.0"), (text, "4")][: 1 + number % 4]
        rows += [(copy, answer, SOURCES[(number + place) % 3]) for place, (copy, answer) in enumerate(copies)]
    rows = rows[::2] + rows[1::2]
    return table(
        [
            {"id": record_id(source, str(n)), "source": source, "source_id": str(n), "problem": text, "answer": answer}
            for n, (text, answer, source) in enumerate(rows)
        ]
    )


@pytest.mark.slow
def test_partitions_and_workers_change_nothing():
    import ray

    from compass.curation.partition import dedup_partitioned, find_partitioned

    partitions = 4
    records = many_records()
    numbered = records.append_column("row", pa.array(range(records.num_rows), pa.int64()))
    ray.init(num_cpus=3, include_dashboard=False, logging_level="ERROR")
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        data = ray.data.from_arrow(numbered).repartition(5)
        alone = find(records.column("problem"), Dedup())
        groups = find_partitioned(data.select_columns(["row", "problem"]), Dedup(), partitions)
        assert (groups.exact == alone.exact).all()
        assert (groups.cluster == alone.cluster).all()
        both = pa.Table.from_pylist(dedup_partitioned(data, Dedup(), SOURCES, partitions).take_all()).sort_by("row")
    finally:
        ray.shutdown()
    kept, dropped = dedup(records, Dedup(), SOURCES)
    assert dropped.num_rows > 200
    gone = both.filter(pa.compute.is_valid(both.column("reason")))
    for name in ("id", "reason", "evidence", "cluster", "cluster_size"):
        assert gone.column(name).to_pylist() == dropped.column(name).to_pylist()
    assert (
        both.filter(pa.compute.is_null(both.column("reason"))).column("id").to_pylist() == kept.column("id").to_pylist()
    )
