"""grade: difficulty levels 1-5 by the grader's solve rate (report, section 4.2).

    python -m stages.grade

Reads `data/denoise/kept.parquet`; writes `data/grade/kept.parquet` with `n_rollouts`, `solve_rate` and `level`,
`dropped.parquet` (grading drops nothing) and `rollouts.parquet` (id, sample, answer, correct, boxed, tokens, finish_reason,
response). Sampling that was stopped continues from `work/grade`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from compass.files import atomic_path
from compass.grading.grade import ROLLOUTS, Tally, choose_problems, fill_levels, sample_rollouts
from compass.ledger import split
from compass.records import read_records
from compass.settings import Sampling, Settings
from stages._stage import EmptyError, Summary, main, write_pieces

RECORDS = Path("data/denoise/kept.parquet")
FOLDER = Path("data/grade")
WORK = Path("work/grade")


def run(settings: Settings, records: Path = RECORDS, folder: Path = FOLDER, work: Path = WORK) -> Summary:
    """Grade the records as `settings.grade` says.

    Returns:
        The summary; `metrics` has the number graded, the mean solve rate, and each level's size and solve rate.

    Raises:
        RecordError: the records cannot be read.
        SamplingError: the grader cannot be used.
        EmptyError: no problem has responses.
    """
    read = read_records(records)
    tally = Tally()
    chosen = choose_problems(read, settings.grade, seed=settings.seed)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / "rollouts.parquet") as temporary:
        with pq.ParquetWriter(temporary, ROLLOUTS, compression="zstd") as file:
            for rollouts in sample_rollouts(
                read, chosen, settings.grade, tally, seed=settings.seed, work=work, engines=settings.engines
            ):
                file.write_table(rollouts)
        if read.num_rows and not chosen:
            raise EmptyError(
                f"none of {read.num_rows:,} problems is sent to the grader: the verifier reads no gold of theirs, or curation doubts them "
                "(`grade.doubtful: drop`); see `compass ledger --doubtful`"
            )
        if chosen and not tally.solve_rates():
            found = "; ".join(_explain_missing(tally, settings.grade.sampling))
            raise EmptyError(f"no solve rate of any of {len(chosen):,} problems: {found}")
    graded, measured = fill_levels(read, tally, settings.grade)
    kept, dropped = split(graded, [None] * graded.num_rows, "grade")
    summary = write_pieces(folder, "grade", read=read.num_rows, pieces=[(kept, dropped)], **measured)
    return replace(summary, note="; ".join([*_describe_rates(summary.metrics), *_name_failed(tally.failed)]))


def _explain_missing(tally: Tally, sampling: Sampling) -> Iterator[str]:
    """Why problems have no solve rate, and what to do."""
    if tally.failed:
        yield f"{len(tally.failed):,} had no response from any engine; run again"
    if tally.too_long:
        yield (
            f"{len(tally.too_long):,} have a prompt that is too long for the grader; raise `grade.sampling.max_model_len` "
            f"({sampling.max_model_len}) or lower `grade.sampling.max_tokens` ({sampling.max_tokens})"
        )


def _describe_rates(measured: Mapping[str, Any]) -> list[str]:
    """How much RL can learn from: nothing where all samples of a problem are wrong, or all are right."""
    if not (graded := measured["graded"]):
        return []
    return [
        f"mean solve rate {measured['solve_rate']:.1%}; of {graded:,} problem{'s' * (graded != 1)} {measured['never_solved']:,} never "
        f"solved, {measured['always_solved']:,} always"
    ]


def _name_failed(failed: set[str]) -> list[str]:
    """What a summary says of problems without rollouts."""
    names = ", ".join(sorted(failed)[:5])
    problems = "1 problem has" if len(failed) == 1 else f"{len(failed)} problems have"
    return [f"{problems} no level, as one engine after the other ended there: {names}"] if failed else []


if __name__ == "__main__":
    main("grade", run)
