"""Noise filters, then decontamination, over a table of records."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from compass.curation.decontamination import Benchmarks
from compass.curation.parallel import in_processes
from compass.ledger import Drop, split
from compass.settings import Denoise

BATCH = 2_000
"""Records a worker process takes at a time."""

ALONE = 10_000
"""Fewer records are filtered in this process: starting others takes longer."""


def denoise(records: pa.Table, benchmarks: pa.Table, settings: Denoise) -> tuple[pa.Table, pa.Table]:
    """Drop noisy and contaminated records.

    Where both apply, a benchmark item in full (exact or reworded) counts before noise, and noise before a share of an
    item's n-grams; the evidence of such a noisy row then names the item as `also_contaminated`.

    Args:
        records: `RECORD` rows.
        benchmarks: the benchmark items, as `RECORD` rows.
        settings: the section `denoise`.

    Returns:
        Kept and dropped rows.
    """
    contaminated = Benchmarks(benchmarks, settings).check(records)
    verdicts = [
        noisy if noisy is not None and not _whole_item(found) else found
        for noisy, found in zip(check_noise(records, settings), contaminated, strict=True)
    ]
    verdicts = [
        _also(verdict, found) if verdict is not None and found is not None and verdict is not found else verdict
        for verdict, found in zip(verdicts, contaminated, strict=True)
    ]
    return split(records, verdicts, "denoise")


def _whole_item(found: Drop | None) -> bool:
    return found is not None and found.evidence["rule"] != "coverage"


def _also(noisy: Drop, contaminated: Drop) -> Drop:
    item = f"{contaminated.evidence['benchmark']}:{contaminated.evidence['item']}"
    return Drop(noisy.reason, {**noisy.evidence, "also_contaminated": item})


def check_noise(records: pa.Table, settings: Denoise) -> list[Drop | None]:
    """A verdict of the noise filters for each record, on all cores where there are enough rows to pay for it."""
    batches = records.combine_chunks().to_batches(BATCH)
    if records.num_rows < ALONE:
        return [verdict for batch in batches for verdict in _check(batch.to_pylist(), settings)]
    found = in_processes(_check_packed, ((pack(batch), settings) for batch in batches))
    return [verdict for verdicts in found for verdict in verdicts]


def pack(batch: pa.RecordBatch) -> bytes:
    """A batch as bytes of its own: pickling a slice of a table would send the whole table's buffers."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def _check_packed(work: tuple[bytes, Denoise]) -> list[Drop | None]:
    packed, settings = work
    return _check(pa.ipc.open_stream(packed).read_all().to_pylist(), settings)


def _check(records: list[dict[str, Any]], settings: Denoise) -> list[Drop | None]:
    from compass.curation import noise

    return [noise.check(record, settings) for record in records]
