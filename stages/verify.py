"""verify: keep the problems whose gold the verifier can read and trust.

    python -m stages.verify

Reads `data/grade/kept.parquet` and `data/grade/rollouts.parquet` (columns id, sample, answer, correct); writes
`data/verify/kept.parquet` and `dropped.parquet`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compass.curation.odd_sources import OddSources
from compass.curation.verify_golds import BATCH, verify_pieces
from compass.ledger import most_first
from compass.records import RecordError, count_records, record_batches
from compass.settings import Settings
from stages._marked_rows import MarkedRows
from stages._stage import Summary, main, write_pieces

RECORDS = Path("data/grade/kept.parquet")
ROLLOUTS = Path("data/grade/rollouts.parquet")
FOLDER = Path("data/verify")


def run(
    settings: Settings, records: Path = RECORDS, rollouts: Path | None = ROLLOUTS, folder: Path = FOLDER
) -> Summary:
    """Verify golds as `settings.verify` says; without rollouts (None) no gold is compared with what models answer.

    Returns:
        The summary; `metrics` has the answer types of the kept rows, and `warnings` of sources that lose an odd share.

    Raises:
        RecordError: records or rollouts cannot be read.
    """
    answers = read_rollouts(rollouts) if rollouts else None
    rate, least = _solve_rate(answers or {}), settings.verify.suspicious_min_solve_rate
    note = ""
    if answers and rate < least:
        answers = None
        note = f"no gold was compared with graded rollouts: the grader solves {rate:.1%}, less than `verify.suspicious_min_solve_rate` ({least:.0%})"
    types = Counter[str]()
    odd = OddSources("verify", settings.curation.warn_share)
    marked = MarkedRows("verify", settings.curation.labels)

    def counted(pieces: Iterable[tuple[pa.Table, pa.Table]]) -> Iterator[tuple[pa.Table, pa.Table]]:
        for kept, dropped in pieces:
            types.update(kept.column("answer_type").to_pylist())
            yield kept, dropped

    read = count_records(records)
    pieces = verify_pieces(record_batches(records, BATCH), read, settings.verify, answers)
    summary = write_pieces(folder, "verify", read=read, pieces=odd.watch(marked.overrule(counted(pieces))))
    return replace(summary, metrics={"answer_types": most_first(types), **odd.metrics(), **marked.metrics()}, note=note)


def _solve_rate(rollouts: Mapping[str, Sequence[tuple[str | None, bool]]]) -> float:
    verdicts = [correct for answers in rollouts.values() for _, correct in answers]
    return sum(verdicts) / len(verdicts) if verdicts else 0.0


def read_rollouts(path: Path) -> dict[str, list[tuple[str | None, bool]]]:
    """Graded rollouts by problem: (extracted answer or None, correct) of each sample.

    Raises:
        RecordError: the file is missing or lacks a column.
    """
    try:
        table = pq.read_table(path, columns=["id", "answer", "correct"])
    except FileNotFoundError:
        raise RecordError(f"{path}: no such file; run the stage that writes it (`dvc repro grade`)") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise RecordError(f"{path}: unreadable ({error}); run `dvc repro -f grade`") from None
    answers: dict[str, list[tuple[str | None, bool]]] = {}
    for batch in table.to_batches(50_000):
        columns = (batch.column(name).to_pylist() for name in ("id", "answer", "correct"))
        for id_, answer, correct in zip(*columns, strict=True):
            answers.setdefault(id_, []).append((answer, bool(correct)))
    return answers


if __name__ == "__main__":
    main("verify", run)
