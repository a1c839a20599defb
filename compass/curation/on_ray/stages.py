"""dedup, denoise and verify of a file of records, inside a block of `ray_cluster`: kept and dropped rows, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from compass.curation.denoise import BATCH, denoise_pieces
from compass.curation.on_ray.cluster import concurrency, worker_bytes
from compass.curation.on_ray.dedup import dedup
from compass.curation.on_ray.tasks import in_tasks, no_larger
from compass.curation.verify_golds import verify_golds
from compass.records import count_records, record_batches
from compass.settings import Curation, Dedup, Denoise, Verify

Pieces = Iterator[tuple[pa.Table, pa.Table]]
Rollouts = Mapping[str, list[tuple[str | None, bool]]]


def dedup_file(records: Path, settings: Dedup, sources: Sequence[str], curation: Curation) -> Pieces:
    """As `compass.curation.dedup.dedup`."""
    return dedup(
        partial(record_batches, records),
        count_records(records),
        settings,
        sources,
        memory=worker_bytes(curation),
        workers=concurrency(),
    )


def denoise_file(records: Path, benchmarks: pa.Table, settings: Denoise, curation: Curation) -> Pieces:
    """As `compass.curation.denoise.denoise`; the index of the benchmark items is made once in each worker."""
    memory = worker_bytes(curation)
    return denoise_pieces(_pieces(records, memory), benchmarks, settings, partial(in_tasks, memory=memory))


def verify_file(records: Path, settings: Verify, rollouts: Rollouts | None, curation: Curation) -> Pieces:
    """As `compass.curation.verify_golds.verify_golds`."""
    memory = worker_bytes(curation)

    def with_rollouts() -> Iterator[tuple[pa.Table, Rollouts | None]]:
        for piece in _pieces(records, memory):
            ids = piece.column("id").to_pylist() if rollouts else []
            yield piece, rollouts and {id_: rollouts[id_] for id_ in ids if id_ in rollouts}

    return in_tasks(partial(_verifier, settings), with_rollouts(), memory=memory)


def _pieces(records: Path, memory: int) -> Iterator[pa.Table]:
    """Records that a filter can take in: its heap holds them up to four times, as bytes, objects and results."""
    return no_larger(record_batches(records, BATCH), memory // 4)


def _verifier(settings: Verify):
    return lambda item: verify_golds(item[0], settings, item[1], processes=1)
