"""dedup, denoise and verify of a file of records, inside a block of `ray_cluster`: kept and dropped rows, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from compass.curation.denoise import BATCH, denoise_pieces
from compass.curation.on_ray.cluster import concurrency, task_bytes
from compass.curation.on_ray.dedup import dedup
from compass.curation.on_ray.tasks import in_tasks
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
        task_bytes=task_bytes(curation),
        workers=concurrency(),
    )


def denoise_file(records: Path, benchmarks: pa.Table, settings: Denoise) -> Pieces:
    """As `compass.curation.denoise.denoise`; the index of the benchmark items is made once in each worker."""
    return denoise_pieces(record_batches(records, BATCH), benchmarks, settings, in_tasks)


def verify_file(records: Path, settings: Verify, rollouts: Rollouts | None) -> Pieces:
    """As `compass.curation.verify_golds.verify_golds`."""

    def with_rollouts() -> Iterator[tuple[pa.Table, Rollouts | None]]:
        for piece in record_batches(records, BATCH):
            ids = piece.column("id").to_pylist() if rollouts else []
            yield piece, rollouts and {id_: rollouts[id_] for id_ in ids if id_ in rollouts}

    return in_tasks(partial(_verifier, settings), with_rollouts())


def _verifier(settings: Verify):
    return lambda item: verify_golds(item[0], settings, item[1], processes=1)
