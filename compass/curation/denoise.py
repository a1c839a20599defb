"""Noise filters, then decontamination, over a table of records."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pyarrow as pa

from compass.curation import noise
from compass.curation.decontamination import BenchmarkIndex, Match, contaminated
from compass.curation.noise.finding import findings_column
from compass.curation.noise.own_filter import prepare_filters
from compass.ledger import Drop, split
from compass.parallel import in_processes
from compass.progress import report
from compass.records import with_column
from compass.settings import Denoise

BATCH = 2_000
"""Records a process takes at a time."""

SMALL = 10_000
"""Fewer records are filtered in this process: starting others takes longer."""


def denoise(records: pa.Table, benchmarks: pa.Table, settings: Denoise) -> tuple[pa.Table, pa.Table]:
    """`denoise_pieces` of a table: kept and dropped rows."""
    pieces = (records.slice(low, BATCH) for low in range(0, records.num_rows, BATCH))
    split_up = list(denoise_pieces(pieces, records.num_rows, benchmarks, settings)) or [split(records, [], "denoise")]
    kept, dropped = zip(*split_up, strict=True)
    return pa.concat_tables(kept), pa.concat_tables(dropped)


def denoise_pieces(
    pieces: Iterable[pa.Table], count: int, benchmarks: pa.Table, settings: Denoise
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Drop noisy and contaminated records.

    Where both apply, a benchmark item in full (exact or reworded) counts before noise, and noise before a share of an
    item's n-grams; the evidence of such a noisy row then names the item as `also_contaminated`. Noise findings below
    `settings.strictness` drop nothing. The column `findings` of every row, kept or dropped, holds all of them.

    Args:
        pieces: `RECORD` rows, in order; few pieces are held at a time.
        count: how many rows there are.
        benchmarks: the benchmark items, as `RECORD` rows.
        settings: the section `denoise`.

    Returns:
        Kept and dropped rows, piece by piece.
    """
    waiting: deque[pa.Table] = deque()
    done = lost = 0

    def packed() -> Iterator[bytes]:
        for piece in pieces:
            waiting.append(piece)
            yield pack(piece)

    start = partial(judge_rows, pack(benchmarks), settings)
    for verdicts in in_processes(start, packed(), workers=1 if count < SMALL else 0):
        judged = with_column(waiting.popleft(), "findings", [findings for _, findings in verdicts])
        kept, dropped = split(judged, [drop for drop, _ in verdicts], "denoise")
        done += judged.num_rows
        lost += dropped.num_rows
        report(done, count, "rows", "filtering", detail=f"{lost:,} dropped")
        yield kept, dropped


Verdict = tuple[Drop | None, str | None]
"""Why a row is dropped, and what its column `findings` holds."""


def judge_rows(benchmarks: bytes, settings: Denoise) -> Callable[[bytes], list[Verdict]]:
    """What gives the verdicts on `pack`ed records, the `pack`ed benchmark items indexed once."""
    index = BenchmarkIndex(unpack(benchmarks), settings)

    def judge_row(record: dict) -> Verdict:
        noisy, findings = noise.review(record, settings)
        return judge(noisy, index.search(record["problem"]), record["answer"]), findings_column(findings)

    def judge_batch(batch: bytes) -> list[Verdict]:
        rows = unpack(batch).to_pylist()
        prepare_filters(rows, settings)
        return [judge_row(record) for record in rows]

    return judge_batch


def judge(noisy: Drop | None, matches: list[Match], answer: str | None) -> Drop | None:
    """The verdict on a record.

    Args:
        noisy: what the noise filters say of it.
        matches: the benchmark items found in it, best first.
        answer: its gold.
    """
    if not matches:
        return noisy
    best = matches[0]
    if noisy is None or best.is_whole_item:
        return contaminated(matches, answer)
    return Drop(noisy.reason, {**noisy.evidence, "also_contaminated": f"{best.benchmark}:{best.item}"})


def pack(rows: pa.Table | pa.RecordBatch) -> bytes:
    """Rows as bytes of their own: pickling a slice of a table would send the whole table's buffers."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write(rows)
    return sink.getvalue().to_pybytes()


def unpack(packed: bytes) -> pa.Table:
    """The rows that `pack` packed."""
    return pa.ipc.open_stream(packed).read_all()
